package indextable_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store's change costs what its documentation says. In a transaction each entry is
// written once.
func TestIndexTableCosts(t *testing.T) {
	testkit.Parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			change memberChange
			want   model.Cost // outside transactions
			tx     model.Cost // in a transaction, with its commit
		}{
			{
				reason: "Insert", change: cityStore.Insert(member{ID: "n", City: "Oslo"}),
				want: model.Cost{Commands: 4, Written: 4}, tx: model.Cost{Commands: 2, Written: 2},
			},
			{
				reason: "Insert, unique", change: emailStore.Insert(member{ID: "n", Email: "n@x"}),
				want: model.Cost{Commands: 4, Written: 4}, tx: model.Cost{Commands: 2, Written: 2},
			},
			{
				reason: "Insert of two elements",
				change: tagStore.Insert(member{ID: "n", Tags: []string{"x", "y"}}),
				want:   model.Cost{Commands: 4, Written: 6}, tx: model.Cost{Commands: 2, Written: 3},
			},
			{
				reason: "Insert without a value", change: cityStore.Insert(member{ID: "n"}),
				want: model.Cost{Commands: 1, Written: 1}, tx: model.Cost{Commands: 2, Written: 1},
			},
			{
				reason: "Set of the value", change: cityStore.Set("a", bson.D{testkit.E("city", "Oslo")}),
				want: model.Cost{Commands: 6, Written: 6, Returned: 1},
				tx:   model.Cost{Commands: 3, Written: 3, Returned: 1},
			},
			{
				reason: "Set, unique", change: emailStore.Set("a", bson.D{testkit.E("email", "c@x")}),
				want: model.Cost{Commands: 6, Written: 6, Returned: 1},
				tx:   model.Cost{Commands: 3, Written: 3, Returned: 1},
			},
			{
				reason: "Set of elements",
				change: tagStore.Set("a", bson.D{testkit.E("tags", []string{"y", "z"})}),
				want:   model.Cost{Commands: 6, Written: 6, Returned: 1},
				tx:     model.Cost{Commands: 3, Written: 3, Returned: 1},
			},
			{
				reason: "Set of the same value", change: cityStore.Set("a", bson.D{testkit.E("city", "Rome")}),
				want: model.Cost{Commands: 1, Returned: 1}, tx: model.Cost{Commands: 2, Written: 1, Returned: 1},
			},
			{
				reason: "Set of a copied field", change: cityStore.Set("a", bson.D{testkit.E("name", "Bo")}),
				want: model.Cost{Commands: 4, Written: 3, Returned: 1},
				tx:   model.Cost{Commands: 3, Written: 2, Returned: 1},
			},
			{
				reason: "Set of another field", change: cityStore.Set("a", bson.D{testkit.E("age", 7)}),
				want: model.Cost{Commands: 1, Written: 1, Returned: 1},
				tx:   model.Cost{Commands: 1, Written: 1, Returned: 1},
			},
			{
				reason: "Set to null", change: cityStore.Set("a", bson.D{testkit.E("city", nil)}),
				want: model.Cost{Commands: 5, Written: 4, Returned: 1},
				tx:   model.Cost{Commands: 3, Written: 2, Returned: 1},
			},
			{
				reason: "Delete", change: tagStore.Delete("a"), want: model.Cost{Commands: 5, Written: 6, Returned: 1},
				tx: model.Cost{Commands: 3, Written: 3, Returned: 1},
			},
		} {
			begin := func(t *testing.T, on model.DB) {
				testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil, "tags": nil, "emails": nil})
				if err := run(t.Context(), on, testkit.Token(1), storeOfAll.Insert(ann)); err != nil {
					t.Fatal(err)
				}
			}
			t.Run(test.reason, func(t *testing.T) {
				begin(t, db)
				modeltest.WantCost(t, m, test.want, func() error {
					return run(t.Context(), db, testkit.Token(2), test.change)
				})
			})
			t.Run(test.reason+" in a transaction", func(t *testing.T) {
				mongotest.Need(t, db, mongotest.Transactions)
				on, err := model.WithTransactions(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				begin(t, on)
				modeltest.WantCost(t, m, test.tx, func() error {
					return run(t.Context(), on, testkit.Token(2), test.change)
				})
			})
		}
		t.Run("reads, checks, rebuild and repair", func(t *testing.T) {
			testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil})
			mustChange(t, db, cityStore.Insert(ann), cutAfter(1, cityStore.Insert(member{ID: "z", City: "Rome"})))
			read := func(n int, f func() error) {
				t.Helper()
				modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: n}, f)
			}
			read(2, func() error { _, err := byCity.Lookup("Rome").All(t.Context(), db); return err })
			read(1, func() error { _, err := byCity.Documents("Rome").All(t.Context(), db); return err })
			for i, n := range []int{1, 0, 0} {
				read(n, func() error { _, err := byCity.Checks()[i].All(t.Context(), db); return err })
			}
			plan := testkit.Mended(t, db, byCity.Checks()[:1])[0]
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error {
				_, err := plan.Run(t.Context(), db)
				return err
			})
			testkit.Seed(t, db, testkit.Docs{"cities": nil})
			// the last two reads find the end
			modeltest.WantCost(t, m, model.Cost{Commands: 4, Written: 1, Returned: 1}, func() error {
				_, err := byCity.Rebuild().Run(t.Context(), db, model.JobOptions{})
				return err
			})
		})
	}, m)
}

