//go:build docmodel_tenant

package modeltest

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// With this tag, the library runs everything under the policy of one tenant (package model), and an engine holds another tenant's
// equal documents beside each of the tenant's. Tests stay as they are: what a test itself stores is given to the tenant, what it
// reads by itself is the tenant's alone, less the policy's fields. What the library sends is left as it is. When the test ends,
// the other tenant's documents must be as they were.
type tenants struct {
	mu       sync.Mutex
	others   map[string]map[string]bson.Raw // the other tenant's documents, by namespace and _id
	cursors  map[int64]bool                 // of the test's own reads
	problems []string
}

const (
	tenantField  = "tenantOf"
	changedField = "changedAt"
	deletedField = "goneAt"
)

// dialer puts the tenants between the clients and the engine.
func (s *tenants) dialer(d options.ContextDialer) options.ContextDialer {
	f := NewFaults()
	f.From(All, 1, Action{s.do})
	if s.others == nil {
		s.others, s.cursors = map[string]map[string]bson.Raw{}, map[int64]bool{}
	}
	return f.Dialer(d)
}

// do is done to each command.
func (s *tenants) do(c *faultConn, m *message) error {
	cmd := m.command
	switch cmd.Database {
	case "admin", "config", "local":
		return c.forward(m)
	}
	if m.moreToCome || keptForItself(cmd.Collection) {
		return c.forward(m)
	}
	by := caller()
	switch {
	case by == "":
		return c.forward(m)
	case by == "test":
		return s.doOfTest(c, m)
	}
	if cmd.Name == "createIndexes" {
		return s.doOfTest(c, m)
	}
	if scoped[cmd.Name] && !bytes.Contains(cmd.Body, []byte(tenantField+"\x00")) {
		s.problem("%s sends without the tenant: %s\n%s", by, cmd, debug.Stack())
	}
	return s.exchange(c, m, cmd, func(reply bson.D) bson.D { return reply })
}

// scoped are the commands that must ask for the tenant.
var scoped = map[string]bool{"find": true, "aggregate": true, "count": true, "distinct": true, "insert": true, "update": true, "delete": true, "findAndModify": true}

// keptForItself reports whether the library keeps a collection for itself: locks, checkpoints and places, by their names in tests.
func keptForItself(collection string) bool {
	for _, name := range []string{"locks", "jobs", "checkpoints", "places"} {
		if strings.HasSuffix(collection, name) {
			return true
		}
	}
	return false
}

func (s *tenants) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

const project = "github.com/docmodel/docmodel/"

// caller says who sends a command: "test", a function of the library, or "" for the driver by itself.
func caller() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	driver := false
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "go.mongodb.org/mongo-driver/"):
			driver = true
		case driver && strings.HasPrefix(f.Function, project):
			if strings.HasSuffix(f.File, "_test.go") || strings.HasPrefix(f.Function, project+"model/modeltest") || strings.HasPrefix(f.Function, project+"internal/") {
				return "test"
			}
			return strings.TrimPrefix(f.Function, project)
		}
		if !more {
			return ""
		}
	}
}

// exchange sends a message, and then stores the other tenant's documents.
func (s *tenants) exchange(c *faultConn, m *message, cmd Command, change func(bson.D) bson.D) error {
	if err := c.forward(m); err != nil {
		return err
	}
	raw, err := c.readReply()
	if err != nil {
		return err
	}
	answer, err := parseMessage(raw)
	if err != nil {
		return err
	}
	if _, err := cmd.Body.LookupErr("autocommit"); err != nil {
		if err := s.storeOthers(c, cmd, bson.Raw(answer.body)); err != nil {
			return err
		}
	}
	var reply bson.D
	if err := bson.Unmarshal(answer.body, &reply); err != nil {
		return err
	}
	return c.answer(m, change(reply))
}

