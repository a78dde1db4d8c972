// Package pipe is a connection in memory between a client and the engine. It behaves as a TCP connection does, so
// that the driver needs no special case: it gets a net.Conn from the engine's dialer.
//
// The ends don't wait for each other as those of [net.Pipe] do. What is written is kept until it is read, up to a
// limit, so that a message costs one change of goroutines at most.
//
// A connection is two streams, one for each direction. A stream goes through these states:
//
//  1. Empty, and nobody waits. A write puts its bytes into the buffer and returns.
//  2. Bytes are in the buffer. A read takes as many as it wants and returns.
//  3. The buffer is full (256 KB unread). Writes wait until a read takes something.
//  4. Empty, and a reader waits. It leaves its own slice in dst, and the next write copies into that slice at once,
//     around the buffer: the bytes are copied once instead of twice.
//  5. Closed by the writer. Reads return what is left, then io.EOF. Writes return io.ErrClosedPipe.
//  6. Closed by the reader. The buffer is dropped. Reads and writes return io.ErrClosedPipe.
//
// Invariants:
//
//   - One lock guards all of a stream. Whoever waits looks at everything again after each change.
//   - At most one reader has its slice in dst. Other readers wait until it is done, so bytes stay in order.
//   - A deadline that has passed ends the waiting reads or writes with os.ErrDeadlineExceeded, and later ones too
//     until it is set anew, as [net.Conn] says.
//   - Deadlines are of the real clock, not of the engine's: the driver sets them by its own.
//   - No goroutine belongs to a pipe. A timer is all that may outlive a call, and Close stops it.
//
// The engine makes a pipe for each connection that it is asked to dial. Behind mongotest.Listen each socket is bridged
// to such a pipe.
package pipe

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// New returns the two ends of a connection. They behave as those of a TCP connection: what was written before an end
// was closed can still be read at the other, which then finds the end of the stream; it can't write any more. Each
// end may be used by several goroutines.
func New() (net.Conn, net.Conn) {
	a, b := newStream(), newStream()
	return &end{in: a, out: b}, &end{in: b, out: a}
}

// end is one of the two ends: it reads from one stream and writes to the other.
type end struct{ in, out *stream }

func (e *end) Read(p []byte) (int, error)  { return e.in.read(p) }
func (e *end) Write(p []byte) (int, error) { return e.out.write(p) }

// Close ends both directions. It returns nil always.
func (e *end) Close() error {
	e.in.close(true)
	e.out.close(false)
	return nil
}

func (e *end) SetDeadline(t time.Time) error {
	if err := e.SetReadDeadline(t); err != nil {
		return err
	}
	return e.SetWriteDeadline(t)
}

func (e *end) SetReadDeadline(t time.Time) error  { return e.in.setDeadline(&e.in.reading, t) }
func (e *end) SetWriteDeadline(t time.Time) error { return e.out.setDeadline(&e.out.writing, t) }

func (e *end) LocalAddr() net.Addr  { return address{} }
func (e *end) RemoteAddr() net.Addr { return address{} }

// address is what both ends say of themselves: a pipe has no address.
type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }

const (
	limit    = 256 << 10 // what is kept unread at most, before writers wait
	keepSize = 16 << 10  // a larger buffer is given back once it is empty
)

// stream is one direction.
type stream struct {
	mu      sync.Mutex
	change  sync.Cond // of anything below, for whoever waits
	waiting int       // how many do

	buf   []byte
	start int    // the first byte of buf that isn't read yet
	dst   []byte // where a reader that waits wants it: the next write goes there at once
	got   int    // how much of dst was filled; -1 until then

	writerGone, readerGone bool
	reading, writing       deadline
}

// deadline is when reads or writes end. Its timer is stopped when the deadline moves, or the stream closes.
type deadline struct {
	timer *time.Timer
	over  bool
	epoch int // how often it was set: a timer that fires late knows itself to be outdated
}

// newStream returns an open, empty stream.
func newStream() *stream {
	s := &stream{}
	s.change.L = &s.mu
	return s
}

