package checks

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A document that the scope hides, another tenant's or one that is marked as deleted, is ErrNotFound to everything that
// writes it, and is tried once.
func TestHiddenIsNotFound(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	told := 0
	for i, c := range registered {
		if !writesOnly(c.value(harmless)) {
			continue
		}
		db := client.Database(fmt.Sprintf("hidden%d", i))
		monitor.Reset()
		_, _ = runValue(t.Context(), mine.On(db), c.value(harmless))
		asked := askedIDs(monitor.Commands())
		for _, hiding := range []bson.D{
			{{Key: "tenant", Value: "theirs"}},
			{{Key: "tenant", Value: "mine"}, {Key: "deletedAt", Value: int64(7)}},
		} {
			if err := db.Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			hide(t, db, asked, hiding)
			monitor.Reset()
			err, _ := runValue(t.Context(), mine.On(db), c.value(harmless))
			switch {
			case errors.Is(err, eventlog.ErrVersion): // an aggregate whose commits are hidden is at version 0
				wantOnce(t, c.name(), monitor.Commands())
			case errors.Is(err, model.ErrStale):
				t.Errorf("%s: %v", c.name(), err)
			case errors.Is(err, model.ErrNotFound):
				told++
				wantOnce(t, c.name(), monitor.Commands())
			case mongo.IsDuplicateKeyError(err): // it inserts, and a hidden document has the _id
				wantOnce(t, c.name(), monitor.Commands())
			} // else it needs no document, or inserts one
		}
	}
	if told < 200 {
		t.Errorf("only %d operations were told", told)
	}
}

// wantOnce fails if a statement was sent twice.
func wantOnce(t *testing.T, name string, commands []mongotest.Command) {
	t.Helper()
	sent := map[string]bool{}
	for _, cmd := range commands {
		for _, list := range []string{"updates", "deletes", "ops"} {
			v := cmd.Body.Lookup(list)
			if v.Type == 0 {
				continue
			}
			key := cmd.Collection + " " + v.String()
			if sent[key] {
				t.Errorf("%s: tried twice: %s", name, cmd)
			}
			sent[key] = true
		}
	}
}

// writesOnly reports whether a value is a write, a plan or a change.
func writesOnly(v any) bool {
	switch v.(type) {
	case model.Write, model.Plan:
		return true
	}
	return decides(v)
}

// An askedID is a document that a command asked for by its _id.
type askedID struct {
	collection string
	id         string
}

// askedIDs are the documents that commands asked for, but for those that they make.
func askedIDs(commands []mongotest.Command) map[askedID]bson.RawValue {
	out, made := map[askedID]bson.RawValue{}, map[askedID]bool{}
	note := func(collection string, filter bson.RawValue) {
		doc, _ := filter.DocumentOK()
		id := doc.Lookup("_id")
		if operators, ok := id.DocumentOK(); ok {
			if id = operators.Lookup("$eq"); id.Type == 0 {
				return
			}
		}
		if id.Type != 0 {
			out[askedID{collection, id.String()}] = id
		}
	}
	for _, cmd := range commands {
		if keepsForItself(cmd.Collection) {
			continue
		}
		each(cmd.Body.Lookup("documents"), func(doc bson.Raw) string {
			made[askedID{cmd.Collection, doc.Lookup("_id").String()}] = true
			return ""
		})
		note(cmd.Collection, cmd.Body.Lookup("filter"))
		note(cmd.Collection, cmd.Body.Lookup("query"))
		for _, list := range []string{"updates", "deletes"} {
			each(cmd.Body.Lookup(list), func(s bson.Raw) string {
				note(cmd.Collection, s.Lookup("q"))
				if upsert, _ := s.Lookup("upsert").BooleanOK(); upsert {
					made[askedID{cmd.Collection, s.Lookup("q", "_id").String()}] = true
				}
				return ""
			})
		}
		each(cmd.Body.Lookup("pipeline"), func(s bson.Raw) string {
			note(cmd.Collection, s.Lookup("$match"))
			return ""
		})
	}
	maps.DeleteFunc(out, func(doc askedID, _ bson.RawValue) bool { return made[doc] })
	return out
}

// hide stores the documents so that the scope hides them.
func hide(t *testing.T, db *mongo.Database, asked map[askedID]bson.RawValue, hiding bson.D) {
	t.Helper()
	for doc, id := range asked {
		if _, err := db.Collection(doc.collection).
			InsertOne(t.Context(), append(bson.D{{Key: "_id", Value: id}}, hiding...)); err != nil {
			t.Fatal(err)
		}
	}
}