// doOfTest has a command of the test mean the tenant's documents.
func (s *tenants) doOfTest(c *faultConn, m *message) error {
	cmd := m.command
	var body bson.D
	if err := bson.Unmarshal(cmd.Body, &body); err != nil {
		return err
	}
	switch cmd.Name {
	case "getMore":
		id, _ := cmd.Body.Lookup("getMore").AsInt64OK()
		s.mu.Lock()
		ours := s.cursors[id]
		s.mu.Unlock()
		if !ours {
			return c.forward(m)
		}
	case "drop", "dropDatabase":
		s.forget(cmd)
		return c.forward(m)
	case "explain":
		if inner, ok := body[0].Value.(bson.D); ok {
			body[0].Value = ownCommand(inner)
		}
	case "createIndexes":
		if body = ownIndexes(body); bytes.Contains(cmd.Body, []byte("unique\x00")) { // what they hold may not be unique
			if err := s.removeOthers(c, cmd); err != nil {
				return err
			}
		}
	default:
		if !scoped[cmd.Name] {
			return c.forward(m)
		}
		body = ownCommand(body)
	}
	doc, err := bson.Marshal(body)
	if err != nil {
		return err
	}
	next, err := parseMessage(newMessage(m.requestID, 0, doc))
	if err != nil {
		return err
	}
	return s.exchange(c, next, Command{cmd.Name, cmd.Database, cmd.Collection, doc}, s.shown)
}

// ownCommand is a command of the tenant's documents alone.
func ownCommand(body bson.D) bson.D {
	body = slices.Clone(body)
	for i, e := range body {
		switch e.Key {
		case "filter", "query":
			if q, ok := e.Value.(bson.D); ok {
				body[i].Value = own(q)
			}
		case "documents":
			body[i].Value = eachOf(e.Value, owned)
		case "updates":
			body[i].Value = eachOf(e.Value, func(u bson.D) bson.D { return ownStatement(u, own) })
		case "deletes":
			body[i].Value = eachOf(e.Value, func(u bson.D) bson.D { return ownStatement(u, ownGone) })
		case "update":
			if u, ok := e.Value.(bson.D); ok && len(u) > 0 && !strings.HasPrefix(u[0].Key, "$") {
				body[i].Value = owned(u)
			}
		case "pipeline":
			body[i].Value = ownPipeline(e.Value.(bson.A))
		}
	}
	switch body[0].Key {
	case "find":
		if !slices.ContainsFunc(body, func(e bson.E) bool { return e.Key == "filter" }) {
			body = append(body, bson.E{Key: "filter", Value: own(nil)})
		}
	case "count", "distinct":
		if !slices.ContainsFunc(body, func(e bson.E) bool { return e.Key == "query" }) {
			body = append(body, bson.E{Key: "query", Value: own(nil)})
		}
	}
	return body
}

func ownStatement(u bson.D, own func(bson.D) bson.D) bson.D {
	for i, e := range u {
		switch v := e.Value.(type) {
		case bson.D:
			if e.Key == "q" {
				u[i].Value = own(v)
			} else if e.Key == "u" && len(v) > 0 && !strings.HasPrefix(v[0].Key, "$") {
				u[i].Value = owned(v)
			}
		}
	}
	return u
}

func ownPipeline(stages bson.A) bson.A {
	if len(stages) > 0 {
		if first, ok := stages[0].(bson.D); ok && len(first) == 1 {
			switch first[0].Key {
			case "$changeStream", "$collStats", "$indexStats", "$documents", "$geoNear":
				return stages
			}
		}
	}
	return append(bson.A{bson.D{{Key: "$match", Value: own(nil)}}}, stages...)
}

// ownIndexes are indexes whose unique ones are led by the tenant, and hold nothing deleted, as the documentation of a policy asks for.
func ownIndexes(body bson.D) bson.D {
	for i, e := range body {
		if e.Key == "indexes" {
			body[i].Value = eachOf(e.Value, func(x bson.D) bson.D {
				for j, e := range x {
					if key, ok := e.Value.(bson.D); ok && e.Key == "key" && has(x, "unique") {
						x[j].Value = append(bson.D{{Key: tenantField, Value: 1}}, key...)
						if !has(x, "partialFilterExpression") && !has(x, "sparse") {
							x = append(x, bson.E{Key: "partialFilterExpression", Value: bson.D{{Key: deletedField, Value: nil}}})
						}
						break
					}
				}
				return x
			})
		}
	}
	return body
}

