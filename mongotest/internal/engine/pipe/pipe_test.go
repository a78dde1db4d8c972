package pipe

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipeCarries(t *testing.T) {
	data := make([]byte, 3<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := New()
		for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
			go func() {
				for rest := data; len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(1<<r.IntN(20)))
					if got, err := pair[0].Write(rest[:n]); got != n || err != nil {
						t.Errorf("wrote %d of %d: %v", got, n, err)
						return
					}
					rest = rest[n:]
				}
			}()
			sizes := rand.New(rand.NewPCG(3, 4))
			var got []byte
			for len(got) < len(data) {
				p := make([]byte, 1+sizes.IntN(1<<sizes.IntN(20)))
				n, err := pair[1].Read(p)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, p[:n]...)
			}
			if !bytes.Equal(got, data) {
				t.Error("what is read isn't what was written")
			}
			synctest.Wait()
		}
	})
}

// TestPipeKeeps holds that a writer doesn't wait for a reader, up to the limit.
func TestPipeKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := New()
		if n, err := a.Write(make([]byte, limit)); n != limit || err != nil {
			t.Fatal(n, err)
		}
		written := false
		go func() {
			_, _ = a.Write([]byte{1})
			written = true
		}()
		synctest.Wait()
		if written {
			t.Error("a writer goes on at the limit")
		}
		if n, err := b.Read(make([]byte, 10)); n != 10 || err != nil {
			t.Error(n, err)
		}
		synctest.Wait()
		if !written {
			t.Error("a writer waits though there is room")
		}
	})
}

func TestPipeCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := New()
		if _, err := a.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		if got, err := io.ReadAll(b); string(got) != "abc" || err != nil {
			t.Errorf("read %q, %v after the other end was closed", got, err)
		}
		for what, err := range map[string]error{
			"write to one that is closed": second(b.Write([]byte{1})),
			"write of one that is closed": second(a.Write([]byte{1})),
			"read of one that is closed":  second(a.Read(make([]byte, 1))),
			"deadline of one closed":      a.SetDeadline(time.Time{}),
		} {
			if !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestPipeCloseWakes holds that whoever waits goes on when either end is closed.
func TestPipeCloseWakes(t *testing.T) {
	for _, c := range []struct {
		reason string
		wait   func(a net.Conn) error
		remote error // when the other end is closed
	}{
		{"a reader", func(a net.Conn) error { return second(a.Read(make([]byte, 1))) }, io.EOF},
		{"a writer", func(a net.Conn) error { return second(a.Write(make([]byte, limit+1))) }, io.ErrClosedPipe},
	} {
		for _, own := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				a, b := New()
				var errs [3]error
				var wg sync.WaitGroup
				for i := range errs {
					wg.Go(func() { errs[i] = c.wait(a) })
				}
				synctest.Wait()
				want := c.remote
				if own {
					want = io.ErrClosedPipe
					a.Close()
				} else {
					b.Close()
				}
				wg.Wait()
				for _, err := range errs {
					if !errors.Is(err, want) {
						t.Errorf("%s, own end %v: %v, want %v", c.reason, own, err, want)
					}
				}
			})
		}
	}
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := New()
		isTimeout := func(what string, err error) {
			t.Helper()
			var x net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &x) || !x.Timeout() {
				t.Errorf("%s: %v", what, err)
			}
		}
		began := time.Now()
		_ = a.SetReadDeadline(began.Add(time.Second))
		isTimeout("a read", second(a.Read(make([]byte, 1))))
		isTimeout("another", second(a.Read(make([]byte, 1))))
		if d := time.Since(began); d != time.Second {
			t.Errorf("a read ended after %v", d)
		}
		_ = a.SetReadDeadline(time.Now().Add(time.Second))
		_ = a.SetReadDeadline(time.Time{})
		go func() {
			time.Sleep(time.Minute)
			_, _ = b.Write([]byte{1})
		}()
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("without a deadline: %d, %v", n, err)
		}
		_ = a.SetDeadline(time.Now().Add(-1))
		isTimeout("a write", second(a.Write([]byte{1})))
		isTimeout("a read", second(a.Read([]byte{1})))
		_ = a.SetDeadline(time.Now().Add(time.Second))
		n, err := a.Write(make([]byte, limit+1))
		isTimeout("a long write", err)
		if n != limit {
			t.Errorf("a write that timed out wrote %d", n)
		}
		go func() {
			time.Sleep(time.Second)
			_ = b.SetReadDeadline(time.Now())
		}()
		_, _ = io.ReadFull(b, make([]byte, limit))
		isTimeout("a read whose deadline is set while it waits", second(b.Read(make([]byte, 1))))
		a.Close() // with a deadline that is over
		b.Close()
	})
}

// TestPipeReaders holds that nothing is lost or given twice when several read and write at once.
func TestPipeReaders(t *testing.T) {
	const each, writers, readers = 500, 4, 4
	a, b := New()
	var wrote, read sync.WaitGroup
	for range writers {
		wrote.Go(func() {
			for range each {
				_, _ = a.Write([]byte{1, 2, 3})
			}
		})
	}
	var sums [readers]int
	for i := range sums {
		read.Go(func() {
			p := make([]byte, 5)
			for {
				n, err := b.Read(p)
				for _, x := range p[:n] {
					sums[i] += int(x)
				}
				if err != nil {
					return
				}
			}
		})
	}
	wrote.Wait()
	a.Close()
	read.Wait()
	total := 0
	for _, n := range sums {
		total += n
	}
	if total != 6*each*writers {
		t.Errorf("read %d of %d", total, 6*each*writers)
	}
}

func second(_ int, err error) error { return err }
