package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What the tests are about: boards that keep posts, and in a subdocument scores.
type (
	post struct {
		ID string `bson:"id"`
		N  int    `bson:"n"`
	}
	board struct {
		ID    string  `bson:"_id"`
		Name  string  `bson:"name,omitempty"`
		Posts []post  `bson:"posts,omitempty"`
		Stats *scores `bson:"stats,omitempty"`
	}
	scores struct {
		Tops []int64 `bson:"tops,omitempty"`
	}
)

var boards = model.NewCollection[board, string]("boards")

type feedChange = feed.Change[board, string]

// feedCopy is the plan that copies a board's name and number of posts.
func feedCopy(c feedChange) model.Plan {
	id, upsert := bson.D{{Key: "_id", Value: c.ID}}, true
	if c.Kind == model.Deleted {
		return model.NewPlan(model.Write{Collection: "copies", Model: &mongo.DeleteOneModel{Filter: id}})
	}
	return model.NewPlan(model.Write{Collection: "copies", Model: &mongo.ReplaceOneModel{
		Filter: id, Upsert: &upsert,
		Replacement: bson.D{{Key: "name", Value: c.Doc.Name}, {Key: "posts", Value: len(c.Doc.Posts)}},
	}})
}

func newFeed(apply func(feedChange) model.Plan, spec feed.Spec) model.Stream {
	return feed.New(boards, "copies", board{ID: "s", Name: "sample"}, apply, spec).Stream()
}

// feedOnce runs a stream until there is nothing to do.
var feedOnce = model.StreamOptions{Once: true, Wait: time.Millisecond}

func feedRun(t testing.TB, db *mongo.Database, s model.Stream, o model.StreamOptions) (applied int64) {
	t.Helper()
	o.Progress = func(p model.StreamProgress) error { applied = p.Applied; return nil }
	if err := s.Run(t.Context(), db, o); err != nil {
		t.Fatal(err)
	}
	return applied
}

// wantCopies compares the copies with the boards.
func wantCopies(t testing.TB, db *mongo.Database) {
	t.Helper()
	if got, want := feedText(t, db, "copies"), feedText(t, db, "boards"); got != want {
		t.Errorf("the copies are\n%s\nof the boards\n%s", got, want)
	}
}

// feedText shows each document with its name and number of posts.
func feedText(t testing.TB, db *mongo.Database, collection string) string {
	t.Helper()
	cur, err := db.Collection(collection).
		Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for cur.Next(t.Context()) {
		var d struct {
			ID, Name string
			Posts    any
		}
		if err := bson.Unmarshal(cur.Current, &d); err != nil {
			t.Fatal(err)
		}
		posts := d.Posts
		if list, ok := posts.(bson.A); ok || posts == nil {
			posts = len(list)
		}
		out = append(out, fmt.Sprint(cur.Current.Lookup("_id").StringValue(), " ", d.Name, " ", posts))
	}
	return strings.Join(out, "\n")
}

func feedWrite(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A feed fills the copies, follows the changes, and goes on where it stopped.
func TestFeedFollows(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := newFeed(feedCopy, feed.Spec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.ChangeStreams)
		testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "A"}, board{ID: "b", Name: "B"}}})
		if n := feedRun(t, db, feed, feedOnce); n != 2 {
			t.Errorf("%d documents were scanned, want 2", n)
		}
		wantCopies(t, db)
		ctx := t.Context()
		_, err := boards.Insert(board{ID: "c", Name: "C"}).Run(ctx, db)
		feedWrite(t, err)
		_, err = boards.Update("a", bson.D{
			testkit.E("$set", bson.D{testkit.E("posts", []post{{"x", 1}, {"y", 2}})}),
		}).Run(ctx, db)
		feedWrite(t, err)
		_, err = db.Collection("boards").
			ReplaceOne(ctx, bson.D{{Key: "_id", Value: "b"}}, bson.D{{Key: "name", Value: "BB"}})
		feedWrite(t, err)
		_, err = boards.Insert(board{ID: "d", Name: "D"}).Run(ctx, db)
		feedWrite(t, err)
		_, err = boards.Delete("c").Run(ctx, db)
		feedWrite(t, err)
		if n := feedRun(t, db, feed, feedOnce); n != 5 {
			t.Errorf("%d changes were applied, want 5", n)
		}
		wantCopies(t, db)
		if n := feedRun(t, db, feed, feedOnce); n != 0 {
			t.Errorf("%d changes were applied again", n)
		}
	})
}