// Entries are found by _id, among thousands.
func TestIndexTableIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var cities, emails []any
		for i := range 3000 {
			id := bson.D{testkit.E("v", fmt.Sprint("c", i%1000)), testkit.E("id", fmt.Sprint(i))}
			cities = append(cities, bson.D{
				testkit.E("_id", id), testkit.E("ops", bson.A{testkit.Token(1)}), testkit.E("sure", true),
			})
			emails = append(emails, bson.D{
				testkit.E("_id", fmt.Sprint(i)), testkit.E("id", fmt.Sprint(i)),
				testkit.E("ops", bson.A{testkit.Token(1)}), testkit.E("sure", true),
			})
		}
		testkit.Seed(t, db, testkit.Docs{"cities": cities, "emails": emails})
		queries := []struct {
			reason string
			query  any
			index  string
		}{
			{"Lookup", byCity.Lookup("c7"), model.IDIndex}, {"unique Lookup", byEmail.Lookup("7"), model.IDIndex},
			{"Documents", byCity.Documents("c7"), model.IDIndex},
			{"unique Documents", byEmail.Documents("7"), model.IDIndex},
		}
		for _, q := range queries {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
	})
}

// Values may hold anything: they stay data, of whatever type.
func TestIndexTableHostile(t *testing.T) {
	testkit.Parallel(t)
	values := []any{
		"$where", "a.b", "NUL\x00", "é", "", strings.Repeat("x", 2000), int32(1), 1.5, true, bson.NewObjectID(),
		bson.D{testkit.E("a", "$x"), testkit.E("b", int64(2))}, bson.Binary{Data: []byte{1}}, bson.DateTime(5),
		bson.MinKey{}, bson.MaxKey{},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, x := range []*indextable.IndexTable[bson.D, any]{byAny, oneAny} {
			store := model.NewStore(model.New("loose", x), loose)
			testkit.Seed(t, db, testkit.Docs{"loose": nil, "places": nil})
			for i, v := range values {
				doc := bson.D{testkit.E("_id", i), testkit.E("note", v), testkit.E("at", bson.D{testkit.E("place", v)})}
				testkit.MustChange(t, db, store.Insert(doc))
			}
			wantDrifts(t, db, x)
			for i, v := range values {
				got, err := x.Documents(v).All(t.Context(), db)
				if err != nil || len(got) != 1 || fmt.Sprint(got[0][0].Value) != fmt.Sprint(i) {
					t.Errorf("%v: %v, %v", v, got, err)
				}
				entries, err := x.Lookup(v).All(t.Context(), db)
				if err != nil || len(entries) != 1 || fmt.Sprint(entries[0].ID) != fmt.Sprint(i) {
					t.Errorf("%v: %v, %v", v, entries, err)
				}
			}
			for i, v := range values { // each to the next, the last first
				i = len(values) - 1 - i
				v = values[i]
				testkit.MustChange(t, db,
					store.Set(i, bson.D{
						testkit.E("at", bson.D{testkit.E("place", bson.D{testkit.E("new", v)})}),
						testkit.E("note", nil),
					}))
			}
			wantDrifts(t, db, x)
		}
		testkit.Seed(t, db, testkit.Docs{"loose": nil, "places": nil})
		one := bson.D{
			testkit.E("_id", 1),
			testkit.E("at", bson.D{testkit.E("place", bson.A{int32(1), int64(1), 1.0, "x", nil})}),
		}
		store := model.NewStore(model.New("loose", byAny), loose)
		testkit.MustChange(t, db, store.Insert(one),
			store.Set(1, bson.D{testkit.E("at.place", 1.0)}))
		if n, _ := db.Collection("places").CountDocuments(t.Context(), bson.D{}); n != 1 {
			t.Errorf("equal numbers have %d entries", n)
		}
		wantDrifts(t, db, byAny)
	})
}

// A value that several documents held before the table is found, and left to the application.
func TestIndexTableConflict(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		twins := []member{{ID: "a", Email: "a@x"}, {ID: "b", Email: "a@x"}}
		testkit.MustExec(t, db, members.InsertMany(twins))
		if _, err := byEmail.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		wantDrifts(t, db, byEmail, "conflict: 'a@x' of 'b', held by 'a'")
		if err := testkit.MendedByJobs(byEmail.Checks()...)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantDrifts(t, db, byEmail, "conflict: 'a@x' of 'b', held by 'a'")
		if check := byEmail.Checks()[2]; check.Mend != nil || check.Job().Err == nil {
			t.Error("a conflict can be mended")
		}
		mustChange(t, db, emailStore.Set("b", bson.D{testkit.E("email", "b@x")}))
		wantDrifts(t, db, byEmail)
	})
}

