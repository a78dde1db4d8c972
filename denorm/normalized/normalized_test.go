package normalized_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/normalized"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	order struct {
		ID       int         `bson:"_id"`
		Customer *customer   `bson:"customer,omitempty"`
		Items    []orderItem `bson:"items,omitempty"`
		Notes    []string    `bson:"notes,omitempty"`
	}
	customer struct {
		ID   string `bson:"id,omitempty"`
		City string `bson:"city"`
	}
	orderItem struct {
		SKU string `bson:"sku"`
		Qty int    `bson:"qty"`
	}
)

var orders = model.NewCollection[order, int]("customersOrdersAndItems")

// Every kind of part, over orders.
var allRows = normalized.New(orders.Named("source"), "orders",
	normalized.Part{Path: "customer", Into: "customers", Key: "id"}, normalized.Part{Path: "items", Into: "items"},
	normalized.Part{Path: "notes", Into: "notes"})

// normalizedDoc is a random order; customers with one id live in one city.
func normalizedDoc(r *rand.Rand, id int) bson.D {
	d := bson.D{testkit.E("_id", id)}
	switch name := string(rune('a' + r.IntN(6))); r.IntN(5) {
	case 0:
		d = append(d, testkit.E("customer", nil))
	case 1:
	case 2:
		d = append(d, testkit.E("customer", bson.D{testkit.E("city", "$"+name)})) // without an id it stays where it is
	default:
		d = append(d,
			testkit.E("customer", bson.D{
				testkit.E("id", name), testkit.E("city", "$"+name), testkit.E("tags", bson.A{name, nil}),
			}))
	}
	d = append(d, testkit.E("at", id*2))
	list := func(name string, element func() any) {
		switch r.IntN(5) {
		case 0:
			d = append(d, testkit.E(name, nil))
		case 1:
		default:
			a := bson.A{}
			for range r.IntN(4) {
				a = append(a, element())
			}
			d = append(d, testkit.E(name, a))
		}
	}
	list("items", func() any {
		return bson.D{
			testkit.E("sku", "$sku"), testkit.E("qty", r.IntN(9)), testkit.E("more", bson.D{testkit.E("a.b", 1)}),
		}[:1+r.IntN(3)]
	})
	list("notes", func() any { return []any{"$n", nil, 3, bson.A{"x"}}[r.IntN(4)] })
	return d
}

// normalizedDrifts is what the checks of rows find: which row, and whether it is missing, differs or is too many.
func normalizedDrifts(t testing.TB, db *mongo.Database) (found []model.Finding, texts []string) {
	t.Helper()
	for _, c := range allRows.Checks()[:8] {
		list, _ := testkit.FindingsOf(t, db, c)
		for _, f := range list {
			fault := "differs"
			if _, err := f.Detail.LookupErr("want"); err != nil {
				fault = "surplus"
			} else if _, err := f.Detail.LookupErr("found"); err != nil {
				fault = "missing"
			}
			found = append(found, f)
			texts = append(texts, fmt.Sprintf("%s %s %s", fault, f.Collection, model.Shell(f.ID)))
		}
	}
	return found, texts
}

