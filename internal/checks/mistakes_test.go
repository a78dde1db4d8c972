package checks

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/parentref"
)

type slipPost struct {
	ID      string          `bson:"_id"`
	Title   string          `bson:"title"`
	Author  string          `bson:"author"`
	Replies []slipReply     `bson:"replies,omitempty"`
	Nil     []slipReply     `bson:"nil"`
	Best    *slipReply      `bson:"best"`
	Tags    []string        `bson:"tags,omitempty"`
	V       int64           `bson:"v"`
	Tokens  []bson.ObjectID `bson:"ops,omitempty"`
	At      time.Time       `bson:"at"`
}

type slipReply struct {
	N    int       `bson:"n"`
	Text string    `bson:"text"`
	Deep []slipTag `bson:"deep,omitempty"`
}

type slipTag struct {
	Name string `bson:"name"`
}

type slipTeaser struct {
	ID    string `bson:"_id"`
	Post  string `bson:"post"`
	Title string `bson:"title"`
}

type slipAuthor struct {
	ID    bson.ObjectID `bson:"_id"`
	Name  string        `bson:"name"`
	Posts int64         `bson:"posts"`
}

type slipNode struct {
	ID     string `bson:"_id"`
	Parent string `bson:"parent"`
	Order  string `bson:"order"`
	Change int64  `bson:"change"`
}

var (
	slipPosts   = model.NewCollection[slipPost, string]("posts")
	slipAuthors = model.NewCollection[slipAuthor, bson.ObjectID]("authors")
	slipList    = embed.NewEmbedded[slipReply](slipPosts, "replies", embed.EmbeddedSpec{Key: "n", Max: 2})
	slipGuard   = embed.NewVersioned(slipPosts, embed.VersionedSpec{Version: "v", Tokens: "ops"})
	slipRecent  = bounded.New(slipPosts, "tags", bounded.Spec{Max: 3})
	slipCopy    = copies.New(slipPosts, model.NewCollection[slipTeaser, string]("teasers"), copies.Spec{
		KeyPath: "post", Fields: []copies.Field{{From: "title", To: "title"}},
	})
	slipPairs = keys.NewComposite(slipPosts.Named("pairs"), keys.Text("author"), keys.Text("title"))
)

// A slip is a mistake that people make, and the error that it gives.
type slip struct {
	name string
	err  func(ctx context.Context, db *mongo.Database) error
}

// The texts of errors for the mistakes that people make are those in testdata/mistakes.txt, which is to be read as a
// whole: each text names the field, the value and the remedy.
func TestMistakes(t *testing.T) {
	db := mongotest.NewClient(t).Database("mistakes")
	if _, err := db.Collection("posts").Indexes().
		CreateOne(t.Context(), mongo.IndexModel{
			Keys: bson.D{{Key: "v", Value: 1}}, Options: options.Index().SetUnique(true),
		}); err != nil {
		t.Fatal(err)
	}
	testkit.Seed(t, db, testkit.Docs{"posts": {
		bson.D{
			{Key: "_id", Value: "go"}, {Key: "title", Value: "Go"}, {Key: "v", Value: int64(3)},
			{Key: "replies", Value: bson.A{
				bson.D{{Key: "n", Value: 1}, {Key: "text", Value: "a"}}, bson.D{{Key: "n", Value: 2}, {Key: "text", Value: "b"}},
			}},
		},
	}})
	var b strings.Builder
	for _, s := range append(append(slipDeclarations(), slipValues()...), slipRuns()...) {
		err := s.err(t.Context(), db)
		if err == nil {
			t.Errorf("%s: no error", s.name)
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", s.name, strings.ReplaceAll(err.Error(), "\n\t", "; "))
	}
	const file = "testdata/mistakes.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./internal/checks -update writes it", err)
	}
	if diff := lineDiff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-golden +generated; -update writes it):\n%s", file, diff)
	}
}

func declaring(name string, f func()) slip {
	return slip{name, func(context.Context, *mongo.Database) error { return testkit.PanicOf(f) }}
}

func slipDeclarations() []slip {
	list := func(path string, spec embed.EmbeddedSpec) func() {
		return func() { embed.NewEmbedded[slipReply](slipPosts, path, spec) }
	}
	n := embed.EmbeddedSpec{Key: "n"}
	return []slip{
		declaring("a typo in a path", list("replys", n)),
		declaring("a Go name in place of the bson tag", list("Replies", n)),
		declaring("a path of a scalar", list("title", n)),
		declaring("elements of another type", list("tags", n)),
		declaring("a nil slice", list("nil", n)),
		declaring("a typo in the key", list("replies", embed.EmbeddedSpec{Key: "number"})),
		declaring("no key", list("replies", embed.EmbeddedSpec{})),
		declaring("a key in an array", list("replies", embed.EmbeddedSpec{Key: "deep.name"})),
		declaring("a negative bound", list("replies", embed.EmbeddedSpec{Key: "n", Max: -1})),
		declaring("a version that is a string", func() {
			embed.NewVersioned(slipPosts, embed.VersionedSpec{Version: "title"})
		}),
		declaring("a version in an array", func() {
			embed.NewVersioned(slipPosts, embed.VersionedSpec{Version: "replies.n"})
		}),
		declaring("a bounded array without a bound", func() { bounded.New(slipPosts, "tags", bounded.Spec{}) }),
		declaring("a reference of another type than the _id", func() {
			parentref.New(slipPosts, "author", slipAuthors, parentref.Spec{})
		}),
		declaring("a counter without a number", func() {
			counter.New(slipPosts, "author", slipPosts, counter.Spec{})
		}),
		declaring("a copy without fields", func() {
			copies.New(slipPosts, slipAuthors, copies.Spec{KeyPath: "name"})
		}),
		declaring("a descending shard key", func() {
			keys.NewShard(slipPosts, bson.D{{Key: "at", Value: -1}}, keys.ShardSpec{})
		}),
		declaring("a composite key of one part", func() { keys.NewComposite(slipPosts, keys.Text("author")) }),
		declaring("a part of the wrong kind", func() {
			keys.NewComposite(slipPosts, keys.Int("author"), keys.Text("title"))
		}),
		declaring("a root that may be an id", func() {
			paths.NewParentTree(model.NewCollection[slipNode, string]("nodes"), paths.TreeSpec{
				Parent: "parent", Order: "parent", Change: "change",
			})
		}),
		declaring("a technique twice", func() { model.New("blog", slipList, slipList) }),
		declaring("a write past the version", func() { model.New("blog", slipList, slipGuard) }),
		declaring("a collection without a name", func() { model.NewCollection[slipPost, string]("") }),
	}
}