// What the function is handed of each kind of change.
func TestFeedChanges(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	var got []string
	see := func(c feedChange) model.Plan {
		doc := "none"
		if c.Doc != nil {
			doc = c.Doc.Name
		}
		if c.Token != "sample" && c.Kind != model.Scanned && (c.Token == "" || c.Time.IsZero()) {
			t.Errorf("a change has token %q and time %v", c.Token, c.Time)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %v", c.Kind, c.ID, doc, c.Updated, c.Removed))
		return model.NewPlan(model.Write{Collection: "seen", Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: c.ID}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "k", Value: string(c.Kind)}}}},
		}})
	}
	for _, test := range []struct {
		bare bool
		want string
	}{
		{
			bare: false,
			want: "scanned a A  []\nupdated a AA {\"name\": \"AA\"} [stats]\n" +
				"replaced a R  []\ninserted b B  []\ndeleted b none  []",
		},
		{
			bare: true,
			want: "scanned a A  []\nupdated a none {\"name\": \"AA\"} [stats]\n" +
				"replaced a R  []\nupdated c none {\"name\": \"CC\"} []\ninserted b B  []\ndeleted b none  []",
		},
	} {
		feed := newFeed(see, feed.Spec{Bare: test.bare})
		t.Run(fmt.Sprint("bare ", test.bare), func(t *testing.T) {
			db := mongotest.NewClient(t).Database("feed")
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "A", Stats: &scores{}}}})
			got = nil
			one := feedOnce
			one.Workers = 1
			feedRun(t, db, feed, one)
			b := db.Collection("boards")
			ctx := t.Context()
			_, err := b.UpdateOne(ctx, bson.D{{Key: "_id", Value: "a"}}, bson.D{
				{Key: "$set", Value: bson.D{{Key: "name", Value: "AA"}}},
				{Key: "$unset", Value: bson.D{{Key: "stats", Value: ""}}},
			})
			feedWrite(t, err)
			feedRun(t, db, feed, one)
			_, err = b.ReplaceOne(ctx, bson.D{{Key: "_id", Value: "a"}}, board{ID: "a", Name: "R"})
			feedWrite(t, err)
			feedRun(t, db, feed, one)
			// and c, whose update is gone again
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "R"}, board{ID: "c", Name: "C"}}})
			feedRun(t, db, feed, one)
			got = got[:3]
			_, err = b.UpdateOne(ctx, bson.D{{Key: "_id", Value: "c"}}, bson.D{{
				Key: "$set", Value: bson.D{{Key: "name", Value: "CC"}},
			}})
			feedWrite(t, err)
			_, err = b.DeleteOne(ctx, bson.D{{Key: "_id", Value: "c"}})
			feedWrite(t, err)
			_, err = b.InsertOne(ctx, board{ID: "b", Name: "B"})
			feedWrite(t, err)
			_, err = b.DeleteOne(ctx, bson.D{{Key: "_id", Value: "b"}})
			feedWrite(t, err)
			feedRun(t, db, feed, one)
			have := strings.Replace(strings.Join(got, "\n"), "deleted c none  []\n", "", 1)
			if have != test.want {
				t.Errorf("the changes are\n%s\nwant\n%s", have, test.want)
			}
		})
	}
}

