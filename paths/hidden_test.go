package paths_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hiding marks deleted documents.
var hiding = model.Scope{Delete: bson.D{{Key: "gone", Value: int64(1)}}}

// A node that was deleted under a scope keeps its _id: an insert or a load of that _id is ErrTaken, names the _id and changes nothing.
func TestHiddenID(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range append(append([]kind{}, kinds...), named) {
			k.tree = k.declare(k.docs, paths.TreeSpec{}) // without what a run has learnt
			set, err := hiding.Indexes(model.New("test", k.tree).Indexes())
			if err == nil {
				err = set.Ensure(t.Context(), db)
			}
			if err != nil {
				t.Fatal(err)
			}
			scoped := hiding.On(db)
			run := func(c model.Change[any]) error { _, _, err := c.Run(t.Context(), scoped); return err }
			load := k.tree.Load([]category{{ID: "a", Name: "a"}, {ID: "b", Name: "b"}, {ID: "c", Name: "c"}})
			if err := errors.Join(run(load), run(k.tree.Delete("b", paths.Restrict))); err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			before := k.all(t, db)
			for _, place := range []paths.Place[string]{paths.LastRoot[string](), paths.FirstChild("a"), paths.Before("c")} {
				err := run(k.tree.Insert(category{ID: "b", Name: "b"}, place))
				if !errors.Is(err, model.ErrTaken) || !strings.Contains(err.Error(), k.docs.Name()+"._id: 'b'") {
					t.Errorf("%s: %v: %v", k.name, place, err)
				}
			}
			err = run(k.tree.Load([]category{{ID: "b", Name: "b"}}))
			if !errors.Is(err, model.ErrTaken) {
				t.Errorf("%s: Load: %v", k.name, err)
			}
			if after := k.all(t, db); !reflect.DeepEqual(before, after) {
				t.Errorf("%s: %v, before %v", k.name, after, before)
			}
			if err := run(k.tree.Insert(category{ID: "d", Name: "b"}, paths.After("a"))); err != nil {
				t.Errorf("%s: the next insert: %v", k.name, err)
			}
			if report, err := inspect(t.Context(), scoped, k.tree); err != nil || len(report) > 0 {
				t.Errorf("%s: %v, %v", k.name, report, err)
			}
		}
	})
}
