package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Every kind of part, over orders.
var allRows = denorm.NewNormalized(orders.Named("source"), "orders",
	denorm.Part{Path: "customer", Into: "customers", Key: "id"}, denorm.Part{Path: "items", Into: "items"}, denorm.Part{Path: "notes", Into: "notes"})

// normalizedDoc is a random order; customers with one id live in one city.
func normalizedDoc(r *rand.Rand, id int) bson.D {
	d := bson.D{e("_id", id)}
	switch name := string(rune('a' + r.IntN(6))); r.IntN(5) {
	case 0:
		d = append(d, e("customer", nil))
	case 1:
	case 2:
		d = append(d, e("customer", bson.D{e("city", "$"+name)})) // without an id it stays where it is
	default:
		d = append(d, e("customer", bson.D{e("id", name), e("city", "$"+name), e("tags", bson.A{name, nil})}))
	}
	d = append(d, e("at", id*2))
	list := func(name string, element func() any) {
		switch r.IntN(5) {
		case 0:
			d = append(d, e(name, nil))
		case 1:
		default:
			a := bson.A{}
			for range r.IntN(4) {
				a = append(a, element())
			}
			d = append(d, e(name, a))
		}
	}
	list("items", func() any {
		return bson.D{e("sku", "$sku"), e("qty", r.IntN(9)), e("more", bson.D{e("a.b", 1)})}[:1+r.IntN(3)]
	})
	list("notes", func() any { return []any{"$n", nil, 3, bson.A{"x"}}[r.IntN(4)] })
	return d
}

func normalizedDrifts(t testing.TB, db *mongo.Database) (found []denorm.NormalizedDrift, texts []string) {
	t.Helper()
	for _, c := range allRows.Check() {
		list, err := c.All(context.Background(), db)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		for _, d := range list {
			found = append(found, d)
			texts = append(texts, fmt.Sprintf("%s %s %s", d.Fault, d.Into, model.Shell(d.ID)))
		}
	}
	return found, texts
}

func normalize(ctx context.Context, db *mongo.Database) error {
	_, err := allRows.Plan(nil).Run(ctx, db)
	return err
}

// Documents that were divided come back as they were, and the checks have nothing to say.
func TestNormalizedThereAndBack(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(4, 4))
		var list []any
		for i := range 80 {
			list = append(list, normalizedDoc(r, i))
		}
		seed(t, db, docs{"source": list})
		if err := errors.Join(normalize(t.Context(), db), model.Indexes(allRows).Ensure(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		if _, drifts := normalizedDrifts(t, db); drifts != nil {
			t.Errorf("drift: %s", drifts)
		}
		got, err := model.Aggregate[bson.D](allRows.Documents(nil)).All(t.Context(), db)
		if err != nil || len(got) != len(list) {
			t.Fatal(len(got), err)
		}
		slices.SortFunc(got, func(a, b bson.D) int { return int(a[0].Value.(int32) - b[0].Value.(int32)) })
		for i := range got {
			if diff := modeltest.Diff(list[i], got[i], modeltest.IgnoreOrder()); diff != "" {
				t.Errorf("order %d:\n%s", i, diff)
			}
		}
		one, err := model.Aggregate[bson.D](allRows.Documents(bson.D{e("_id", 3)})).All(t.Context(), db)
		if err != nil || len(one) != 1 || one[0][0].Value != int32(3) {
			t.Errorf("one: %v, %v", one, err)
		}
	})
}

// Each kind of drift is found, nothing else is, and a run and a pruning mend it.
func TestNormalizedRepair(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	source := docs{"source": {
		order{ID: 1, Customer: &customer{"ann", "Oslo"}, Items: []orderItem{{"a", 1}, {"b", 2}}, Notes: []string{"x"}},
		order{ID: 2, Customer: &customer{"bob", "Rome"}, Items: []orderItem{{"a", 3}}}, order{ID: 3, Customer: &customer{City: "Bonn"}},
	}}
	row := func(n int64, of int, fields ...bson.E) bson.D {
		return append(bson.D{e("_id", bson.D{e("of", of), e("n", n)})}, fields...)
	}
	divided := docs{
		"orders": {
			bson.D{e("_id", 1), e("customer", "ann"), e("items", 2), e("notes", 1)}, bson.D{e("_id", 2), e("customer", "bob"), e("items", 1)},
			bson.D{e("_id", 3), e("customer", bson.D{e("city", "Bonn")})},
		},
		"customers": {bson.D{e("_id", "ann"), e("city", "Oslo")}, bson.D{e("_id", "bob"), e("city", "Rome")}},
		"items":     {row(0, 1, e("sku", "a"), e("qty", 1)), row(1, 1, e("sku", "b"), e("qty", 2)), row(0, 2, e("sku", "a"), e("qty", 3))},
		"notes":     {row(0, 1, e("value", "x"))},
	}
	damage := func(ctx context.Context, db *mongo.Database) error {
		del := func(name string, id any) error {
			_, err := db.Collection(name).DeleteOne(ctx, bson.D{e("_id", id)})
			return err
		}
		set := func(name string, id any, d bson.D) error {
			_, err := db.Collection(name).UpdateOne(ctx, bson.D{e("_id", id)}, bson.D{e("$set", d)})
			return err
		}
		return errors.Join(del("orders", 2), del("items", bson.D{e("of", 1), e("n", 1)}), set("orders", 1, bson.D{e("items", 7)}),
			set("customers", "ann", bson.D{e("city", "Bergen")}), set("notes", bson.D{e("of", 1), e("n", 0)}, bson.D{e("more", 1)}),
			store(ctx, db, docs{"orders": {bson.D{e("_id", 9)}}, "items": {row(2, 1), row(0, 3), row(0, 9)}, "notes": {row(0, 2)}, "customers": {bson.D{e("_id", "zoe")}}}))
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(store(ctx, db, source), store(ctx, db, divided), damage(ctx, db))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			if err := normalize(ctx, db); err != nil {
				return err
			}
			var found []denorm.NormalizedDrift
			for _, c := range allRows.Check() {
				list, err := c.All(ctx, db)
				if err != nil {
					return err
				}
				found = append(found, list...)
			}
			_, err := allRows.Prune(found).Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { wantDocs(t, db, divided) },
	})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, source)
		if err := errors.Join(normalize(t.Context(), db), damage(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		found, texts := normalizedDrifts(t, db)
		want := []string{
			"staleCopy customers 'ann'", "surplus customers 'zoe'", "missing items {of: 1, n: Long('1')}", "surplus items {of: 1, n: Long('2')}", "surplus items {of: 3, n: Long('0')}",
			"surplus items {of: 9, n: Long('0')}", "staleCopy notes {of: 1, n: Long('0')}", "surplus notes {of: 2, n: Long('0')}", "staleCopy orders 1", "missing orders 2", "surplus orders 9",
		}
		if !slices.Equal(texts, want) {
			t.Errorf("found\n%s\nwant\n%s", texts, want)
		}
		if d := found[0]; d.Want.Lookup("city").StringValue() != "Oslo" || d.Found.Lookup("city").StringValue() != "Bergen" {
			t.Errorf("stale %s, %s", d.Want, d.Found)
		}
		if n := len(allRows.Prune(found).Steps); n != 6 {
			t.Errorf("%d rows pruned", n)
		}
	})
	for _, d := range []denorm.NormalizedDrift{{Into: "items"}, {Into: "source", ID: bson.RawValue{Type: bson.TypeBoolean, Value: []byte{1}}}} {
		if _, err := allRows.Prune([]denorm.NormalizedDrift{d}).Run(t.Context(), nil); err == nil {
			t.Errorf("%v is taken", d)
		}
	}
}

