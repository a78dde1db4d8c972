package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

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