// wait waits for a change. The caller holds the lock, and looks again whatever it waits for.
func (s *stream) wait() {
	s.waiting++
	s.change.Wait()
	s.waiting--
}

// notifyWaiters wakes whoever waits for the stream. The caller holds the lock.
func (s *stream) notifyWaiters() {
	if s.waiting > 0 {
		s.change.Broadcast()
	}
}

// read waits until there are bytes, the writer has closed, or the deadline has passed. The order of the cases is that
// of a socket: a closed or late reader gets no bytes, but what a writer left before it closed can still be read.
func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerGone:
			return 0, io.ErrClosedPipe
		case s.reading.over:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case s.start < len(s.buf):
			return s.take(p), nil
		case s.writerGone:
			return 0, io.EOF
		case s.dst != nil: // another reader is before this one
			s.wait()
		default:
			if n := s.await(p); n > 0 {
				return n, nil
			}
		}
	}
}

// take moves bytes from the buffer.
func (s *stream) take(p []byte) int {
	full := len(s.buf)-s.start >= limit
	n := copy(p, s.buf[s.start:])
	s.start += n
	if s.start == len(s.buf) {
		s.start, s.buf = 0, s.buf[:0]
		if cap(s.buf) > keepSize {
			s.buf = nil
		}
	}
	if full {
		s.notifyWaiters()
	}
	return n
}

// await has the next write fill p, and returns how much it did: 0 if something else has changed.
func (s *stream) await(p []byte) int {
	s.dst, s.got = p, -1
	s.wait()
	n := max(s.got, 0)
	for n == 0 && s.got < 0 && !s.readerGone && !s.writerGone && !s.reading.over {
		s.wait()
		n = max(s.got, 0)
	}
	s.dst, s.got = nil, 0
	s.notifyWaiters() // for other readers
	return n
}

// write puts all of p into the stream, in pieces if the buffer is full. It returns how many bytes it wrote before an
// error.
func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := 0
	for {
		switch {
		case s.writerGone || s.readerGone:
			return done, io.ErrClosedPipe
		case s.writing.over:
			return done, os.ErrDeadlineExceeded
		case done == len(p):
			return done, nil
		case s.dst != nil && s.got < 0:
			s.got = copy(s.dst, p[done:])
			done += s.got
			s.notifyWaiters()
		case len(s.buf)-s.start >= limit:
			s.wait()
		default:
			done += s.put(p[done:])
			s.notifyWaiters()
		}
		if done == len(p) {
			return done, nil
		}
	}
}

// put moves bytes to the buffer, as many as it may hold.
func (s *stream) put(p []byte) int {
	n := min(len(p), limit-(len(s.buf)-s.start))
	if s.start > 0 && len(s.buf)+n > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.start:])]
		s.start = 0
	}
	s.buf = append(s.buf, p[:n]...)
	return n
}

// close ends the stream for its reader or for its writer.
func (s *stream) close(reader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := &s.writing
	if reader {
		s.readerGone, own = true, &s.reading
		s.buf, s.start = nil, 0
	} else {
		s.writerGone = true
	}
	if own.timer != nil {
		own.timer.Stop()
	}
	s.notifyWaiters()
}

// setDeadline sets a deadline of the stream, as [net.Conn] defines it: the zero time is none.
func (s *stream) setDeadline(d *deadline, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d == &s.reading && s.readerGone || d == &s.writing && s.writerGone {
		return io.ErrClosedPipe
	}
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.epoch++
	d.over = false
	if t.IsZero() {
		return nil
	}
	left := time.Until(t) // real time: deadlines of a net.Conn are of the client's clock
	if left <= 0 {
		d.over = true
		s.notifyWaiters()
		return nil
	}
	epoch := d.epoch
	d.timer = time.AfterFunc(left, func() { s.expire(d, epoch) }) // real time: as above
	return nil
}

// expire ends the reads or writes of a deadline, unless it was set anew after the timer had fired.
func (s *stream) expire(d *deadline, epoch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.epoch == epoch {
		d.over = true
		s.notifyWaiters()
	}
}