// Of several unique values that one document claims, one that is taken frees the others.
func TestIndexTableUniqueElements(t *testing.T) {
	testkit.Parallel(t)
	x := indextable.New(members, "tags", "uniqueTags", indextable.Spec{Unique: true})
	store := storeOf(x)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustChange(t, db, store.Insert(member{ID: "a", Tags: []string{"x", "y"}}),
			store.Insert(member{ID: "b", Tags: []string{"z"}}))
		before, err := mongotest.Dump(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range []memberChange{
			store.Insert(member{ID: "c", Tags: []string{"w", "y"}}),
			store.Set("b", bson.D{testkit.E("tags", []string{"z", "w", "x"})}),
		} {
			if err := run(t.Context(), db, testkit.Token(3+i), c); !errors.Is(err, model.ErrTaken) {
				t.Errorf("error %v", err)
			}
		}
		wantDrifts(t, db, x)
		if after, _ := mongotest.Dump(t.Context(), db); after != before {
			t.Errorf("changed:\n%s", after)
		}
	})
}

func TestIndexTableRefuses(t *testing.T) {
	testkit.Parallel(t)
	badDoc := bson.D{testkit.E("_id", 1), testkit.E("at", bson.A{bson.D{testkit.E("place", 1)}})}
	nested := bson.D{testkit.E("_id", 1), testkit.E("at", bson.D{testkit.E("place", bson.A{bson.A{1}})})}
	pattern := bson.D{testkit.E("_id", 1), testkit.E("at", bson.D{testkit.E("place", bson.Regex{Pattern: "x"})})}
	refusals := map[string]error{
		"lookup of another type":    byCity.Lookup(7).Err,
		"lookup of null":            byCity.Lookup(nil).Err,
		"lookup of an array":        byAny.Lookup(bson.A{1}).Err,
		"documents of another type": byCity.Documents(7).Err,
		"nothing surplus":           byCity.Checks()[0].Mend(testkit.EmptyFinding(byCity.Checks()[0])).Err(),
		"nothing stale":             byCity.Checks()[1].Mend(testkit.EmptyFinding(byCity.Checks()[1])).Err(),
		"nothing missing":           byCity.Checks()[2].Mend(testkit.EmptyFinding(byCity.Checks()[2])).Err(),
		"rebuild of what can't have": func() error {
			_, err := byAny.Rebuild().Stages[0].Plan([]bson.Raw{testkit.Marshal(nested)})
			return err
		}(),
	}
	store := model.NewStore(model.New("loose", byAny), loose)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for reason, doc := range map[string]bson.D{
			"a value in an array": badDoc, "an array in an array": nested, "a regular expression": pattern,
		} {
			_, _, refusals[reason] = store.Insert(doc).Run(t.Context(), db)
		}
		for reason, err := range refusals {
			var bad *model.ValueError
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v, want a *model.ValueError", reason, err)
			}
		}
	})
}

func TestIndexTableDeclaration(t *testing.T) {
	testkit.Parallel(t)
	copies := func(paths ...string) indextable.Spec { return indextable.Spec{Copies: paths} }
	for reason, declare := range map[string]func(){
		"no such path":           func() { indextable.New(members, "town", "x", indextable.Spec{}) },
		"the _id":                func() { indextable.New(members, "_id", "x", indextable.Spec{}) },
		"inside an array":        func() { indextable.New(members, "pairs.key", "x", indextable.Spec{}) },
		"the documents' name":    func() { indextable.New(members, "city", "members", indextable.Spec{}) },
		"no name":                func() { indextable.New(members, "city", "", indextable.Spec{}) },
		"no such copy":           func() { indextable.New(members, "city", "x", copies("nom")) },
		"a copy of the value":    func() { indextable.New(members, "city", "x", copies("city")) },
		"copies that overlap":    func() { indextable.New(members, "city", "x", copies("home", "home.zip")) },
		"a copy inside an array": func() { indextable.New(members, "city", "x", copies("pairs.key")) },
		"a copy of the _id":      func() { indextable.New(members, "city", "x", copies("_id")) },
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" ||
					d.Place == "" || d.Remedy == "" {
					t.Errorf("panic %v", d)
				}
			}()
			declare()
		})
	}
	r := byEmail.Relations()[0]
	if r.From != "emails" || r.FromPath != "id" || r.FromEnd != model.ZeroOrOne ||
		byCity.Relations()[0].FromEnd != model.Many || byCity.Relations()[0].FromPath != "_id.id" {
		t.Errorf("relations: %v", r)
	}
}
