package mongotest

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// A player answers a client from a recording.
type player struct {
	t        testing.TB
	file     string
	session  *session
	anyOrder bool

	mu       sync.Mutex
	stripper stripper
	binding  *binding
	sent     []bool // which of the recorded commands were sent
	count    int    // of commands
	failed   bool   // a command differed; later differences mean nothing
	ended    bool
}

func newPlayer(t testing.TB, file string, s *session, anyOrder bool) *player {
	return &player{
		t: t, file: file, session: s, anyOrder: anyOrder, binding: newBinding(ownID), sent: make([]bool, len(s.exchanges)),
	}
}

func (p *player) faults() *Faults {
	f := NewFaults()
	f.usual, f.own = act(p.do), act(p.greet)
	return f
}

// greet answers the driver's own commands.
func (p *player) greet(c *faultConn, m *message) error {
	if !m.handshake && m.command.Name != "hello" {
		return c.answer(m, bson.D{{Key: "ok", Value: 1.0}})
	}
	var hello bson.D
	if err := bson.Unmarshal(p.session.server, &hello); err != nil {
		return err
	}
	hello = append(hello, bson.E{Key: "helloOk", Value: true}, bson.E{Key: "ok", Value: 1.0})
	if _, err := p.session.server.LookupErr("setName"); err == nil {
		const host = "replay.local:27017"
		hello = append(hello, bson.E{Key: "hosts", Value: bson.A{host}}, bson.E{Key: "me", Value: host},
			bson.E{Key: "primary", Value: host})
	}
	if !m.handshake {
		return c.answer(m, hello)
	}
	body, err := bson.Marshal(hello)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, newOldReply(m.requestID, body)...)
	return nil
}

// newOldReply returns an OP_REPLY, the answer to an OP_QUERY.
func newOldReply(responseTo int32, body []byte) []byte {
	const opReply = wiremessage.OpCode(1)
	start, out := wiremessage.AppendHeaderStart(nil, wiremessage.NextRequestID(), responseTo, opReply)
	out = append(out, make([]byte, 16)...) // flags, cursor, start
	out = binary.LittleEndian.AppendUint32(out, 1)
	out = append(out, body...)
	return bsoncore.UpdateLength(out, start, int32(len(out))-start)
}

// do answers a command.
func (p *player) do(c *faultConn, m *message) error {
	x, reply := p.find(m.command)
	if x == nil {
		return c.answer(m, refused)
	}
	if m.moreToCome != (x.end == endUnacknowledged) {
		p.fail(m.command, x, "one of both is unacknowledged\n")
		return c.answer(m, refused)
	}
	switch x.end {
	case endUnacknowledged:
		return nil
	case endCut:
		return c.cut()
	case endAbandoned:
		if err := waitFor(c, (<-chan struct{})(nil)); err != nil {
			return err
		}
		return os.ErrClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, newMessage(wiremessage.NextRequestID(), m.requestID, bsoncore.Document(reply))...)
	return nil
}

// find returns the recorded command for c, and its reply for this run. If there is none,
// it returns nil and fails the test.
func (p *player) find(c Command) (*exchange, bson.Raw) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.failed || p.ended {
		return nil, nil
	}
	body := p.stripper.strip(c)
	for i, x := range p.session.exchanges {
		if p.sent[i] {
			continue
		}
		b := p.binding.clone()
		if x.database == c.Database && b.matches(x.command, body) {
			p.binding, p.sent[i] = b, true
			return x, b.live(x.reply)
		}
		if !p.anyOrder {
			break
		}
	}
	p.differs(Command{Name: c.Name, Database: c.Database, Collection: c.Collection, Body: body})
	return nil, nil
}

