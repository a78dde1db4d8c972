package wire

import (
	"encoding/binary"
	"io"
)

// Reader reads messages from a stream, each into one buffer that the next
// overwrites.
type Reader struct {
	src   io.Reader
	buf   []byte
	start int // the first byte that no message has taken
	end   int // one past the last byte read
}

const (
	startBuffer = 4 << 10
	keepBuffer  = 1 << 20 // a larger buffer is given back once it is empty
)

// NewReader reads from src.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, startBuffer)}
}

// Next returns the next message, which is valid until the call after. It
// returns io.EOF at the end of the stream, between two messages.
func (r *Reader) Next() (Message, error) {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > keepBuffer {
			r.buf = make([]byte, startBuffer)
		}
	}
	if err := r.fill(4); err != nil {
		return Message{}, err
	}
	length := int(int32(binary.LittleEndian.Uint32(r.buf[r.start:])))
	if length < headerLen || length > MaxMessage {
		return Message{}, describeMalformed("length %d", length)
	}
	if err := r.fill(length); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, err
	}
	b := r.buf[r.start : r.start+length : r.start+length]
	r.start += length
	return Parse(b)
}

// fill reads until n bytes are there. The buffer at most doubles with each
// read, so that a length alone allocates nothing.
func (r *Reader) fill(n int) error {
	if r.start > 0 && r.start+n > len(r.buf) {
		copy(r.buf, r.buf[r.start:r.end])
		r.start, r.end = 0, r.end-r.start
	}
	for r.end-r.start < n {
		if r.end == len(r.buf) {
			grown := make([]byte, min(2*len(r.buf), max(n, startBuffer)))
			copy(grown, r.buf[:r.end])
			r.buf = grown
		}
		got, err := r.src.Read(r.buf[r.end:])
		r.end += got
		if err != nil && r.end-r.start < n {
			if err == io.EOF && r.end > r.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}
