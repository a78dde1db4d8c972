package mongotest

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func statementsOf(m *message) []bson.RawValue {
	return testserver.Statements(m.command.Name, m.command.Body)
}

func TestParseMessage(t *testing.T) {
	body := bson.D{
		{Key: "insert", Value: "parts"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}},
		{Key: "$db", Value: "x"},
	}
	m, err := parseMessage(newMessage(7, 0, encode(t, body)))
	if err != nil || m.requestID != 7 || m.command.Name != "insert" || m.command.Collection != "parts" ||
		m.command.Database != "x" || len(statementsOf(m)) != 1 {
		t.Errorf("one body: %+v, %v", m, err)
	}
	raw := newMessage(7, 0, encode(t, bson.D{body[0], body[2]}))
	section := []byte{1, 0, 0, 0, 0}
	section = append(section, "documents\x00"...)
	section = append(section, encode(t, bson.D{{Key: "_id", Value: 1}})...)
	section = append(section, encode(t, bson.D{{Key: "_id", Value: 2}})...)
	section[1] = byte(len(section) - 1)
	raw = append(raw, section...)
	raw[0] = byte(len(raw))
	m, err = parseMessage(raw)
	if err != nil || len(statementsOf(m)) != 2 || m.command.Database != "x" {
		t.Errorf("a sequence: %+v, %v", m, err)
	}
	m.moreToCome = true
	part, err := m.withStatements(m.sequences[0].docs[:1])
	if err != nil || len(statementsOf(part)) != 1 || part.requestID != 7 || !part.moreToCome {
		t.Errorf("a part: %+v, %v", part, err)
	}
	raw[12], raw[13] = 0xdc, 0x07 // OP_COMPRESSED
	if _, err := parseMessage(raw); err == nil {
		t.Error("a compressed message was read")
	}
}

// A message from a client is taken apart or refused, whatever is in it.
func FuzzParseMessage(f *testing.F) {
	body := encode(f, bson.D{
		{Key: "update", Value: "parts"},
		{Key: "updates", Value: bson.A{bson.D{{Key: "multi", Value: true}}}},
	})
	f.Add(body)
	f.Add(encode(f, bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{bson.D{}, 1}}}))
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := newMessage(1, 0, data)
		if n, err := messageSize(whole); err != nil || n != len(whole) {
			t.Fatalf("%d bytes have size %d, %v", len(whole), n, err)
		}
		m, err := parseMessage(whole)
		if err != nil {
			return
		}
		_, _ = statementsOf(m), m.command.String()
		name, body := m.command.Name, m.command.Body
		_, _ = testserver.IsMany(name, body), testserver.IsDriversOwn(name, body)
		_, _ = Writes(m.command), testserver.Clip(body)
	})
}

func TestMessageSize(t *testing.T) {
	for _, head := range [][]byte{
		{15, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {0x16, 0x03, 0x01, 0x7f},
		append([]byte{0x16, 0x03, 0x01, 0x02}, make([]byte, 12)...),
	} {
		if n, err := messageSize(head); err == nil {
			t.Errorf("% x is a size: %d", head, n)
		}
	}
	if n, err := messageSize([]byte{1, 2}); n != 0 || err != nil {
		t.Errorf("too short to say: %d, %v", n, err)
	}
}
