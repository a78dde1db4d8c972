package model_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var things = model.NewCollection[bson.Raw, any]("things")

// thingValues are of every type that a server sorts, and some are equal though they are stored differently.
func thingValues() []any {
	decimal, _ := bson.ParseDecimal128("2")
	return []any{
		nil, bson.MinKey{}, bson.MaxKey{}, int32(1), int64(1), 1.0, 2.5, decimal, math.NaN(),
		math.Inf(-1), "", "a", "b", "$where", bson.D{}, d("a", 1), d("$gt", 1), bson.Binary{Data: []byte("x")}, oid(1),
		oid(2), true, false, bson.DateTime(1), bson.Timestamp{T: 1},
	}
}

// TestPageOrder: pages of documents with missing fields, nulls and values of all types, forwards and back, are those of
// the server's order.
func TestPageOrder(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(7, 7))
		values := thingValues()
		var all []any
		for i := range 90 {
			doc := d("_id", int32(i*37%90))
			if v := r.IntN(len(values) + 2); v < len(values) {
				doc = append(doc, bson.E{Key: "a", Value: values[v]})
			}
			doc = append(doc, bson.E{Key: "in", Value: d("b", r.Int32N(3))})
			all = append(all, doc)
		}
		if _, err := things.Of(db).InsertMany(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		for _, sort := range []bson.D{
			nil, d("a", 1), d("a", -1), d("in.b", 1, "a", -1), d("a", 1, "in.b", -1), d("in.b", -1, "_id", 1, "a", 1),
		} {
			for _, size := range []int64{1, 7, 30, 90} {
				t.Run(fmt.Sprint(model.Shell(sort), size), func(t *testing.T) {
					walkPages(t, db, things.Find(nil).Sorted(sort).Limited(size), size)
				})
			}
		}
	})
}

// walkPages goes to the last page and back, and compares with what the server sorts.
func walkPages(t *testing.T, db *mongo.Database, find *model.Find[bson.Raw], size int64) {
	t.Helper()
	whole := find.After().Limited(0)
	want, err := whole.All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var pages [][]bson.Raw
	var page model.Page[bson.Raw]
	for token := ""; ; token = page.Next {
		if page, err = find.Page(t.Context(), db, token); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page.Docs)
		if page.HasMore != (int64(len(pages))*size < int64(len(want))) || (page.Previous == "") != (len(pages) == 1) {
			t.Fatalf("page %d: more %v, previous %q", len(pages), page.HasMore, page.Previous)
		}
		if !page.HasMore {
			break
		}
	}
	if got := slices.Concat(pages...); !slices.EqualFunc(got, want, func(a, b bson.Raw) bool {
		return string(a) == string(b)
	}) {
		t.Fatalf("%d documents in pages, want %d, or another order", len(got), len(want))
	}
	for i := len(pages) - 2; i >= 0; i-- {
		if page, err = find.Page(t.Context(), db, page.Previous); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(page.Docs, pages[i], func(a, b bson.Raw) bool { return string(a) == string(b) }) ||
			(page.Previous == "") != (i == 0) || !page.HasMore {
			t.Fatalf("back on page %d: %d documents, previous %q", i+1, len(page.Docs), page.Previous)
		}
	}
}

// TestPageWhileWritten: what is inserted or deleted between two pages moves none of the others.
func TestPageWhileWritten(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(10))
		find := parts.Find(nil).Sorted(d("_id", 1)).Limited(4)
		page := func(token string) model.Page[part] {
			t.Helper()
			p, err := find.Page(t.Context(), db, token)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		ids := func(p model.Page[part]) (out []int32) {
			for _, x := range p.Docs {
				out = append(out, x.ID)
			}
			return out
		}
		first := page("")
		mustRun(t, db, model.NewPlan(parts.Delete(first.Docs[3].ID), parts.Insert(part{ID: -1})))
		second := page(first.Next)
		if got, want := ids(second), []int32{
			first.Docs[3].ID + 1, first.Docs[3].ID + 2, first.Docs[3].ID + 3, first.Docs[3].ID + 4,
		}; !slices.Equal(got, want) {
			t.Errorf("the second page is %v, want %v", got, want)
		}
		for _, x := range page(second.Next).Docs {
			mustRun(t, db, model.NewPlan(parts.Delete(x.ID)))
		}
		third := page(second.Next)
		if len(third.Docs) > 0 || third.HasMore || third.Previous == "" {
			t.Errorf("the third page became empty: %+v", third)
		}
		if got, want := ids(page(third.Previous)), ids(second); !slices.Equal(got, want) {
			t.Errorf("before the empty page are %v, want %v", got, want)
		}
		mustRun(t, db,
			model.NewPlan(parts.Delete(-1), parts.Delete(first.Docs[0].ID), parts.Delete(first.Docs[1].ID),
				parts.Delete(first.Docs[2].ID)))
		empty := page(second.Previous)
		if len(empty.Docs) > 0 || empty.Previous != "" || !slices.Equal(ids(page(empty.Next)), ids(second)) {
			t.Errorf("the first page became empty: %+v", empty)
		}
	})
}

