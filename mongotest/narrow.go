package mongotest

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// narrowed returns the message for the first n parts of a write, or m itself.
func (c *faultConn) narrowed(m *message, n int) (*message, error) {
	list := testserver.Statements(m.command.Name, m.command.Body)
	switch {
	case testserver.IsInTransaction(m.command.Body):
		return m, nil
	case len(list) > n:
		docs := make([]bsoncore.Document, n)
		for i := range docs {
			docs[i] = bsoncore.Document(list[i].Value)
		}
		return m.withStatements(docs)
	case !testserver.IsMany(m.command.Name, m.command.Body):
		return m, nil
	}
	statement := list[0].Document()
	ids, err := c.matching(m.command, statement, n)
	if err != nil || len(ids) <= n {
		return m, err
	}
	b := bsoncore.NewDocumentBuilder()
	elements, _ := statement.Elements()
	for _, e := range elements {
		v := bsoncore.Value{Type: bsoncore.Type(e.Value().Type), Data: e.Value().Value}
		if e.Key() == "q" {
			q, err := bson.Marshal(bson.D{{Key: "$and", Value: bson.A{
				e.Value(), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids[:n]}}}},
			}}})
			if err != nil {
				return nil, err
			}
			v = bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: q}
		}
		b.AppendValue(e.Key(), v)
	}
	return m.withStatements([]bsoncore.Document{b.Build()})
}

// withStatements returns the message with other statements, all in the body.
func (m *message) withStatements(docs []bsoncore.Document) (*message, error) {
	name := testserver.StatementsField(m.command.Name)
	b := bsoncore.NewDocumentBuilder()
	elements, _ := m.command.Body.Elements()
	for _, e := range elements {
		if e.Key() == name {
			b.AppendArray(name, documentArray(docs))
			continue
		}
		b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(e.Value().Type), Data: e.Value().Value})
	}
	raw := newMessage(m.requestID, 0, b.Build())
	if m.moreToCome { // keep the flag
		raw[headerSize] |= byte(wiremessage.MoreToCome)
	}
	return parseMessage(raw)
}

// matching asks the server, on this connection, for the lowest n+1 _ids that a statement
// matches.
func (c *faultConn) matching(command Command, statement bson.Raw, n int) ([]bson.RawValue, error) {
	find := bson.D{
		{Key: "find", Value: command.Collection}, {Key: "filter", Value: statement.Lookup("q")},
		{Key: "projection", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}},
		{Key: "limit", Value: n + 1}, {Key: "batchSize", Value: n + 1}, {Key: "singleBatch", Value: true},
	}
	for _, key := range []string{"collation", "hint"} {
		if v, err := statement.LookupErr(key); err == nil {
			find = append(find, bson.E{Key: key, Value: v})
		}
	}
	if let, err := command.Body.LookupErr("let"); err == nil {
		find = append(find, bson.E{Key: "let", Value: let})
	}
	reply, err := c.ask(append(find, bson.E{Key: "$db", Value: command.Database}))
	if err != nil {
		return nil, err
	}
	batch, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
	if !ok {
		return nil, fmt.Errorf("mongotest: CutInside: the documents to write can't be found: %v", reply)
	}
	values, err := batch.Values()
	if err != nil {
		return nil, err
	}
	ids := make([]bson.RawValue, len(values))
	for i, v := range values {
		ids[i] = v.Document().Lookup("_id")
	}
	return ids, nil
}
