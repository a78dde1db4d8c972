package paths_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hiding marks deleted documents.
var hiding = model.Scope{Delete: bson.D{{Key: "gone", Value: int64(1)}}}

// A node that was deleted under a scope keeps its _id: an insert or a load of that _id is ErrTaken, names the _id and
// changes nothing.
func TestHiddenID(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range append(append([]pathstest.Kind{}, pathstest.Kinds...), pathstest.Named) {
			k.Tree = k.Declare(k.Docs, paths.TreeSpec{}) // without what a run has learnt
			set, err := hiding.Indexes(model.New("test", k.Tree).Indexes())
			if err == nil {
				err = set.Ensure(t.Context(), db)
			}
			if err != nil {
				t.Fatal(err)
			}
			scoped := hiding.On(db)
			run := func(c model.Change) error { _, err := c.Run(t.Context(), scoped); return err }
			load := k.Tree.Load([]pathstest.Category{{ID: "a", Name: "a"}, {ID: "b", Name: "b"}, {ID: "c", Name: "c"}})
			if err := errors.Join(run(load), run(k.Tree.Delete("b", paths.Restrict))); err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			before := k.ReadAll(t, db)
			for _, place := range []paths.Place[string]{
				paths.LastRoot[string](), paths.FirstChild("a"), paths.Before("c"),
			} {
				err := run(k.Tree.Insert(pathstest.Category{ID: "b", Name: "b"}, place))
				if !errors.Is(err, model.ErrTaken) || !strings.Contains(err.Error(), k.Docs.Name()+"._id: 'b'") {
					t.Errorf("%s: %v: %v", k.Name, place, err)
				}
			}
			err = run(k.Tree.Load([]pathstest.Category{{ID: "b", Name: "b"}}))
			if !errors.Is(err, model.ErrTaken) {
				t.Errorf("%s: Load: %v", k.Name, err)
			}
			if after := k.ReadAll(t, db); !reflect.DeepEqual(before, after) {
				t.Errorf("%s: %v, before %v", k.Name, after, before)
			}
			if err := run(k.Tree.Insert(pathstest.Category{ID: "d", Name: "b"}, paths.After("a"))); err != nil {
				t.Errorf("%s: the next insert: %v", k.Name, err)
			}
			if report, err := pathstest.Inspect(t.Context(), scoped, k.Tree); err != nil || len(report) > 0 {
				t.Errorf("%s: %v, %v", k.Name, report, err)
			}
		}
	})
}