// TestPageBesideWriters: while others insert, change and delete documents, pages hold each document that nobody touches
// once.
func TestPageBesideWriters(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var plan model.Plan
		for i := range int32(60) {
			plan = model.Concat(plan, model.NewPlan(parts.Insert(part{ID: i, Name: fmt.Sprint(i % 7), Qty: i % 5})))
		}
		mustRun(t, db, plan)
		stop, ended := make(chan struct{}), make(chan error, 2)
		for w := range 2 {
			go func() {
				r := rand.New(rand.NewPCG(3, uint64(w)))
				for range 300 { // not endlessly: who writes faster than pages are read keeps the last page away
					select {
					case <-stop:
						ended <- nil
						return
					default:
					}
					id := 3 * r.Int32N(20) // each third one is somebody's
					write := parts.Update(id, d("$set", d("qty", r.Int32N(5))))
					if r.IntN(2) == 0 {
						write = parts.Insert(part{ID: 100 + r.Int32N(2e9), Qty: r.Int32N(5)})
					}
					if _, err := write.Run(t.Context(), db); err != nil && !errors.Is(err, model.ErrStale) {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
		}
		for range 5 {
			seen := map[int32]int{}
			var page model.Page[part]
			for token := ""; token != "" || len(seen) == 0; token = page.Next {
				var err error
				if page, err = parts.Find(nil).Sorted(d("qty", -1, "name", 1)).Limited(7).Page(t.Context(), db, token); err != nil {
					t.Fatal(err)
				}
				for _, x := range page.Docs {
					seen[x.ID]++
				}
			}
			for i := range int32(60) {
				if i%3 > 0 && seen[i] != 1 {
					t.Errorf("document %d came %d times", i, seen[i])
				}
			}
		}
		close(stop)
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
}

// TestPageProjected: a projection keeps the fields of the sort.
func TestPageProjected(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(5))
		type name struct{ Name string }
		names := model.Project[name](parts.Find(nil).Sorted(d("qty", -1)).Limited(2))
		n := 0
		for token := ""; ; {
			p, err := names.Page(t.Context(), db, token)
			if err != nil || slices.Contains(p.Docs, name{}) {
				t.Fatalf("%v, %v", p.Docs, err)
			}
			if n += len(p.Docs); p.Next == "" {
				break
			}
			token = p.Next
		}
		if n != 5 {
			t.Errorf("%d names in pages", n)
		}
		type id struct {
			ID int32 `bson:"_id"`
		}
		var seen []int32
		ids := model.Project[id](parts.Find(nil).Sorted(d("name", 1)).Limited(2))
		for token := ""; len(seen) <= 5; {
			p, err := ids.Page(t.Context(), db, token)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range p.Docs {
				seen = append(seen, x.ID)
			}
			if token = p.Next; token == "" {
				break
			}
		}
		if !slices.Equal(seen, []int32{1, 2, 3, 4, 5}) {
			t.Errorf("in pages of only the _id are %v", seen)
		}
	})
}

