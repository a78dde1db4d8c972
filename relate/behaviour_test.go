package relate_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Types of documents that several tests share, under names of their own: each type takes its time to compile. A named
// document is what others refer to; a bareEnd holds ids of others, singly or in lists.
type (
	named struct {
		ID   string `bson:"_id"`
		Size int    `bson:"size,omitempty"`
		Rack string `bson:"rack,omitempty"`
	}
	bareEnd struct {
		ID     string   `bson:"_id"`
		Name   string   `bson:"name,omitempty"`
		Owner  string   `bson:"owner,omitempty"`
		Screws []string `bson:"screws,omitempty"`
		Items  []string `bson:"items,omitempty"`
		Peers  []string `bson:"peers,omitempty"`
	}
)

// What the tests are about: gadgets list their screws by bare ids, folios their shares by elements, entries hold the id
// of their server, and tags hang below a field of their owner.
type (
	gadget  = bareEnd
	screw   = named
	holding struct {
		ShareID int64 `bson:"shareId"`
		Number  int64 `bson:"number,omitempty"`
	}
	folio struct {
		ID       bson.ObjectID `bson:"_id"`
		Holdings []holding     `bson:"holdings,omitempty"`
	}
	share  = thing
	server = named
	entry  struct {
		ID     int       `bson:"_id"`
		Server string    `bson:"server,omitempty"`
		At     time.Time `bson:"at"`
	}
)

var (
	gadgets = model.NewCollection[gadget, string]("gadgets")
	screws  = model.NewCollection[screw, string]("screws")
	folios  = model.NewCollection[folio, bson.ObjectID]("folios")
	shares  = model.NewCollection[share, int64]("shares")
	servers = model.NewCollection[server, string]("servers")
	entries = model.NewCollection[entry, int]("entries")

	uses    = relate.NewChildRefs(gadgets, "screws", screws)
	holds   = relate.NewChildRefs(folios, "holdings.shareId", shares)
	writes  = relate.NewParentRef(entries, "server", servers, relate.ParentRefSpec{By: "at"})
	ordered = relate.NewParentRef(entries, "server", servers)
	byID    = relate.NewParentRef(entries.Named("entriesById"), "server", servers)
)

// errRefused stands for any *model.ValueError in a table of cases.
var errRefused = errors.New("refused with a *model.ValueError")

// errFull stands for any *relate.FullError.
var errFull = errors.New("refused with a *relate.FullError")

// oid is an ObjectID that ends in n.
func oid(n byte) bson.ObjectID { return bson.ObjectID{0x50, 11: n} }

// at is a time some minutes after noon.
func at(minutes int) time.Time { return time.Date(2014, 3, 28, 12, minutes, 0, 0, time.UTC) }

// writeCase is a write (or a plan) to a database that holds the documents before, and what it leaves.
type writeCase struct {
	reason string
	before docs
	plan   model.Plan
	after  docs // nil means as before
	status model.Status
	err    error        // nil, model.ErrStale or errRefused
	again  model.Status // of a second run, which must change nothing
}

// docs are the documents of each collection, in any order.
type docs map[string][]any

func one(w model.Write) model.Plan { return model.NewPlan(w) }

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
	result, err := c.plan.Run(t.Context(), db)
	wantError(t, err, c.err)
	wantDocs(t, db, after)
	if c.err != nil {
		return
	}
	for i, s := range result.Steps {
		if s.Status != c.status {
			t.Errorf("step %d: status %d, want %d", i+1, s.Status, c.status)
		}
	}
	result, err = c.plan.Run(t.Context(), db)
	if err != nil {
		t.Fatalf("run again: %v", err)
	}
	if last := result.Steps[len(result.Steps)-1]; last.Status != c.again {
		t.Errorf("run again: status %d, want %d", last.Status, c.again)
	}
	wantDocs(t, db, after)
}

// seed empties the collections that are named and stores the documents.
func seed(t testing.TB, db *mongo.Database, d docs) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
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

// wantDocs compares the collections that are named with what is stored.
func wantDocs(t testing.TB, db *mongo.Database, want docs) {
	t.Helper()
	for name, list := range want {
		cur, err := db.Collection(name).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for cur.Next(t.Context()) {
			got = append(got, bson.Raw(bytes.Clone(cur.Current)))
		}
		if err := cur.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := modeltest.Diff(sortedDocs(t, list), sortedDocs(t, got), modeltest.IgnoreOrder()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// sortedDocs encodes documents and puts them in one order.
func sortedDocs(t testing.TB, list []any) []bson.Raw {
	t.Helper()
	out := make([]bson.Raw, len(list))
	for i, d := range list {
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = raw
	}
	slices.SortFunc(out, func(a, b bson.Raw) int {
		return strings.Compare(model.Shell(a.Lookup("_id")), model.Shell(b.Lookup("_id")))
	})
	return out
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	var bad *model.ValueError
	var full *relate.FullError
	switch {
	case want == nil && err != nil:
		t.Fatalf("error %v", err)
	case want == errRefused && !errors.As(err, &bad):
		t.Fatalf("error %v, want a *model.ValueError", err)
	case want == errFull && !errors.As(err, &full):
		t.Fatalf("error %v, want a *relate.FullError", err)
	case want != nil && want != errRefused && want != errFull && !errors.Is(err, want):
		t.Fatalf("error %v, want %v", err, want)
	}
}

// all runs a query or a pipeline.
func all[R any](t testing.TB, db *mongo.Database, q interface {
	All(context.Context, *mongo.Database) ([]R, error)
}) []R {
	t.Helper()
	list, err := q.All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// idsOf lists what f gives for each value.
func idsOf[R, K any](list []R, f func(R) K) []K {
	out := make([]K, len(list))
	for i, r := range list {
		out[i] = f(r)
	}
	return out
}

func wantIDs[K comparable](t testing.TB, got, want []K) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
