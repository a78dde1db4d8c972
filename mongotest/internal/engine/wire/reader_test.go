package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestReader(t *testing.T) {
	ping := document(t, bson.D{{Key: "ping", Value: 1}})
	large := document(t, bson.D{{Key: "x", Value: make([]byte, 3<<20)}})
	stream := bytes.Join([][]byte{
		message(0, body(ping)), message(0, body(large)), message(2, body(ping)), message(0, body(large)),
	}, nil)
	for name, src := range map[string]io.Reader{
		"at once":      bytes.NewReader(stream),
		"by halves":    iotest.HalfReader(bytes.NewReader(stream)),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"with the end": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		r := NewReader(src)
		for i, want := range [][]byte{ping, large, ping, large} {
			m, err := r.Next()
			if err != nil || !bytes.Equal(m.Body, want) || m.MoreToCome != (i == 2) {
				t.Fatalf("%s: message %d: %v", name, i, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
	_, err := NewReader(bytes.NewReader(stream[:30])).Next()
	if err != io.ErrUnexpectedEOF {
		t.Errorf("cut off: %v", err)
	}
}

// TestReaderAllocations holds that a length alone doesn't make it allocate.
func TestReaderAllocations(t *testing.T) {
	b := binary.LittleEndian.AppendUint32(nil, MaxMessage)
	r := NewReader(bytes.NewReader(append(b, make([]byte, 10_000)...)))
	if _, err := r.Next(); err == nil {
		t.Fatal("read a message that isn't there")
	}
	if len(r.buf) > 40_000 {
		t.Errorf("a buffer of %d bytes for 10,004 read", len(r.buf))
	}
	for _, n := range []uint32{0, 15, MaxMessage + 1, 1 << 31} {
		b := binary.LittleEndian.AppendUint32(nil, n)
		if _, err := NewReader(bytes.NewReader(b)).Next(); !errors.Is(err, ErrMalformed) {
			t.Errorf("length %d: %v", n, err)
		}
	}
}

// FuzzReader feeds the reader anything: it must not panic, and must not keep
// more than a small multiple of what it was given.
func FuzzReader(f *testing.F) {
	ping := document(f, bson.D{{Key: "ping", Value: 1}})
	f.Add(message(0, body(ping)))
	f.Add(message(0, body(ping), sequence("documents", ping, ping)))
	f.Add(withChecksum(message(1, body(ping))))
	f.Add(legacy("admin.$cmd", ping))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		for {
			m, err := r.Next()
			if len(r.buf) > 4*len(b)+startBuffer {
				t.Fatalf("a buffer of %d bytes for %d", len(r.buf), len(b))
			}
			if err != nil {
				return
			}
			size := len(m.Body)
			for _, s := range m.Sequences {
				for _, d := range s.Docs {
					size += len(d)
				}
			}
			if size > len(b) {
				t.Fatalf("documents of %d bytes out of %d", size, len(b))
			}
		}
	})
}