func eachOf(list any, f func(bson.D) bson.D) any {
	a, ok := list.(bson.A)
	if !ok {
		return list
	}
	out := make(bson.A, len(a))
	for i, v := range a {
		out[i] = v
		if doc, ok := v.(bson.D); ok {
			out[i] = f(doc)
		}
	}
	return out
}

func has(doc bson.D, key string) bool {
	return slices.ContainsFunc(doc, func(e bson.E) bool { return e.Key == key })
}

// own is a filter of the tenant's documents that are not deleted.
func own(q bson.D) bson.D {
	return append(ownGone(q), bson.E{Key: deletedField, Value: nil})
}

// ownGone is a filter of the tenant's documents, those that are marked as deleted among them.
func ownGone(q bson.D) bson.D {
	return append(slices.Clone(q), bson.E{Key: tenantField, Value: "mine"})
}

// owned is a document of the tenant.
func owned(doc bson.D) bson.D {
	if has(doc, tenantField) {
		return doc
	}
	return append(slices.Clone(doc), bson.E{Key: tenantField, Value: "mine"})
}

// shown is the answer to a test: documents without the fields of the policy.
func (s *tenants) shown(reply bson.D) bson.D {
	for i, e := range reply {
		v, ok := e.Value.(bson.D)
		if !ok {
			continue
		}
		switch e.Key {
		case "value":
			reply[i].Value = plain(v)
		case "cursor":
			for j, part := range v {
				switch part.Key {
				case "firstBatch", "nextBatch":
					v[j].Value = eachOf(part.Value, plain)
				case "id":
					s.mu.Lock()
					s.cursors[part.Value.(int64)] = true
					s.mu.Unlock()
				}
			}
		}
	}
	return reply
}

func plain(doc bson.D) bson.D {
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool {
		return e.Key == tenantField || e.Key == changedField || e.Key == deletedField
	})
}

// storeOthers stores the other tenant's copies of what a command has inserted.
func (s *tenants) storeOthers(c *faultConn, cmd Command, reply bson.Raw) error {
	if _, err := cmd.Body.LookupErr("ordered"); err != nil && cmd.Name == "bulkWrite" {
		return nil
	}
	var docs []bson.Raw
	switch cmd.Name {
	case "insert":
		if n, _ := reply.Lookup("n").AsInt64OK(); n > 0 {
			docs = documentsOf(cmd.Body.Lookup("documents"))
		}
	case "update":
		for _, u := range documentsOf(reply.Lookup("upserted")) {
			doc, err := s.find(c, cmd, u.Lookup("_id"))
			if err != nil {
				return err
			}
			docs = append(docs, doc...)
		}
	case "findAndModify":
		if id, err := reply.LookupErr("lastErrorObject", "upserted"); err == nil {
			doc, err := s.find(c, cmd, id)
			if err != nil {
				return err
			}
			docs = doc
		}
	}
	if len(docs) == 0 || len(docs) > 2000 {
		return nil
	}
	return s.insertOthers(c, cmd, docs)
}

func documentsOf(v bson.RawValue) (out []bson.Raw) {
	arr, _ := v.ArrayOK()
	values, _ := arr.Values()
	for _, v := range values {
		if doc, ok := v.DocumentOK(); ok {
			out = append(out, doc)
		}
	}
	return out
}