func TestFeedDeclarations(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	write := func(m mongo.WriteModel, collection string) func(feedChange) model.Plan {
		return func(feedChange) model.Plan { return model.NewPlan(model.Write{Collection: collection, Model: m}) }
	}
	id := bson.D{{Key: "_id", Value: "x"}}
	inc := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "x"}}}}
	yes := true
	for _, c := range []struct {
		reason, want string
		apply        func(feedChange) model.Plan
		spec         feed.Spec
	}{
		{"the function is nil", "the function is nil", nil, feed.Spec{}},
		{"adds", "isn't repeatable", write(&mongo.UpdateOneModel{Filter: id, Update: inc}, "c"), feed.Spec{}},
		{
			reason: "pushes", want: "isn't repeatable",
			apply: write(&mongo.UpdateOneModel{
				Filter: id,
				Update: bson.D{{Key: "$push", Value: bson.D{{Key: "n", Value: 1}}}},
			}, "c"),
			spec: feed.Spec{},
		},
		{
			reason: "inserts without an _id", want: "isn't repeatable",
			apply: write(&mongo.InsertOneModel{Document: bson.D{}}, "c"),
			spec:  feed.Spec{},
		},
		{"is transactional", "isn't repeatable", func(feedChange) model.Plan {
			return model.Plan{
				Transactional: true,
				Steps:         []model.Step{model.Write{Collection: "c", Model: &mongo.DeleteOneModel{Filter: id}}},
			}
		}, feed.Spec{}},
		{"adds for deletions only", "deleted: docmodel: the plan isn't repeatable", func(c feedChange) model.Plan {
			if c.Kind != model.Deleted {
				return model.Plan{}
			}
			return write(&mongo.UpdateOneModel{Filter: id, Update: inc}, "c")(c)
		}, feed.Spec{}},
		{
			reason: "has bad input", want: "is nil",
			apply: func(feedChange) model.Plan { return model.NewPlan(model.Refused("c", errors.New("is nil"))) },
			spec:  feed.Spec{},
		},
		{
			reason: "does nothing",
			want:   "the plans for the sample are empty, so they can't be checked",
			apply:  func(feedChange) model.Plan { return model.Plan{} },
			spec:   feed.Spec{},
		},
		{
			reason: "writes to the source", want: "Mark",
			apply: write(&mongo.UpdateOneModel{Filter: id, Update: set}, "boards"),
			spec:  feed.Spec{},
		},
		{
			reason: "replaces in the source", want: "only updates",
			apply: write(&mongo.ReplaceOneModel{Filter: id, Replacement: bson.D{}}, "boards"),
			spec:  feed.Spec{Mark: "feed"},
		},
		{
			reason: "deletes in the source", want: "only updates",
			apply: write(&mongo.DeleteOneModel{Filter: id}, "boards"),
			spec:  feed.Spec{Mark: "feed"},
		},
		{
			reason: "inserts into the source", want: "only updates",
			apply: write(&mongo.InsertOneModel{Document: id}, "boards"),
			spec:  feed.Spec{Mark: "feed"},
		},
		{
			reason: "upserts into the source", want: "only updates",
			apply: write(&mongo.UpdateOneModel{Filter: id, Update: set, Upsert: &yes}, "boards"),
			spec:  feed.Spec{Mark: "feed"},
		},
		{"merges into the source", "$merge or $out", func(feedChange) model.Plan {
			return model.NewPlan(model.MergeInto{
				Collection: "c", Idempotent: true,
				Pipeline: mongo.Pipeline{{{Key: "$merge", Value: bson.D{{Key: "into", Value: "boards"}}}}},
			})
		}, feed.Spec{Mark: "feed"}},
		{"merges by a pipeline into the source", "$merge or $out", func(feedChange) model.Plan {
			into := bson.D{{Key: "into", Value: "boards"}, {Key: "whenMatched", Value: mongo.Pipeline{set}}}
			return model.NewPlan(model.MergeInto{
				Collection: "c", Idempotent: true,
				Pipeline: mongo.Pipeline{{{Key: "$merge", Value: into}}},
			})
		}, feed.Spec{Mark: "feed"}},
		{"updates by a pipeline beside a $merge", "runs in a transaction", func(feedChange) model.Plan {
			into := bson.D{{Key: "into", Value: "others"}, {Key: "whenMatched", Value: mongo.Pipeline{set}}}
			return model.NewPlan(
				model.Write{
					Collection: "boards", Idempotent: true,
					Model: &mongo.UpdateOneModel{Filter: id, Update: mongo.Pipeline{set}},
				},
				model.MergeInto{
					Collection: "c", Idempotent: true, Pipeline: mongo.Pipeline{{{Key: "$merge", Value: into}}},
				},
			)
		}, feed.Spec{Mark: "feed"}},
		{
			reason: "sets what is polled by", want: "sets the field name",
			apply: write(&mongo.UpdateOneModel{Filter: id, Update: set}, "boards"),
			spec:  feed.Spec{Mark: "feed", Since: "name"},
		},
		{
			reason: "sets the mark", want: "feed",
			apply: write(&mongo.UpdateOneModel{
				Filter: id,
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "feed", Value: 1}}}},
			}, "boards"),
			spec: feed.Spec{Mark: "feed"},
		},
		{"a dotted mark", "Mark", feedCopy, feed.Spec{Mark: "a.b"}},
		{"a mark of another type", "Mark", feedCopy, feed.Spec{Mark: "posts"}},
		{"no such field", "nosuch", feedCopy, feed.Spec{Since: "nosuch"}},
		{"a field that doesn't grow", "Since", feedCopy, feed.Spec{Since: "stats"}},
		{"a field in an array", "Since", feedCopy, feed.Spec{Since: "posts.n"}},
		{"an overlap of strings", "Overlap", feedCopy, feed.Spec{Since: "name", Overlap: time.Second}},
		{"an overlap of nothing", "Overlap", feedCopy, feed.Spec{Overlap: time.Second}},
		{"places in the source", "Places", feedCopy, feed.Spec{Places: "boards"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			defer func() {
				e, ok := recover().(*model.DeclarationError)
				if !ok || !strings.Contains(e.Error(), c.want) {
					t.Errorf("panics with %v, want a DeclarationError about %q", e, c.want)
				}
			}()
			newFeed(c.apply, c.spec)
		})
	}
}

