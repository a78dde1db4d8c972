package mongotest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

const (
	headerSize = 16
	maxMessage = 48_000_000 + headerSize
	opQuery    = wiremessage.OpCode(2004) // drivers say hello by it
)

// A message is a client's message. Only OP_MSG is parsed.
type message struct {
	raw        []byte // the whole message
	requestID  int32
	moreToCome bool // no answer is expected
	handshake  bool // not an OP_MSG: a driver's first message on a connection
	sequences  []sequence
	body       bsoncore.Document // without the sequences
	command    Command           // with the sequences in its body
}

// sequence is a section of kind 1: an array of the command that is sent beside its body.
type sequence struct {
	name string
	docs []bsoncore.Document
}

// messageSize returns the size of the message at the beginning of b, or 0 if b is too
// short.
func messageSize(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, nil
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < headerSize || n > maxMessage || len(b) >= headerSize && !isOp(b[12:]) {
		return 0, errors.New("mongotest: Faults: what the client sends is no MongoDB message; is the connection encrypted?")
	}
	return n, nil
}

// isOp reports whether clients send this kind of message.
func isOp(b []byte) bool {
	switch wiremessage.OpCode(binary.LittleEndian.Uint32(b)) {
	case wiremessage.OpMsg, wiremessage.OpCompressed, opQuery:
		return true
	}
	return false
}

// readMessage reads one whole message.
func readMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n, err := messageSize(head)
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	copy(out, head)
	_, err = io.ReadFull(r, out[4:])
	return out, err
}

// expectsReply reports whether a whole client message has an answer.
func expectsReply(raw []byte) bool {
	_, _, _, op, rest, _ := wiremessage.ReadHeader(raw)
	flags, _, ok := wiremessage.ReadMsgFlags(rest)
	return op != wiremessage.OpMsg || ok && flags&wiremessage.MoreToCome == 0
}

var errMalformed = errors.New("mongotest: Faults: a malformed message")

// parseMessage parses a whole message. The result shares raw's bytes.
func parseMessage(raw []byte) (*message, error) {
	_, id, _, op, rest, ok := wiremessage.ReadHeader(raw)
	if !ok {
		return nil, errMalformed
	}
	m := &message{raw: raw, requestID: id}
	switch op {
	case wiremessage.OpMsg:
	case opQuery:
		m.handshake = true
		return m, nil
	default:
		return nil, fmt.Errorf("mongotest: Faults: can't read a message of kind %v; leave compressors off", op)
	}
	flags, rest, ok := wiremessage.ReadMsgFlags(rest)
	if !ok {
		return nil, errMalformed
	}
	m.moreToCome = flags&wiremessage.MoreToCome != 0
	if flags&wiremessage.ChecksumPresent != 0 {
		rest = rest[:max(0, len(rest)-4)]
	}
	if err := m.readSections(rest); err != nil {
		return nil, err
	}
	body := m.body
	if len(m.sequences) > 0 {
		body = m.whole()
	}
	database, _ := bson.Raw(m.body).Lookup("$db").StringValueOK()
	m.command = newCommand(database, bson.Raw(body))
	return m, nil
}

func (m *message) readSections(rest []byte) error {
	for len(rest) > 0 {
		kind, after, ok := wiremessage.ReadMsgSectionType(rest)
		if !ok {
			return errMalformed
		}
		switch kind {
		case wiremessage.SingleDocument:
			m.body, rest, ok = wiremessage.ReadMsgSectionSingleDocument(after)
		case wiremessage.DocumentSequence:
			var s sequence
			s.name, s.docs, rest, ok = wiremessage.ReadMsgSectionDocumentSequence(after)
			m.sequences = append(m.sequences, s)
		default:
			ok = false
		}
		if !ok {
			return errMalformed
		}
	}
	if m.body == nil || m.body.Validate() != nil {
		return errMalformed
	}
	return nil
}

// whole returns the body with the sequences as arrays after the command's name.
func (m *message) whole() bsoncore.Document {
	b := bsoncore.NewDocumentBuilder()
	elements, _ := m.body.Elements()
	for i, e := range elements {
		b.AppendValue(e.Key(), e.Value())
		if i > 0 {
			continue
		}
		for _, s := range m.sequences {
			b.AppendArray(s.name, documentArray(s.docs))
		}
	}
	return b.Build()
}

func documentArray(docs []bsoncore.Document) bsoncore.Array {
	b := bsoncore.NewArrayBuilder()
	for _, d := range docs {
		b.AppendDocument(d)
	}
	return b.Build()
}

// newMessage returns an OP_MSG with one body, as a request or an answer.
func newMessage(id, responseTo int32, body bsoncore.Document) []byte {
	start, out := wiremessage.AppendHeaderStart(nil, id, responseTo, wiremessage.OpMsg)
	out = wiremessage.AppendMsgFlags(out, 0)
	out = wiremessage.AppendMsgSectionType(out, wiremessage.SingleDocument)
	out = append(out, body...)
	return bsoncore.UpdateLength(out, start, int32(len(out))-start)
}
