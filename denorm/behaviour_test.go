package denorm_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What the tests are about: boards that keep a few posts, and in a subdocument a few scores.
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

var (
	boards = model.NewCollection[board, string]("boards")

	byN    = bson.D{{Key: "n", Value: 1}, {Key: "id", Value: 1}}
	byNTop = bson.D{{Key: "n", Value: -1}, {Key: "id", Value: 1}}

	last     = bounded(denorm.BoundedSpec{Max: 3})
	first    = bounded(denorm.BoundedSpec{Max: 3, Keep: denorm.First})
	newest   = bounded(denorm.BoundedSpec{Max: 3, By: byN})
	topmost  = bounded(denorm.BoundedSpec{Max: 3, By: byNTop, Keep: denorm.First})
	lastKey  = bounded(denorm.BoundedSpec{Max: 3, Key: "id"})
	firstKey = bounded(denorm.BoundedSpec{Max: 3, Key: "id", Keep: denorm.First})
	newKey   = bounded(denorm.BoundedSpec{Max: 3, Key: "id", By: byN})
	topKey   = bounded(denorm.BoundedSpec{Max: 3, Key: "id", By: byNTop, Keep: denorm.First})
	tops     = denorm.NewBounded(boards, "stats.tops", denorm.BoundedSpec{Max: 2, Keep: denorm.First, By: bson.D{{Key: "", Value: -1}}})
)

func bounded(spec denorm.BoundedSpec) *denorm.Bounded[board, string] {
	return denorm.NewBounded(boards, "posts", spec)
}

// posts writes "a3 b1" for the posts a with n 3 and b with n 1.
func posts(notation ...string) []post {
	list := make([]post, len(notation))
	for i, s := range notation {
		list[i] = post{ID: s[:1], N: int(s[1] - '0')}
	}
	return list
}

// with is the board b with posts.
func with(notation ...string) docs {
	return docs{"boards": {board{ID: "b", Posts: posts(notation...)}}}
}

// elements are the posts as Push takes them.
func elements(notation ...string) []any {
	var out []any
	for _, p := range posts(notation...) {
		out = append(out, p)
	}
	return out
}

var errRefused = errors.New("refused with a *model.ValueError")

// docs are the documents of each collection, in the order of _id.
type docs map[string][]any

// writeCase is a write to a database that holds the documents before, and what it leaves.
type writeCase struct {
	reason string
	before docs
	write  model.Write
	after  docs // nil means as before
	status model.Status
	err    error        // nil, model.ErrStale or errRefused
	again  model.Status // of a second run, which must change nothing; NotSent means that it isn't run
}

func runWriteCases(t *testing.T, cases []writeCase) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) { c.run(t, db) })
		}
	})
}

func (c writeCase) run(t *testing.T, db *mongo.Database) {
	seed(t, db, c.before)
	after := c.after
	if after == nil {
		after = c.before
	}
	result, err := c.write.Run(t.Context(), db)
	wantError(t, err, c.err)
	wantDocs(t, db, after)
	if c.err != nil {
		return
	}
	if s := result.Steps[0].Status; s != c.status {
		t.Errorf("status %d, want %d", s, c.status)
	}
	if c.again == model.NotSent {
		return
	}
	result, err = c.write.Run(t.Context(), db)
	if err != nil {
		t.Fatalf("run again: %v", err)
	}
	if s := result.Steps[0].Status; s != c.again {
		t.Errorf("run again: status %d, want %d", s, c.again)
	}
	wantDocs(t, db, after)
}

// parallel lets a test run beside others on the engine. On a server they run one after the other, for their databases are one
// server's.
func parallel(t *testing.T) {
	t.Helper()
	if os.Getenv(modeltest.EnvURI) == "" {
		t.Parallel()
	}
}

// seed empties the collections and stores the documents.
func seed(t testing.TB, db *mongo.Database, d docs) {
	t.Helper()
	for name := range d {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

func store(ctx context.Context, db *mongo.Database, d docs) error {
	for name, list := range d {
		if len(list) == 0 {
			continue
		}
		if _, err := db.Collection(name).InsertMany(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

func wantDocs(t testing.TB, db *mongo.Database, want docs) {
	t.Helper()
	for name, list := range want {
		cur, err := db.Collection(name).Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		got := []bson.D{}
		if err := cur.All(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := modeltest.Diff(list, got, modeltest.IgnoreOrder()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	var bad *model.ValueError
	switch {
	case want == nil && err != nil:
		t.Fatalf("error %v", err)
	case want == errRefused && !errors.As(err, &bad):
		t.Fatalf("error %v, want a *model.ValueError", err)
	case want != nil && want != errRefused && !errors.Is(err, want):
		t.Fatalf("error %v, want %v", err, want)
	}
}
