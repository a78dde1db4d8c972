package modeltest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// storeOthers stores the other tenant's copies of inserted documents.
func (s *tenants) storeOthers(x testserver.Exchange, cmd mongotest.Command, reply bson.Raw) error {
	var docs []bson.Raw
	switch cmd.Name {
	case "insert":
		if n, _ := reply.Lookup("n").AsInt64OK(); n > 0 {
			docs = documentsOf(cmd.Body.Lookup("documents"))
		}
	case "update":
		for _, u := range documentsOf(reply.Lookup("upserted")) {
			doc, err := s.find(x, cmd, u.Lookup("_id"))
			if err != nil {
				return err
			}
			docs = append(docs, doc...)
		}
	case "findAndModify":
		if id, err := reply.LookupErr("lastErrorObject", "upserted"); err == nil {
			doc, err := s.find(x, cmd, id)
			if err != nil {
				return err
			}
			docs = doc
		}
	}
	if len(docs) == 0 || len(docs) > 2000 {
		return nil
	}
	return s.insertOthers(x, cmd, docs)
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

// insertOthers stores copies under new _ids. A unique index may exclude some.
func (s *tenants) insertOthers(x testserver.Exchange, cmd mongotest.Command, docs []bson.Raw) error {
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
	reply, err := x.Ask(bson.D{
		{Key: "insert", Value: cmd.Collection}, {Key: "documents", Value: others}, {Key: "ordered", Value: false},

		{Key: "bypassDocumentValidation", Value: true}, {Key: "$db", Value: cmd.Database},
	})
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

// otherID returns a different _id, of the same type if possible.
func otherID(id any) any {
	if key, ok := splitKeyID(id); ok { // the other tenant uses the same key
		return keyID(key, bson.D{{Key: tenantField, Value: "theirs"}})
	}
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

func (s *tenants) find(x testserver.Exchange, cmd mongotest.Command, id bson.RawValue) ([]bson.Raw, error) {
	reply, err := x.Ask(bson.D{
		{Key: "find", Value: cmd.Collection},
		{Key: "filter", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}},
		{Key: "$db", Value: cmd.Database},
	})
	return documentsOf(reply.Lookup("cursor", "firstBatch")), err
}

// removeOthers removes the other tenant's documents of a collection.
func (s *tenants) removeOthers(x testserver.Exchange, cmd mongotest.Command) error {
	s.forget(mongotest.Command{Name: "drop", Database: cmd.Database, Collection: cmd.Collection})
	_, err := x.Ask(bson.D{{Key: "delete", Value: cmd.Collection}, {Key: "deletes", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: tenantField, Value: "theirs"}}}, {Key: "limit", Value: 0}}}},
		{Key: "$db", Value: cmd.Database}})
	return err
}

// forget handles a drop.
func (s *tenants) forget(cmd mongotest.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ns := range s.others {
		if ns == cmd.Database+"."+cmd.Collection || cmd.Name == "dropDatabase" && strings.HasPrefix(ns, cmd.Database+".") {
			delete(s.others, ns)
		}
	}
}

// Check makes the test fail at its end if the other tenant's documents changed.
func (s *tenants) Check(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		for _, p := range s.problems {
			t.Error(p)
		}
		client, err := mongo.Connect(options.Client().ApplyURI(s.server.URI()).SetDialer(s.server.Dialer()))
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