// insertOthers stores copies under _ids of their own. A unique index may leave some out.
func (s *tenants) insertOthers(c *faultConn, cmd Command, docs []bson.Raw) error {
	var others bson.A
	for _, doc := range docs {
		var d bson.D
		if err := bson.Unmarshal(doc, &d); err != nil {
			return err
		}
		d = slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == tenantField })
		i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == "_id" })
		if i < 0 {
			continue
		}
		id := bson.D{{Key: "_id", Value: otherID(d[i].Value)}} // the server puts it first
		others = append(others, slices.Concat(id, slices.Delete(d, i, i+1), bson.D{{Key: tenantField, Value: "theirs"}}))
	}
	if len(others) == 0 {
		return nil
	}
	reply, err := s.send(c, bson.D{{Key: "insert", Value: cmd.Collection}, {Key: "documents", Value: others}, {Key: "ordered", Value: false},
		{Key: "bypassDocumentValidation", Value: true}, {Key: "$db", Value: cmd.Database}})
	if err != nil {
		return err
	}
	failed := map[int64]bool{}
	for _, e := range documentsOf(reply.Lookup("writeErrors")) {
		n, _ := e.Lookup("index").AsInt64OK()
		failed[n] = true
	}
	if n, _ := reply.Lookup("ok").AsInt64OK(); n != 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := cmd.Database + "." + cmd.Collection
	if s.others[ns] == nil {
		s.others[ns] = map[string]bson.Raw{}
	}
	for i, d := range others {
		if failed[int64(i)] {
			continue
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			return err
		}
		s.others[ns][bson.Raw(raw).Lookup("_id").String()] = raw
	}
	return nil
}

// otherID is an _id beside another, of its type where that has room.
func otherID(id any) any {
	switch v := id.(type) {
	case string:
		return v + "~"
	case int32:
		return v + 1_000_003
	case int64:
		return v + 1_000_003
	case bson.ObjectID:
		v[0] ^= 0xff
		return v
	case bson.D:
		return append(slices.Clone(v), bson.E{Key: "~", Value: 1})
	}
	return bson.NewObjectID()
}

func (s *tenants) find(c *faultConn, cmd Command, id bson.RawValue) ([]bson.Raw, error) {
	reply, err := s.send(c, bson.D{{Key: "find", Value: cmd.Collection}, {Key: "filter", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}}, {Key: "$db", Value: cmd.Database}})
	return documentsOf(reply.Lookup("cursor", "firstBatch")), err
}

// send sends a command of its own.
func (s *tenants) send(c *faultConn, cmd bson.D) (bson.Raw, error) {
	body, err := bson.Marshal(cmd)
	if err != nil {
		return nil, err
	}
	if _, err := c.Conn.Write(newMessage(wiremessage.NextRequestID(), 0, body)); err != nil {
		return nil, err
	}
	raw, err := c.readReply()
	if err != nil {
		return nil, err
	}
	m, err := parseMessage(raw)
	if err != nil {
		return nil, err
	}
	return bson.Raw(m.body), nil
}

// removeOthers removes the other tenant's documents of a collection.
func (s *tenants) removeOthers(c *faultConn, cmd Command) error {
	s.forget(Command{Name: "drop", Database: cmd.Database, Collection: cmd.Collection})
	_, err := s.send(c, bson.D{{Key: "delete", Value: cmd.Collection}, {Key: "deletes", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: tenantField, Value: "theirs"}}}, {Key: "limit", Value: 0}}}}, {Key: "$db", Value: cmd.Database}})
	return err
}

// forget is told of a drop.
func (s *tenants) forget(cmd Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ns := range s.others {
		if ns == cmd.Database+"."+cmd.Collection || cmd.Name == "dropDatabase" && strings.HasPrefix(ns, cmd.Database+".") {
			delete(s.others, ns)
		}
	}
}

// check fails the test for documents of the other tenant that are not as they were.
func (s *tenants) check(t testing.TB, b *backend) {
	t.Helper()
	t.Cleanup(func() {
		for _, p := range s.problems {
			t.Error(p)
		}
		client, err := mongo.Connect(options.Client().ApplyURI(b.uri).SetDialer(b.dialer))
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		defer client.Disconnect(ctx)
		for ns, docs := range s.others {
			database, collection, _ := strings.Cut(ns, ".")
			cur, err := client.Database(database).Collection(collection).Find(ctx, bson.D{{Key: tenantField, Value: "theirs"}})
			if err != nil {
				t.Error(err)
				continue
			}
			n := 0
			for cur.Next(ctx) {
				n++
				if want := docs[cur.Current.Lookup("_id").String()]; !bytes.Equal(want, cur.Current) {
					t.Errorf("%s: the other tenant's %s was %s", ns, cur.Current, want)
				}
			}
			if n != len(docs) {
				t.Errorf("%s: the other tenant has %d documents, had %d", ns, n, len(docs))
			}
		}
	})
}