// differs fails the test for a command that isn't the recorded one.
func (p *player) differs(c Command) {
	p.t.Helper()
	p.failed = true
	likely := p.likely(c)
	if likely < 0 {
		p.t.Errorf("mongotest: Replay: %s: command %d was sent and is not in the recording, which has %d commands\n\t+ %s",
			p.file, p.count,
			len(p.sent), c)
		return
	}
	x := p.session.exchanges[likely]
	hint := p.laterThan(likely, c)
	b := p.binding.clone()
	b.matches(x.command, c.Body)
	c.Body = b.recorded(c.Body)
	recorded := x.asCommand()
	var lines string
	if x.database != c.Database {
		lines = fmt.Sprintf("database: want %s, got %s\n", x.database, c.Database)
	}
	if recorded.Name == c.Name && recorded.Collection == c.Collection {
		lines += Diff(x.command, c.Body)
	}
	p.t.Errorf("%s", p.report(c, likely, lines+hint))
}

// laterThan says which later recorded command c is, if any.
func (p *player) laterThan(expected int, c Command) string {
	for i, x := range p.session.exchanges {
		if !p.anyOrder && i > expected && x.database == c.Database && p.binding.clone().matches(x.command, c.Body) {
			return fmt.Sprintf(
				"it is command %d of the recording; Settings.AnyOrder is for commands of several goroutines\n", i+1)
		}
	}
	return ""
}

// likely returns the index of the recorded command that c probably stands for, or -1.
func (p *player) likely(c Command) int {
	first := -1
	for i, x := range p.session.exchanges {
		if p.sent[i] {
			continue
		}
		if first < 0 {
			first = i
		}
		if !p.anyOrder {
			break
		}
		if r := x.asCommand(); r.Name == c.Name && r.Collection == c.Collection && r.Database == c.Database {
			return i
		}
	}
	return first
}

const shownDifferences = 12

func (p *player) report(c Command, likely int, lines string) string {
	recorded := p.session.exchanges[likely].asCommand()
	var out strings.Builder
	fmt.Fprintf(&out,
		"mongotest: Replay: %s: command %d of %d differs from the recorded one\n\t- %s\n\t+ %s", p.file, likely+1,
		len(p.sent), recorded, c)
	list := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	for i, line := range list {
		if i == shownDifferences {
			fmt.Fprintf(&out, "\n\t… and %d more differences", len(list)-i)
			break
		}
		if line != "" {
			out.WriteString("\n\t" + line)
		}
	}
	fmt.Fprintf(&out,
		"\n\tremedy: if the new command is meant, record the test again with %s=server or %s=engine", EnvRecord, EnvRecord)
	return out.String()
}

// fail fails the test for a command that differs in more than its body.
func (p *player) fail(c Command, x *exchange, lines string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	for i, y := range p.session.exchanges {
		if x == y {
			p.t.Errorf("%s", p.report(c, i, lines))
		}
	}
}

const mostListed = 30 // commands in a failure

// remaining lists the recorded commands that weren't sent.
func (p *player) remaining() string {
	var left []Command
	for i, x := range p.session.exchanges {
		if !p.sent[i] {
			left = append(left, x.asCommand())
		}
	}
	if len(left) == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range left {
		if i == mostListed {
			fmt.Fprintf(&b, "\n\t… and %d more", len(left)-i)
			break
		}
		fmt.Fprintf(&b, "\n\t- %s", c)
	}
	return b.String()
}

// end fails the test if recorded commands weren't sent.
func (p *player) end() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.failed || p.t.Skipped() {
		return
	}
	if left := p.remaining(); left != "" {
		p.t.Errorf("mongotest: Replay: %s: %d of %d recorded commands were sent; not sent:%s", p.file,
			p.count, len(p.sent), left)
	}
}

// sameInAnyOrder reports whether two recordings have the same commands with the same
// replies.
func (s *session) sameInAnyOrder(o *session) bool {
	if len(s.exchanges) != len(o.exchanges) || Diff(s.server, o.server) != "" {
		return false
	}
	b, used := newBinding(markedID), make([]bool, len(s.exchanges))
	for _, x := range o.exchanges {
		found := false
		for i, y := range s.exchanges {
			if used[i] || x.database != y.database || x.end != y.end {
				continue
			}
			try := b.clone()
			if try.matches(y.command, x.command) && (x.end != "" || try.matches(y.reply, x.reply)) {
				b, used[i], found = try, true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
