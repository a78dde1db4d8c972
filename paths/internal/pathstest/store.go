package pathstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// DrawForest is a random forest, of ids that code could take for something else.
func DrawForest(r *rand.Rand, n int) *paths.Forest[string] {
	f := &paths.Forest[string]{}
	for i := 0; f.Len() < n; i++ {
		ref := PickID(r, f)
		at := []paths.Place[string]{
			paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](),
		}[r.IntN(5)]
		_ = f.Insert(Hostile[r.IntN(len(Hostile))]+fmt.Sprint(i), at)
	}
	return f
}

// NameNode is what the content of a node is in tests.
func NameNode(id string) string { return "name of " + id }

// StoreNamed stores a forest, with content.
func (k Kind) StoreNamed(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	for _, name := range []string{k.Name, "docmodel.locks"} {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	docs := NodesOf(f)
	for i := range docs {
		docs[i].Name = NameNode(docs[i].ID)
	}
	if _, err := k.Tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// Clear deletes all nodes.
func (k Kind) Clear(t testing.TB, db *mongo.Database) {
	t.Helper()
	if _, err := db.Collection(k.Name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}

// Parse reads a small notation of a forest: a(b c(d)) e.
func Parse(s string) *paths.Forest[string] {
	f := &paths.Forest[string]{}
	var above []string
	last := ""
	for _, token := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)) {
		switch token {
		case "(":
			above = append(above, last)
		case ")":
			above = above[:len(above)-1]
		default:
			place := paths.LastRoot[string]()
			if len(above) > 0 {
				place = paths.LastChild(above[len(above)-1])
			}
			if err := f.Insert(token, place); err != nil {
				panic(err)
			}
			last = token
		}
	}
	return f
}

// NodesOf are the documents of a forest, to be loaded.
func NodesOf(f *paths.Forest[string]) []Category {
	var out []Category
	for _, l := range LinksOf(f) {
		c := Category{ID: l.ID, Order: l.Order}
		if !l.Root {
			c.Parent = &l.Parent
		}
		out = append(out, c)
	}
	return out
}

// Store empties a representation's collection and loads a forest.
func (k Kind) Store(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	for _, name := range []string{k.Name, "docmodel.locks"} {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	docs := NodesOf(f)
	for i := range docs {
		if k.Name == Named.Name {
			docs[i].Name = docs[i].ID
		}
	}
	if _, err := k.Tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	k.SetFence(t, db, 1000)
}

// SetFence sets the number of the last change, for tests that give plans numbers of their
// own below it.
func (k Kind) SetFence(t testing.TB, db *mongo.Database, n int64) {
	t.Helper()
	_, err := db.Collection("docmodel.locks").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: k.Name}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: n}}}}, options.UpdateOne().SetUpsert(true))
	if err != nil {
		t.Fatal(err)
	}
}

// WantWhole fails the test unless the check finds nothing.
func (k Kind) WantWhole(t testing.TB, db *mongo.Database) {
	t.Helper()
	report, err := Inspect(t.Context(), db, k.Tree)
	if err != nil || len(report) > 0 {
		t.Fatalf("%s: %v, %v", k.Name, report, err)
	}
}

// Named are nodes whose paths are of their names.
var Named = KindOf("named", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
	return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{TreeSpec: s, Segment: "name"})
}, "path")

// ManyDocuments matches an update or deletion of many documents, or of several
// statements.
func ManyDocuments(c mongotest.Command) bool {
	for _, name := range []string{"updates", "deletes"} {
		statements, ok := c.Body.Lookup(name).ArrayOK()
		if !ok {
			continue
		}
		list, _ := statements.Values()
		multi, _ := list[0].Document().Lookup("multi").BooleanOK()
		limit, isDelete := list[0].Document().Lookup("limit").AsInt64OK()
		return multi || isDelete && limit == 0 || len(list) > 1
	}
	return false
}

// Quick is the representation with a lease that runs out soon. On a server the lease is
// longer: a busy server must answer the reads of a change within it, and tests that let
// renewals fail let those of every change fail.
func (k Kind) Quick() Kind {
	lease := 60 * time.Millisecond
	if testkit.Sample {
		lease = 400 * time.Millisecond
	}
	k.Tree = k.Declare(k.Docs, paths.TreeSpec{For: lease, Wait: 10 * time.Second})
	return k
}

// ReadAll are the stored documents.
func (k Kind) ReadAll(t testing.TB, db *mongo.Database) map[string]Category {
	t.Helper()
	list, err := k.Docs.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Category{}
	for _, c := range list {
		out[c.ID] = c
	}
	return out
}

// SetFields sets fields of nodes past the tree, one after the other.
func (k Kind) SetFields(ctx context.Context, db *mongo.Database, sets ...bson.D) error {
	for _, s := range sets {
		if _, err := db.Collection(k.Name).UpdateOne(ctx, s[:1], bson.D{{Key: "$set", Value: s[1:]}}); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	return nil
}

// Put sets fields of a node, past the tree.
func (k Kind) Put(t testing.TB, db *mongo.Database, id string, set bson.D) {
	t.Helper()
	res, err := db.Collection(k.Name).UpdateOne(
		t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}},
	)
	if err != nil || res.MatchedCount != 1 {
		t.Fatal(err)
	}
}