// normalMended runs the job of each check that mends.
func normalMended(ctx context.Context, db *mongo.Database) error {
	for _, c := range allRows.Checks()[:8] {
		if err := testkit.CheckJob(c)(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func normalize(ctx context.Context, db *mongo.Database) error {
	_, err := allRows.Plan(nil).Run(ctx, db)
	return err
}

// Documents that were divided come back as they were, and the checks have nothing to say.
func TestNormalizedThereAndBack(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(4, 4))
		var list []any
		for i := range 80 {
			list = append(list, normalizedDoc(r, i))
		}
		testkit.Seed(t, db, testkit.Docs{"source": list})
		if err := errors.Join(normalize(t.Context(), db),
			model.New("test", allRows).Indexes().Ensure(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		if _, drifts := normalizedDrifts(t, db); drifts != nil {
			t.Errorf("drift: %s", drifts)
		}
		got, err := (&model.Aggregate[bson.D]{Aggregation: allRows.Documents(nil).Aggregation}).All(t.Context(), db)
		if err != nil || len(got) != len(list) {
			t.Fatal(len(got), err)
		}
		slices.SortFunc(got, func(a, b bson.D) int { return int(a[0].Value.(int32) - b[0].Value.(int32)) })
		for i := range got {
			if diff := mongotest.Diff(list[i], got[i], mongotest.IgnoreOrder); diff != "" {
				t.Errorf("order %d:\n%s", i, diff)
			}
		}
		one, err := (&model.Aggregate[bson.D]{
			Aggregation: allRows.Documents(bson.D{testkit.E("_id", 3)}).Aggregation,
		}).All(t.Context(), db)
		if err != nil || len(one) != 1 || one[0][0].Value != int32(3) {
			t.Errorf("one: %v, %v", one, err)
		}
	})
}

// The checks find each kind of drift and nothing else. Their jobs mend it, with a run before and without.
func TestNormalizedRepair(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	source := testkit.Docs{"source": {
		order{ID: 1, Customer: &customer{"ann", "Oslo"}, Items: []orderItem{{"a", 1}, {"b", 2}}, Notes: []string{"x"}},
		order{ID: 2, Customer: &customer{"bob", "Rome"}, Items: []orderItem{{"a", 3}}},
		order{ID: 3, Customer: &customer{City: "Bonn"}},
	}}
	row := func(n int64, of int, fields ...bson.E) bson.D {
		return append(bson.D{testkit.E("_id", bson.D{testkit.E("of", of), testkit.E("n", n)})}, fields...)
	}
	divided := testkit.Docs{
		"orders": {
			bson.D{testkit.E("_id", 1), testkit.E("customer", "ann"), testkit.E("items", 2), testkit.E("notes", 1)},
			bson.D{testkit.E("_id", 2), testkit.E("customer", "bob"), testkit.E("items", 1)},
			bson.D{testkit.E("_id", 3), testkit.E("customer", bson.D{testkit.E("city", "Bonn")})},
		},
		"customers": {
			bson.D{testkit.E("_id", "ann"), testkit.E("city", "Oslo")},
			bson.D{testkit.E("_id", "bob"), testkit.E("city", "Rome")},
		},
		"items": {
			row(0, 1, testkit.E("sku", "a"), testkit.E("qty", 1)),
			row(1, 1, testkit.E("sku", "b"), testkit.E("qty", 2)),
			row(0, 2, testkit.E("sku", "a"), testkit.E("qty", 3)),
		},
		"notes": {row(0, 1, testkit.E("value", "x"))},
	}
	damage := func(ctx context.Context, db *mongo.Database) error {
		del := func(name string, id any) error {
			_, err := db.Collection(name).DeleteOne(ctx, bson.D{testkit.E("_id", id)})
			return err
		}
		set := func(name string, id any, d bson.D) error {
			_, err := db.Collection(name).UpdateOne(ctx, bson.D{testkit.E("_id", id)}, bson.D{testkit.E("$set", d)})
			return err
		}
		return errors.Join(del("orders", 2), del("items", bson.D{testkit.E("of", 1), testkit.E("n", 1)}),
			set("orders", 1, bson.D{testkit.E("items", 7)}),
			set("customers", "ann", bson.D{testkit.E("city", "Bergen")}),
			set("notes", bson.D{testkit.E("of", 1), testkit.E("n", 0)}, bson.D{testkit.E("more", 1)}),
			testkit.Store(ctx, db, testkit.Docs{
				"orders": {bson.D{testkit.E("_id", 9)}},
				"items":  {row(2, 1), row(0, 3), row(0, 9)}, "notes": {row(0, 2)},
				"customers": {bson.D{testkit.E("_id", "zoe")}},
			}))
	}
	for reason, run := range map[string]testkit.DBFunc{
		"checks":           normalMended,
		"a run and checks": testkit.InTurn(normalize, normalMended),
	} {
		t.Run(reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return errors.Join(testkit.Store(ctx, db, source), testkit.Store(ctx, db, divided), damage(ctx, db))
				},
				Run:   run,
				Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, divided) },
			})
		})
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, source)
		if err := errors.Join(normalize(t.Context(), db), damage(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		found, texts := normalizedDrifts(t, db)
		want := []string{
			"differs customers 'ann'", "surplus customers 'zoe'", "missing items {of: 1, n: Long('1')}",
			"surplus items {of: 1, n: Long('2')}", "surplus items {of: 3, n: Long('0')}",
			"surplus items {of: 9, n: Long('0')}", "differs notes {of: 1, n: Long('0')}",
			"surplus notes {of: 2, n: Long('0')}", "differs orders 1", "missing orders 2", "surplus orders 9",
		}
		if !slices.Equal(texts, want) {
			t.Errorf("found\n%s\nwant\n%s", texts, want)
		}
		if d := found[0].Detail; d.Lookup("want", "city").StringValue() != "Oslo" ||
			d.Lookup("found", "city").StringValue() != "Bergen" {
			t.Errorf("differs: %s", d)
		}
		for i, want := range []string{
			"customers 'ann': the row is {_id: 'ann', city: 'Bergen'}, but should be {_id: 'ann', city: 'Oslo'}",
			"customers 'zoe': no document holds this row", "items {of: 1, n: Long('1')}: the row is missing",
		} {
			if got := found[i].String(); got != want {
				t.Errorf("found %s, want %s", got, want)
			}
		}
	})
	testkit.WantDistinctChecks(t, allRows.Checks(), 9)
	testkit.WantRefusedFindings(t, allRows.Checks()...)
	differ, surplus := allRows.Checks()[0], allRows.Checks()[1]
	for c, d := range map[*model.Check]bson.D{
		&differ: {testkit.E("_id", "a")}, &surplus: {testkit.E("_id", "a"), testkit.E("want", bson.D{})},
	} {
		if err := c.Mend([]model.Finding{{Check: c.Name, Detail: testkit.Marshal(d)}}).
			Err(); !errors.As(err, new(*model.ValueError)) {
			t.Errorf("%s takes the other's finding: %v", c.Name, err)
		}
	}
}

