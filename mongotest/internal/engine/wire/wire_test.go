package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

func document(t testing.TB, d bson.D) []byte {
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message builds an OP_MSG of the given sections.
func message(flags uint32, sections ...[]byte) []byte {
	b := wiremessage.AppendHeader(nil, 0, 7, 0, wiremessage.OpMsg)
	b = binary.LittleEndian.AppendUint32(b, flags)
	for _, s := range sections {
		b = append(b, s...)
	}
	return FinishReply(b)
}

func body(doc []byte) []byte { return append([]byte{0}, doc...) }

func sequence(name string, docs ...[]byte) []byte {
	b := append([]byte(name), 0)
	for _, d := range docs {
		b = append(b, d...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(b)+4)), b...)
}

func legacy(collection string, doc []byte) []byte {
	b := wiremessage.AppendHeader(nil, 0, 7, 0, opQuery)
	b = append(b, 0, 0, 0, 0)
	b = append(append(b, collection...), 0)
	b = append(b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
	return FinishReply(append(b, doc...))
}

func withChecksum(b []byte) []byte {
	b = FinishReply(append(b, 0, 0, 0, 0))
	sum := crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[len(b)-4:], sum)
	return b
}

func TestParse(t *testing.T) {
	ping := document(t, bson.D{{Key: "ping", Value: 1}})
	broken := withChecksum(message(1, body(ping)))
	broken[len(broken)-1]++
	for _, c := range []struct {
		bytes  []byte
		ok     bool
		reason string
	}{
		{message(0, body(ping)), true, "the plain form"},
		{message(0, sequence("documents", ping, ping), body(ping)), true, "sections come in any order"},
		{message(0, body(ping), sequence("a"), sequence("b", ping)), true, "a sequence may be empty"},
		{message(2, body(ping)), true, "no reply wanted"},
		{message(1<<16, body(ping)), true, "flags above the 16th bit are optional"},
		{withChecksum(message(1, body(ping))), true, "a right checksum"},
		{legacy("admin.$cmd", ping), true, "the handshake"},
		{broken, false, "a wrong checksum"},
		{message(1), false, "no room for a checksum"},
		{message(4, body(ping)), false, "an unknown required flag"},
		{message(0), false, "no body"},
		{message(0, body(ping), body(ping)), false, "two bodies"},
		{message(0, []byte{2}), false, "a section of unknown kind"},
		{message(0, body(ping[:len(ping)-1])), false, "a body that is cut off"},
		{message(0, body(ping), sequence("a", ping[:6])), false, "a sequence of something else"},
		{message(0, body(ping), []byte{1, 255, 255, 255, 127}), false, "a sequence longer than the message"},
		{legacy("admin.things", ping), false, "a legacy query"},
		{legacy("$cmd", ping), false, "no database"},
		{message(0, body(ping))[:20], false, "shorter than the header says"},
		{wiremessage.AppendHeader(nil, 16, 1, 0, wiremessage.OpInsert), false, "a legacy opcode"},
	} {
		m, err := Parse(c.bytes)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.reason, err)
		}
		if c.ok && (m.ID != 7 || !bytes.Equal(m.Body, ping)) {
			t.Errorf("%s: read %+v", c.reason, m)
		}
	}
}

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
