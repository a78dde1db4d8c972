// Trees that are stored before a test, and changed past the methods of paths.

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

// DrawForest returns a random forest of n nodes, whose ids begin with one of [Hostile].
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

// NameNode returns the name of a node that StoreNamed stores. Tests see by it that a change keeps the fields of a
// document.
func NameNode(id string) string { return "name of " + id }

// StoreNamed empties the collection and loads a forest whose nodes have names.
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

// Clear deletes all nodes. The lease keeps its number.
func (k Kind) Clear(t testing.TB, db *mongo.Database) {
	t.Helper()
	if _, err := db.Collection(k.Name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}

// Parse reads a forest in a short notation: a(b c(d)) e. The roots are a and e, and a has the children b and c.
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

// NodesOf returns the documents of a forest, with links alone: Tree.Load adds the fields of its representation.
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

// Store empties a representation's collection and loads a forest. The last change then has the number 1000.
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

// SetFence sets the number of the last change under the tree's lease. Tests give plans numbers below and above it, as
// writers that are late or new.
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

// Named is a materialized path whose segments are the nodes' names in the place of their _ids.
var Named = KindOf("named", func(c *Nodes, s paths.TreeSpec) *paths.Tree[Category, string] {
	return paths.NewMaterializedPath(c, paths.MaterializedPathSpec{TreeSpec: s, Segment: "name"})
}, "path")

// ManyDocuments reports whether a command updates or deletes many documents, or has several statements. A crash can
// leave half of such a command done.
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

// Quick returns the representation with a lease that ends soon. On a real server the lease is longer, because a busy
// server must answer the reads of a change within it. Tests that let renewals fail depend on this.
func (k Kind) Quick() Kind {
	lease := 60 * time.Millisecond
	if testkit.Sample {
		lease = 400 * time.Millisecond
	}
	k.Tree = k.Declare(k.Docs, paths.TreeSpec{For: lease, Wait: 10 * time.Second})
	return k
}

// ReadAll returns the stored documents by their _ids.
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

// SetFields sets fields of nodes past the tree, as a program without the library would. Each document of sets begins
// with the _id of the node.
func (k Kind) SetFields(ctx context.Context, db *mongo.Database, sets ...bson.D) error {
	for _, s := range sets {
		if _, err := db.Collection(k.Name).UpdateOne(ctx, s[:1], bson.D{{Key: "$set", Value: s[1:]}}); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	return nil
}

// Put sets fields of a node past the tree, so that the check has something to find.
func (k Kind) Put(t testing.TB, db *mongo.Database, id string, set bson.D) {
	t.Helper()
	res, err := db.Collection(k.Name).UpdateOne(
		t.Context(), bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: set}},
	)
	if err != nil || res.MatchedCount != 1 {
		t.Fatal(err)
	}
}