// A row of a key is that of the last document that holds it, also where a check reads only some documents. A row that
// was written since it was found stays.
func TestNormalizedMendsAsFound(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"orders":    nil,
			"customers": {bson.D{testkit.E("_id", "bob"), testkit.E("city", "Bonn")}},
			"source": {
				order{ID: 1, Customer: &customer{"ann", "Oslo"}}, order{ID: 2, Customer: &customer{"ann", "Rome"}},
				order{ID: 3, Customer: &customer{"bob", "Rome"}},
			},
		})
		check := allRows.Checks()[0]
		found, _ := testkit.FindingsOf(t, db, check)
		for _, id := range []int{1, 2} {
			some, _ := testkit.FindingsOf(t, db, check.In(bson.D{testkit.E("_id", id)}))
			if len(some) != 1 || some[0].Detail.Lookup("want", "city").StringValue() != "Rome" {
				t.Errorf("of order %d: %v", id, some)
			}
		}
		since := testkit.Docs{
			"customers": {
				bson.D{testkit.E("_id", "ann"), testkit.E("city", "Paris")},
				bson.D{testkit.E("_id", "bob"), testkit.E("city", "Bern")},
			},
		}
		testkit.Seed(t, db, since)
		testkit.MustExec(t, db, check.Mend(found))
		testkit.WantDocs(t, db, since)
		mended := testkit.Docs{
			"customers": {
				bson.D{testkit.E("_id", "ann"), testkit.E("city", "Rome")},
				bson.D{testkit.E("_id", "bob"), testkit.E("city", "Rome")},
			},
		}
		if err := testkit.CheckJob(check)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocs(t, db, mended)
	})
}

// A filter divides some; customers of whom orders differ are found.
func TestNormalizedSome(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"source": {
			order{ID: 1, Customer: &customer{"ann", "Oslo"}}, order{ID: 2, Customer: &customer{"ann", "Rome"}},
			order{ID: 3, Customer: &customer{"bob", "Rome"}}, order{ID: 4, Customer: &customer{"bob", "Rome"}},
		}})
		modeltest.WantCost(t, m, allRows.Plan(nil).Cost(), func() error {
			_, err := allRows.Plan(bson.D{testkit.E("_id", 1)}).Run(t.Context(), db)
			return err
		})
		testkit.WantDocs(t, db, testkit.Docs{
			"orders":    {bson.D{testkit.E("_id", 1), testkit.E("customer", "ann")}},
			"customers": {bson.D{testkit.E("_id", "ann"), testkit.E("city", "Oslo")}},
		})
		conflicts := allRows.Checks()[8]
		found, said := testkit.FindingsOf(t, db, conflicts)
		if !slices.Equal(said, []string{"customers 'ann': the documents have 2 different values for this key"}) ||
			conflicts.Job().Err == nil {
			t.Errorf("conflicts %q", said)
		} else if versions, err := found[0].Detail.Lookup("versions").Array().
			Values(); err != nil || len(versions) != 2 {
			t.Errorf("versions %v, %v", versions, err)
		}
	}, m)
}

