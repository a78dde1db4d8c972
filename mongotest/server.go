package mongotest

import (
	"iter"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// A backend is the testserver.Server of package modeltest.
var _ testserver.Server = (*backend)(nil)

// register makes package modeltest find the server of a client and of its monitors.
func (b *backend) register(client *mongo.Client, monitors []*Monitor) (forget func()) {
	list := []func(){testserver.Register(client, b)}
	for _, m := range monitors {
		list = append(list, testserver.Register(m, b))
	}
	return func() {
		for _, f := range list {
			f()
		}
	}
}

// accompany puts the companion between the clients and the engine.
func (b *backend) accompany(d options.ContextDialer) options.ContextDialer {
	if b.companion == nil {
		return d
	}
	return NewFaults().From(All, 1, b.companion.Handle).Dialer(d)
}

func (b *backend) IsReal() bool { return b.engine == nil }

func (b *backend) URI() string { return b.uri }

func (b *backend) Dialer() options.ContextDialer { return b.dialer }

func (b *backend) NewName(t testing.TB) string {
	t.Helper()
	return b.newName(t)
}

func (b *backend) Connect(o *options.ClientOptions, layers ...testserver.Layer) (*mongo.Client, func(), error) {
	c := &config{layers: layers}
	if o != nil {
		Settings{Client: o}.apply(c)
	}
	return b.connect(c)
}

func (b *backend) Documents(database string) iter.Seq2[string, bson.D] {
	return b.engine.Documents(database)
}

func (b *backend) Copy() (testserver.Server, error) {
	e := engine.New()
	e.Restore(b.engine)
	return &backend{name: b.name, engine: e}, e.Close()
}

func (b *backend) Restore(from testserver.Server) { b.engine.Restore(from.(*backend).engine) }

// A sending is the testserver.Exchange of a message that a client sends.
type sending struct {
	conn    *faultConn
	message *message
}

func (s *sending) Command() (string, bson.Raw) {
	return s.message.command.Database, s.message.command.Body
}

func (s *sending) IsUnacknowledged() bool { return s.message.moreToCome }

func (s *sending) Forward() error { return s.conn.forward(s.message) }

func (s *sending) Send(body bson.Raw) (bson.Raw, error) {
	m := s.message
	if body != nil {
		m = &message{raw: newMessage(m.requestID, 0, bsoncore.Document(body))}
	}
	if err := s.conn.forward(m); err != nil {
		return nil, err
	}
	raw, err := s.conn.readReply()
	if err != nil {
		return nil, err
	}
	reply, err := parseMessage(raw)
	if err != nil {
		return nil, err
	}
	return bson.Raw(reply.body), nil
}

func (s *sending) Ask(command bson.D) (bson.Raw, error) { return s.conn.ask(command) }

func (s *sending) Answer(reply bson.D) error { return s.conn.answer(s.message, reply) }

func (s *sending) Wait(signal <-chan struct{}) error { return waitFor(s.conn, signal) }

func (s *sending) Kill() { s.conn.faults.kill() }