func refuses(name string, err error) slip {
	return slip{name, func(context.Context, *mongo.Database) error { return err }}
}

func slipValues() []slip {
	set := func(path string, v any) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: path, Value: v}}}} }
	copying := model.NewStore(model.New("slips", slipCopy), slipPosts).Set("go", bson.D{{Key: "titel", Value: "Go"}})
	_, err := slipPairs.KeyOf("ann", 7)
	return []slip{
		refuses("an empty id", slipPosts.Delete("").Err),
		refuses("a document with an empty id", slipPosts.Insert(slipPost{Title: "Go"}).Err),
		refuses("a filter by a field that doesn't exist", slipPosts.Find(bson.D{{Key: "autor", Value: "ann"}}).Err),
		refuses("a filter by a value of another type", slipPosts.Find(bson.D{{Key: "title", Value: 7}}).Err),
		refuses("a sort by a field that doesn't exist", slipPosts.Find(nil).Sorted(bson.D{{Key: "titel", Value: 1}}).Err),
		refuses("a page after too few values", slipPosts.Find(nil).Sorted(bson.D{{Key: "title", Value: 1}}).After("Go").Err),
		refuses("an update without an operator", slipPosts.Update("go", bson.D{{Key: "title", Value: "Go"}}).Err),
		refuses("an empty update", slipPosts.Update("go", bson.D{}).Err),
		refuses("an update of a typo", slipGuard.Update("go", 3, set("titel", "Go"), testkit.Token(1)).Err),
		refuses("$set of the version", slipGuard.Update("go", 3, set("v", int64(9)), testkit.Token(1)).Err),
		refuses("no token", slipGuard.Update("go", 3, set("title", "Go"), bson.ObjectID{}).Err),
		refuses("a negative version", slipGuard.Update("go", -1, set("title", "Go"), testkit.Token(1)).Err),
		refuses("no element", slipList.Add("go").Err),
		refuses("one element twice", slipList.Add("go", slipReply{N: 3}, slipReply{N: 3}).Err),
		refuses("more elements than the bound", slipList.Add("go", slipReply{N: 3}, slipReply{N: 4}, slipReply{N: 5}).Err),
		refuses("an update of the element's key", slipList.Update("go", 1, set("n", 2)).Err),
		refuses("a field that elements don't have", slipList.Update("go", 1, set("txt", "x")).Err),
		refuses("an element of another type", slipRecent.Push("go", 7).Err),
		refuses("a copied field that doesn't exist", copying.Err),
		refuses("a part of a key of another type", err),
		refuses("two updates of one path",
			model.Merge(slipPosts.Update("go", set("title", "a")), slipPosts.Update("go", set("title", "b"))).Err),
	}
}

func sends(name string, steps ...model.Step) slip {
	return slip{name, func(ctx context.Context, db *mongo.Database) error {
		_, err := model.NewPlan(steps...).Run(ctx, db)
		return err
	}}
}

func slipRuns() []slip {
	update := bson.D{{Key: "$set", Value: bson.D{{Key: "title", Value: "Golang"}}}}
	missing := func(ctx context.Context, db *mongo.Database) error {
		_, err := slipPosts.ByID("java").One(ctx, db)
		return err
	}
	pages := func(f *model.Find[slipPost], token string) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := f.Page(ctx, db, token)
			return err
		}
	}
	transactional := func(ctx context.Context, db *mongo.Database) error {
		p := model.NewPlan(slipPosts.Update("go", update), slipPosts.Update("go", update))
		p.Transactional = true
		_, err := p.Run(ctx, db)
		return err
	}
	return []slip{
		{"a document that doesn't exist", missing},
		sends("an update of a missing document", slipPosts.Update("java", update)),
		sends("a push to a missing owner", slipRecent.Push("java", "new")),
		sends("an element for a missing parent", slipList.Add("java", slipReply{N: 1})),
		sends("an element too many", slipList.Add("go", slipReply{N: 3})),
		sends("an update of a missing element",
			slipList.Update("go", 9, bson.D{{Key: "$set", Value: bson.D{{Key: "text", Value: "x"}}}})),
		sends("a stale write", slipGuard.Update("go", 2, update, testkit.Token(1))),
		sends("a take from the version", slipGuard.Take("go", "v", 99, testkit.Token(1))),
		sends("a duplicate _id", slipPosts.Insert(slipPost{ID: "go", V: 8})),
		sends("a duplicate value of a unique index", slipPosts.Insert(slipPost{ID: "other", V: 3})),
		{"a plan that needs a transaction", transactional},
		{"a page without a size", pages(slipPosts.Find(nil), "")},
		{"a token of something else", pages(slipPosts.Find(nil).Limited(2), "abc")},
		{"no database", func(ctx context.Context, _ *mongo.Database) error {
			_, err := slipPosts.ByID("go").One(ctx, nil)
			return err
		}},
	}
}