// The parts of a row are looked up by index.
func TestNormalizedIndexed(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 3000 {
			list = append(list, order{
				ID:       i,
				Customer: &customer{fmt.Sprint("c", i%1000), "Oslo"},
				Items:    []orderItem{{"a", i}, {"b", i}},
			})
		}
		testkit.Seed(t, db, testkit.Docs{"source": list})
		if err := errors.Join(normalize(t.Context(), db),
			model.New("test", allRows).Indexes().Ensure(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, allRows.Documents(bson.D{testkit.E("_id", 7)}), model.IDIndex)
		// explain is silent on lookups
		asLookedUp := &model.Find[bson.Raw]{
			Query: model.Query{Collection: "items", Filter: bson.D{testkit.E("_id.of", 7)}},
		}
		modeltest.WantIndexed(t, db, asLookedUp, allRows.Indexes()[0].Name)
	})
}

func TestNormalizedDeclarations(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	declare := func(into string, parts ...normalized.Part) func() {
		return func() { normalized.New(orders, into, parts...) }
	}
	items := normalized.Part{Path: "items", Into: "items"}
	for reason, f := range map[string]func(){
		"the documents' collection": declare("customersOrdersAndItems"), "two of one name": declare("items", items),
		"one part twice":            declare("o", items, normalized.Part{Path: "items", Into: "i"}),
		"no name":                   declare("o", normalized.Part{Path: "items"}),
		"no such path":              declare("o", normalized.Part{Path: "item", Into: "i"}),
		"the _id":                   declare("o", normalized.Part{Path: "_id", Into: "i"}),
		"a path within":             declare("o", normalized.Part{Path: "customer.city", Into: "i"}),
		"no array":                  declare("o", normalized.Part{Path: "customer", Into: "i"}),
		"a Key of an array":         declare("o", normalized.Part{Path: "items", Into: "i", Key: "sku"}),
		"no such Key":               declare("o", normalized.Part{Path: "customer", Into: "i", Key: "name"}),
		"a Key of a list of values": declare("o", normalized.Part{Path: "notes", Into: "i", Key: "x"}),
		"rows with an _id": func() {
			type nested struct {
				ID   int     `bson:"_id"`
				List []order `bson:"list"`
			}
			normalized.New(model.NewCollection[nested, int]("n"), "o", normalized.Part{Path: "list", Into: "i"})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if r := allRows.Relations(); len(r) != 3 || r[0].From != "orders" || r[1].To != "orders" {
		t.Errorf("relations %v", r)
	}
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestNormalizedPrices(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	prices := []testkit.Price{testkit.Does("Plan", 4, 0, 0, normalize)}
	for _, c := range allRows.Checks() {
		prices = append(prices, testkit.Reads(c.Name, 0, c.Find()))
	}
	prices = append(prices, testkit.Reads("Documents", 2, allRows.Documents(nil)),
		testkit.Does("a row too many", 1, 1, 0,
			testkit.Stored(testkit.Docs{
				"items": {bson.D{testkit.E("_id", bson.D{testkit.E("of", 9), testkit.E("n", int64(0))})}},
			})),
		testkit.Mending(1, 1, allRows.Checks()[3]))
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{"source": {
		order{ID: 1, Customer: &customer{"ann", "Oslo"}, Items: []orderItem{{"a", 1}}},
		order{ID: 2, Customer: &customer{"bob", "Rome"}, Items: []orderItem{{"a", 3}}},
	}}), prices...)
}

// Mending finds its documents by _id.
func TestNormalizedWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"items": {bson.D{testkit.E("_id", bson.D{testkit.E("of", 9), testkit.E("n", int64(0))})}},
		})
		testkit.WantStepsIndexed(t, db, "Normalized.Checks", model.IDIndex,
			testkit.Mended(t, db, allRows.Checks()[3:4])...)
	})
}