// What the function is tried on: the sample as it will meet documents, in a value of its own.
func TestFeedSample(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, bare := range []bool{false, true} {
		var got []string
		sample := board{ID: "s", Posts: []post{{"a", 1}}}
		newSample := func(c feedChange) model.Plan {
			got = append(got, fmt.Sprint(c.Kind, " ", c.ID, " ", c.Doc != nil))
			if c.Doc != nil {
				c.Doc.Posts[0].ID = "changed"
			}
			return model.NewPlan(model.Write{
				Collection: "c",
				Model:      &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: c.ID}}},
			})
		}
		feed.New(boards, "f", sample, newSample, feed.Spec{Bare: bare})
		want := fmt.Sprintf("[inserted s true updated s %v replaced s true deleted s false scanned s true]", !bare)
		if fmt.Sprint(got) != want || sample.Posts[0].ID != "a" {
			t.Errorf("bare %v: tried on %v, want %s; the sample is now %v", bare, got, want, sample)
		}
	}
}

// A feed that updates what it watches passes over its own updates, by operators and by a pipeline.
func TestFeedOwnWrites(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, pipeline := range []bool{false, true} {
		var mu sync.Mutex
		seen := 0
		upper := func(c feedChange) model.Plan {
			mu.Lock()
			seen++
			mu.Unlock()
			if c.Doc == nil {
				return model.Plan{}
			}
			fields := bson.D{{Key: "name", Value: strings.ToUpper(c.Doc.Name)}}
			w := model.Write{Collection: "boards", Idempotent: true, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: c.ID}}, Update: bson.D{{Key: "$set", Value: fields}},
			}}
			if pipeline {
				w.Model = &mongo.UpdateOneModel{
					Filter: bson.D{{Key: "_id", Value: c.ID}},
					Update: mongo.Pipeline{{{Key: "$set", Value: fields}}},
				}
			}
			return model.NewPlan(w)
		}
		feed := newFeed(upper, feed.Spec{Mark: "upper"})
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			mongotest.Need(t, db, mongotest.ChangeStreams)
			testkit.Seed(t, db, testkit.Docs{"boards": {board{ID: "a", Name: "a"}, board{ID: "b", Name: "b"}}})
			names := func(want string) {
				t.Helper()
				seen = 0
				for range 3 {
					feedRun(t, db, feed, feedOnce)
				}
				if got := feedText(t, db, "boards"); got != want {
					t.Errorf("the boards are\n%s\nwant\n%s", got, want)
				}
			}
			names("a A 0\nb B 0")
			if seen != 2 {
				t.Errorf("the scan made %d changes, want 2", seen)
			}
			for _, n := range []string{"x", "y"} {
				_, err := db.Collection("boards").
					UpdateMany(t.Context(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: n}}}})
				feedWrite(t, err)
				names(fmt.Sprintf("a %[1]s 0\nb %[1]s 0", strings.ToUpper(n)))
				if seen != 2 {
					t.Errorf("two updates made %d changes", seen)
				}
			}
		})
	}
}

// The job of a feed can be cut anywhere, between the writes of one document's plan too.
func TestFeedJobFaults(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	feed := feed.New(boards, "copies", board{ID: "s", Name: "sample"}, feedTwice, feed.Spec{})
	testkit.RunFaults(t, map[string]modeltest.FaultCase{"job": {
		Seed: func(ctx context.Context, db *mongo.Database) error {
			var list []any
			for i := range 5 {
				list = append(list, board{ID: fmt.Sprint("b", i), Name: "n", Posts: []post{{"a", 1}, {"b", 2}}[:i%3]})
			}
			return testkit.Store(ctx, db, testkit.Docs{"boards": list})
		},
		Run: testkit.InBatchesOf(2, feed.Rebuild()),
		Check: func(t testing.TB, db *mongo.Database) {
			wantCopies(t, db)
			if got, want := feedText(t, db, "second"), feedText(t, db, "boards"); got != want {
				t.Errorf("the second copies are\n%s\nof the boards\n%s", got, want)
			}
		},
	}})
}

// What each operation costs that no other test measures is what its value says.
func TestFeedPrices(t *testing.T) {
	testkit.Parallel(t)
	var list []any
	for i := range 3 {
		list = append(list, board{ID: fmt.Sprint("b", i)})
	}
	feed := feed.New(boards, "copies", board{ID: "s", Name: "n"}, feedCopy, feed.Spec{})
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{"boards": list}),
		testkit.Does("Rebuild", 4, 3, 3, testkit.InBatchesOf(500, feed.Rebuild())))
}
