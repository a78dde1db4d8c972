package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// MaxMessage is the largest message accepted, header included.
const MaxMessage = 48_000_000

// ErrMalformed is wrapped by every error about a message's form.
var ErrMalformed = errors.New("wire: malformed message")

// Message is one request. Its bytes alias the buffer it was parsed from.
type Message struct {
	ID         int32      // the request's id, which the reply names
	Query      bool       // it came as OP_QUERY, so the reply must be OP_REPLY
	Database   string     // set for OP_QUERY only; OP_MSG carries $db in its body
	MoreToCome bool       // the sender wants no reply
	Body       bson.Raw   // the command, without its sequences
	Sequences  []Sequence // further documents of the command, by field name
}

// Sequence is a list of documents sent beside the body, which stands for an
// array field of the command.
type Sequence struct {
	Name string
	Docs []bson.Raw
}

const (
	opQuery wiremessage.OpCode = 2004 // what a driver opens a connection with

	headerLen      = 16
	requiredFlags  = 0xffff
	supportedFlags = wiremessage.ChecksumPresent | wiremessage.MoreToCome
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Parse reads one whole message, header included.
func Parse(b []byte) (Message, error) {
	length, id, _, opcode, rest, ok := wiremessage.ReadHeader(b)
	if !ok || int(length) != len(b) {
		return Message{}, describeMalformed("header says %d bytes, have %d", length, len(b))
	}
	switch opcode {
	case wiremessage.OpMsg:
		return parseMsg(b, rest, id)
	case opQuery:
		return parseQuery(rest, id)
	}
	return Message{}, describeMalformed("opcode %s is not supported", opcode)
}

// parseMsg reads an OP_MSG. whole is the message with its header, which the checksum covers; b is what follows the
// header.
func parseMsg(whole, b []byte, id int32) (Message, error) {
	m := Message{ID: id}
	flags, b, ok := wiremessage.ReadMsgFlags(b)
	if !ok {
		return m, describeMalformed("no flags")
	}
	if unknown := flags & requiredFlags &^ supportedFlags; unknown != 0 {
		return m, describeMalformed("unknown required flags %#x", uint32(unknown))
	}
	m.MoreToCome = flags&wiremessage.MoreToCome != 0
	if flags&wiremessage.ChecksumPresent != 0 {
		if len(b) < 4 {
			return m, describeMalformed("no checksum")
		}
		sum := binary.LittleEndian.Uint32(b[len(b)-4:])
		if crc32.Checksum(whole[:len(whole)-4], castagnoli) != sum {
			return m, describeMalformed("checksum does not match")
		}
		b = b[:len(b)-4]
	}
	for len(b) > 0 {
		kind := wiremessage.SectionType(b[0])
		var err error
		switch kind {
		case wiremessage.SingleDocument:
			b, err = m.readBody(b[1:])
		case wiremessage.DocumentSequence:
			b, err = m.readSequence(b[1:])
		default:
			err = describeMalformed("section of unknown kind %d", kind)
		}
		if err != nil {
			return m, err
		}
	}
	if m.Body == nil {
		return m, describeMalformed("no body")
	}
	return m, nil
}

// readBody reads a section of kind 0. A message has exactly one.
func (m *Message) readBody(b []byte) ([]byte, error) {
	if m.Body != nil {
		return nil, describeMalformed("two bodies")
	}
	doc, rest, ok := bsoncore.ReadDocument(b)
	if !ok {
		return nil, describeMalformed("body is not a document")
	}
	m.Body = bson.Raw(doc)
	return rest, nil
}

// readSequence reads a section of kind 1. Its size includes the four bytes of the size itself.
func (m *Message) readSequence(b []byte) ([]byte, error) {
	size, _, ok := bsoncore.ReadLength(b)
	if !ok || size < 5 || int(size) > len(b) {
		return nil, describeMalformed("sequence says %d bytes, have %d", size, len(b))
	}
	section, rest := b[4:size], b[size:]
	end := 0
	for end < len(section) && section[end] != 0 {
		end++
	}
	if end == len(section) {
		return nil, describeMalformed("sequence without a name")
	}
	seq := Sequence{Name: string(section[:end])}
	section = section[end+1:]
	for len(section) > 0 {
		doc, tail, ok := bsoncore.ReadDocument(section)
		if !ok {
			return nil, describeMalformed("sequence %q holds something that is not a document", seq.Name)
		}
		seq.Docs = append(seq.Docs, bson.Raw(doc))
		section = tail
	}
	m.Sequences = append(m.Sequences, seq)
	return rest, nil
}

// parseQuery reads the legacy handshake. Only commands come this way, so the
// collection must be "<database>.$cmd".
func parseQuery(b []byte, id int32) (Message, error) {
	m := Message{ID: id, Query: true}
	if len(b) < 4 {
		return m, describeMalformed("no query flags")
	}
	b = b[4:]
	end := 0
	for end < len(b) && b[end] != 0 {
		end++
	}
	if end == len(b) {
		return m, describeMalformed("no collection name")
	}
	const suffix = ".$cmd"
	name := string(b[:end])
	if len(name) <= len(suffix) || name[len(name)-len(suffix):] != suffix {
		return m, describeMalformed("OP_QUERY on %q: only commands are supported", name)
	}
	m.Database = name[:len(name)-len(suffix)]
	b = b[end+1:]
	if len(b) < 8 {
		return m, describeMalformed("no skip and return counts")
	}
	doc, _, ok := bsoncore.ReadDocument(b[8:])
	if !ok {
		return m, describeMalformed("query is not a document")
	}
	m.Body = bson.Raw(doc)
	return m, nil
}

// describeMalformed returns an error that wraps [ErrMalformed].
func describeMalformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