// TestPageRefused: what can't be paged, and tokens that are none of the query's, are refused before anything is sent.
func TestPageRefused(t *testing.T) {
	tenancy.Differs(t, "the query of a token has the scope's filter")
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor).Database("test")
	mustRun(t, db, manyParts(3))
	ctx := t.Context()
	find := parts.Find(nil).Limited(1)
	first, err := find.Page(ctx, db, "")
	if err != nil {
		t.Fatal(err)
	}
	skipping, projected := find.Limited(1), find.Limited(1)
	skipping.Skip, projected.Projection = 1, d("qty", 0)
	forged, _ := base64.RawURLEncoding.DecodeString(first.Next)
	monitor.Reset()
	tenant := model.Scope{Tenant: d("tenant", "a")}.On(db)
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(parts.Find(nil).Page(ctx, db, "")), "limit: is missing"},
		{second(skipping.Page(ctx, db, "")), "skip: must be 0: a page is found by its token"},
		{second(find.Sorted(d("qty", "text")).Page(ctx, db, "")), "must be 1 or -1"},
		{second(find.Sorted(d("qty", 1, "qty", 1)).Page(ctx, db, "")), "is given twice: give each field once"},
		{second(courses.Find(nil).Limited(1).Sorted(d("lessons.no", 1)).Page(ctx, db, "")), "is in an array"},
		{second(projected.Sorted(d("qty", 1)).Page(ctx, db, "")), `must include "qty"`},
		{
			err:  second(find.Page(ctx, db, "x")),
			want: "isn't the token of a page: pass the token of the previous page, or \"\" for the first page",
		},
		{
			err:  second(find.Page(ctx, db, "AAAA")),
			want: "isn't the token of a page: pass the token of the previous page, or \"\" for the first page",
		},
		{
			err:  second(find.Page(ctx, db, first.Next[:len(first.Next)-4])),
			want: "isn't the token of a page: pass the token of the previous page, or \"\" for the first page",
		},
		{
			err: second(find.Page(ctx, db,
				base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(forged), "\x10", "\x04", 1))))),
			want: "isn't the token of a page: pass the token of the previous page, or \"\" for the first page",
		},
		{second(find.Sorted(d("qty", 1)).Page(ctx, db, first.Next)), "another query"},
		{second(find.Where(d("qty", 1)).Page(ctx, db, first.Next)), "another query"},
		{second(find.Page(ctx, tenant, first.Next)), "another query"},
		{second(model.Project[struct{ Name string }](find).Page(ctx, db, first.Next)), "another query"},
	} {
		var bad *model.ValueError
		if !errors.As(c.err, &bad) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if n := monitor.Cost().Commands; n != 0 {
		t.Errorf("%d commands", n)
	}
	if p, err := find.Limited(2).Page(ctx, db, first.Next); err != nil || len(p.Docs) != 2 {
		t.Errorf("a page of another size: %v, %v", p, err)
	}
	arrays := d("_id", 9, "a", bson.A{1})
	if _, err := things.Of(db).InsertOne(ctx, arrays); err != nil {
		t.Fatal(err)
	}
	if _, err := things.Find(nil).Sorted(d("a", 1)).Limited(1).Page(ctx, db, ""); err == nil ||
		!strings.Contains(err.Error(),
			"is an array, so a document has several values to sort by, in the document with this _id") {
		t.Errorf("an array: %v", err)
	}
}

// TestPageIndexed: a page costs one command, and is read by the index of its sort, whatever its documents hold.
func TestPageIndexed(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var plan model.Plan
		for i := range int32(2000) {
			plan = model.Concat(plan, model.NewPlan(parts.Insert(part{ID: i, Qty: i / 3})))
		}
		mustRun(t, db, plan)
		if err := model.New("test", wants{ix("qty", 1, "_id", 1)}).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		find := parts.Find(nil).Sorted(d("qty", 1)).Limited(10)
		var first model.Page[part]
		var err error
		if first, err = find.Page(t.Context(), db, ""); err != nil {
			t.Fatal(err)
		}
		modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 11}, func() error {
			_, err := find.Page(t.Context(), db, first.Next)
			return err
		})
		monitor.Reset()
		if _, err := find.Page(t.Context(), db, first.Next); err != nil {
			t.Fatal(err)
		}
		sent := monitor.Commands()[0].Body
		modeltest.WantIndexed(t, db,
			bson.D{
				{Key: "find", Value: "parts"}, {Key: "filter", Value: sent.Lookup("filter")},
				{Key: "sort", Value: sent.Lookup("sort")}, {Key: "limit", Value: 11},
			}, "qty_1__id_1")
	}, monitor)
}
