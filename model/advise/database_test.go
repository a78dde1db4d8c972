package advise_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/mongotest"
)

// shop stores a database of every kind of relation: ids, lists of ids, ids in documents of a list, numbers, embedded
// arrays, and what only looks like one.
func shop(t *testing.T, db *mongo.Database) {
	t.Helper()
	id := func(kind, n int) bson.ObjectID {
		return bson.ObjectID{0x65, 0x92, 0, byte(n), byte(kind), byte(n >> 8)}
	}
	insert := func(name string, n int, doc func(i int) bson.D) {
		docs := make([]any, n)
		for i := range docs {
			docs[i] = doc(i)
		}
		if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	insert("customers", 40, func(i int) bson.D {
		return bson.D{
			{Key: "_id", Value: id(1, i)}, {Key: "name", Value: fmt.Sprint("customer ", i)}, {Key: "age", Value: i % 40},
		}
	})
	insert("products", 30, func(i int) bson.D {
		return bson.D{
			{Key: "_id", Value: fmt.Sprint("p", i)},
			{Key: "categories", Value: bson.A{i % 7, (i + 1) % 7}},
			{Key: "sold", Value: i % 7},
		}
	})
	insert("categories", 7, func(i int) bson.D {
		return bson.D{{Key: "_id", Value: i}, {Key: "title", Value: fmt.Sprint("c", i)}}
	})
	insert("orders", 120, func(i int) bson.D {
		return bson.D{
			{Key: "_id", Value: id(2, i)},
			{Key: "buyer", Value: bson.D{{Key: "ref", Value: id(1, i%40)}}},
			{Key: "lines", Value: bson.A{
				bson.D{{Key: "product", Value: fmt.Sprint("p", i%30)}, {Key: "qty", Value: 1}},
				bson.D{{Key: "product", Value: fmt.Sprint("p", (i+3)%30)}, {Key: "qty", Value: 2}},
			}},
			{Key: "coupon", Value: id(9, i)},
		}
	})
	if _, err := db.Collection("orders").Indexes().
		CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "coupon", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateCollection(t.Context(), "empty"); err != nil {
		t.Fatal(err)
	}
}

func TestSurveyDatabase(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		shop(t, db)
		s, err := advise.SurveyDatabase(t.Context(), db, advise.SurveySpec{Scan: true})
		if err != nil {
			t.Fatal(err)
		}
		var names, relations []string
		most := int64(0)
		if strings.HasSuffix(t.Name(), "/server") {
			most = 2 // PostgreSQL's planner may look up the greatest value in an index, and counts that as a use
		}
		for _, c := range s.Collections {
			names = append(names, fmt.Sprint(c.Name, " ", c.Sampled.N, " of ", c.Sampled.Of))
			if c.Name == "orders" && c.Unknown == "" &&
				(len(c.Indexes) != 1 || c.Indexes[0].Name != "coupon_1" || c.Indexes[0].Ops > most) {
				t.Errorf("indexes of orders: %+v", c.Indexes)
			}
		}
		if got, want := strings.Join(names, ", "),
			"categories 7 of 7, customers 40 of 40, empty 0 of 0, orders 120 of 120, products 30 of 30"; got != want {
			t.Errorf("collections %s, want %s", got, want)
		}
		for _, r := range s.Relations {
			has := r.Relation.Parent.Has
			relations = append(relations,
				fmt.Sprintf("%s.%s → %s: %s, %d to %d, %d of %d", r.Collection, r.Path, r.To, r.Relation.Now,
					has.Typical, has.Max, r.Matched.N, r.Matched.Of))
			if a := advise.Choose(r.Relation); a.Err != nil {
				t.Errorf("%s: %v", r.Path, a.Err)
			}
		}
		want := []string{
			"orders.buyer.ref → customers: parent reference, 3 to 3, 40 of 40",
			"orders.lines → : embed, 2 to 2, 0 of 0",
			"orders.lines.product → products: child references, 2 to 2, 30 of 30",
			"products.categories → categories: child references, 2 to 2, 7 of 7",
		}
		if got := strings.Join(relations, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("relations\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	})
}

// A path in the spec is refused. A view is no collection.
func TestSurveyDatabaseRefuses(t *testing.T) {
	db := mongotest.NewClient(t).Database("shop")
	for _, spec := range []advise.SurveySpec{{Embedded: "a"}, {List: "a"}, {Ref: "a"}, {At: "a"}} {
		var bad *model.ValueError
		if _, err := advise.SurveyDatabase(t.Context(), db, spec); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if err := db.CreateView(t.Context(), "recent", "orders", mongo.Pipeline{}); err != nil {
		t.Fatal(err)
	}
	if s, err := advise.SurveyDatabase(t.Context(), db, advise.SurveySpec{}); err != nil || len(s.Collections) != 0 {
		t.Errorf("%s, %v", s, err)
	}
}

// A server that refuses to tell how much indexes are used leaves that unknown; a connection that breaks there is an
// error.
func TestSurveyDatabaseIndexes(t *testing.T) {
	stats := func(c mongotest.Command) bool { return strings.Contains(c.Body.String(), "$indexStats") }
	for _, test := range []struct {
		action mongotest.Action
		fails  bool
	}{{mongotest.Fail(40324), false}, {mongotest.CutBefore(), true}} {
		f := mongotest.NewFaults()
		db := mongotest.NewClient(t, f).Database("shop")
		shop(t, db)
		f.From(stats, 1, test.action)
		s, err := advise.SurveyDatabase(t.Context(), db, advise.SurveySpec{})
		if (err != nil) != test.fails || err == nil && s.Collections[0].Unknown == "" {
			t.Errorf("%v; %s", err, s)
		}
	}
}