// A filter divides some; customers of whom orders differ are found.
func TestNormalizedSome(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"source": {
			order{ID: 1, Customer: &customer{"ann", "Oslo"}}, order{ID: 2, Customer: &customer{"ann", "Rome"}}, order{ID: 3, Customer: &customer{"bob", "Rome"}}, order{ID: 4, Customer: &customer{"bob", "Rome"}},
		}})
		modeltest.WantCost(t, m, allRows.Plan(nil).Cost(), func() error {
			_, err := allRows.Plan(bson.D{e("_id", 1)}).Run(t.Context(), db)
			return err
		})
		wantDocs(t, db, docs{"orders": {bson.D{e("_id", 1), e("customer", "ann")}}, "customers": {bson.D{e("_id", "ann"), e("city", "Oslo")}}})
		conflicts, err := allRows.Conflicts()[0].All(t.Context(), db)
		if err != nil || len(conflicts) != 1 || conflicts[0].Key.StringValue() != "ann" || len(conflicts[0].Versions) != 2 {
			t.Errorf("conflicts %v, %v", conflicts, err)
		}
	}, modeltest.WithMonitor(m))
}

// The parts of a row are looked up by index.
func TestNormalizedIndexed(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 3000 {
			list = append(list, order{ID: i, Customer: &customer{fmt.Sprint("c", i%1000), "Oslo"}, Items: []orderItem{{"a", i}, {"b", i}}})
		}
		seed(t, db, docs{"source": list})
		if err := errors.Join(normalize(t.Context(), db), model.Indexes(allRows).Ensure(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, allRows.Documents(bson.D{e("_id", 7)}), model.IDIndex)
		asLookedUp := model.Find[bson.Raw]{Query: model.Query{Collection: "items", Filter: bson.D{e("_id.of", 7)}}} // explain is silent on lookups
		modeltest.WantIndexed(t, db, asLookedUp, allRows.Indexes()[0].Name)
	})
}

func TestNormalizedDeclarations(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	declare := func(into string, parts ...denorm.Part) func() {
		return func() { denorm.NewNormalized(orders, into, parts...) }
	}
	items := denorm.Part{Path: "items", Into: "items"}
	for reason, f := range map[string]func(){
		"the documents' collection": declare("customersOrdersAndItems"), "two of one name": declare("items", items), "one part twice": declare("o", items, denorm.Part{Path: "items", Into: "i"}),
		"no name": declare("o", denorm.Part{Path: "items"}), "no such path": declare("o", denorm.Part{Path: "item", Into: "i"}), "the _id": declare("o", denorm.Part{Path: "_id", Into: "i"}),
		"a path within": declare("o", denorm.Part{Path: "customer.city", Into: "i"}), "no array": declare("o", denorm.Part{Path: "customer", Into: "i"}),
		"a Key of an array": declare("o", denorm.Part{Path: "items", Into: "i", Key: "sku"}), "no such Key": declare("o", denorm.Part{Path: "customer", Into: "i", Key: "name"}),
		"a Key of a list of values": declare("o", denorm.Part{Path: "notes", Into: "i", Key: "x"}),
		"rows with an _id": func() {
			type nested struct {
				ID   int       `bson:"_id"`
				List []article `bson:"list"`
			}
			denorm.NewNormalized(model.NewCollection[nested, int]("n"), "o", denorm.Part{Path: "list", Into: "i"})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if r := allRows.Relations(); len(r) != 3 || r[0].From != "orders" || r[1].To != "orders" {
		t.Errorf("relations %v", r)
	}
}
