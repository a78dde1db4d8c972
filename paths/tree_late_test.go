package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A deletion whose writer was only slow, and that another finished meanwhile, doesn't delete what came into the place afterwards.
func TestDeleteComesLate(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Restrict} {
				k.ensure(t, db)
				k.store(t, db, parse("a(b c)"))
				node, err := db.Collection(k.name).FindOne(t.Context(), bson.D{{Key: "_id", Value: "c"}}).Raw()
				if err != nil {
					t.Fatal(err)
				}
				number, _ := node.Lookup("change").AsInt64OK()
				late := planned(t, db, k.tree.Delete("c", mode), number+1)
				if late.Err() != nil {
					t.Fatal(late.Err())
				}
				for _, change := range []model.Change[any]{
					k.tree.Move("b", paths.LastChild("a")), // so that the numbers of changes are beyond the late one's
					k.tree.Delete("c", mode),
					k.tree.Insert(category{ID: "c"}, paths.LastChild("a")),
					k.tree.Insert(category{ID: "d"}, paths.LastChild("c")),
				} {
					if _, _, err := change.Run(t.Context(), db); err != nil {
						t.Fatalf("%s: %v", k.name, err)
					}
				}
				if _, err := late.Run(t.Context(), db); err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
					t.Errorf("%s: %v", k.name, err)
				}
				if got := shape(k.stored(t, db)); got != "a(b c(d))" {
					t.Errorf("%s, %v: %s is left", k.name, modeName(mode), got)
				}
				k.whole(t, db)
			}
		}
	})
}

// A load that was cut can be run again, and one that is whole too: nothing comes twice.
func TestLoadAgain(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
			f := parse("a(b(c d(e)) f) g(h)")
			nodes := nodesOf(f)
			if _, _, err := k.tree.Load(nodes).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection(k.name).DeleteMany(t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: []string{"e", "f", "g"}}}}}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, _, err := k.tree.Load(nodes).Run(t.Context(), db); err != nil {
					t.Fatalf("%s: %v", k.name, err)
				}
				if got := shape(k.stored(t, db)); got != shape(f) {
					t.Fatalf("%s: %s is stored", k.name, got)
				}
				k.whole(t, db)
			}
		}
	})
}

// A document without what the representation keeps is refused by name, before anything is written.
func TestUnsound(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			if len(k.fields) == 0 {
				continue
			}
			k.ensure(t, db)
			k.store(t, db, parse("a(b(c)) d"))
			if _, err := db.Collection(k.name).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "b"}}, bson.D{{Key: "$unset", Value: bson.D{{Key: k.fields[0], Value: ""}}}}); err != nil {
				t.Fatal(err)
			}
			for what, run := range map[string]func() error{
				"a move": func() error { _, _, err := k.tree.Move("b", paths.LastChild("d")).Run(t.Context(), db); return err },
				"a child": func() error {
					_, _, err := k.tree.Insert(category{ID: "x"}, paths.LastChild("b")).Run(t.Context(), db)
					return err
				},
				"a deletion":  func() error { _, _, err := k.tree.Delete("b", paths.Subtree).Run(t.Context(), db); return err },
				"a promotion": func() error { _, _, err := k.tree.Delete("b", paths.Promote).Run(t.Context(), db); return err },
			} {
				var refused *model.ValueError
				if err := run(); !errors.As(err, &refused) || refused.Collection != k.name {
					t.Errorf("%s, %s: %v", k.name, what, err)
				}
			}
			if got := shape(k.stored(t, db)); got != "a(b(c)) d" {
				t.Errorf("%s: %s is stored", k.name, got)
			}
			if _, _, err := mends(k.tree).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			k.whole(t, db)
		}
	})
}
