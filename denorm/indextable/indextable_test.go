package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: members, found by their city, by their tags and by their email.
type (
	member struct {
		ID    string   `bson:"_id"`
		Name  string   `bson:"name,omitempty"`
		City  string   `bson:"city,omitempty"`
		Email string   `bson:"email,omitempty"`
		Tags  []string `bson:"tags,omitempty"`
		Home  *address `bson:"home,omitempty"`
		Age   int      `bson:"age,omitempty"`
		Pairs []pair   `bson:"pairs,omitempty"`
	}
	address struct {
		Zip string `bson:"zip,omitempty"`
	}
	pair struct {
		Key string `bson:"key"`
	}
)

var (
	members = model.NewCollectionWith[member, string]("members", model.CollectionOptions{StoreField: "kept"})
	loose   = model.NewCollection[bson.D, any]("loose")

	byCity = indextable.New(members, "city", "cities",
		indextable.Spec{Copies: []string{"name", "home.zip"}})
	byTag   = indextable.New(members, "tags", "tags", indextable.Spec{})
	byEmail = indextable.New(members, "email", "emails", indextable.Spec{Unique: true})
	byAny   = indextable.New(loose, "at.place", "places",
		indextable.Spec{Copies: []string{"note", "at.more"}})
	oneAny = indextable.New(loose, "at.place", "places", indextable.Spec{Unique: true})
)

// The stores of members, each with one table.
var cityStore, tagStore, emailStore = storeOf(byCity), storeOf(byTag), storeOf(byEmail)

// drifts are what the checks find.
func drifts[D, K any](ctx context.Context, db *mongo.Database, x *indextable.IndexTable[D, K]) ([]model.Finding, error) {
	return testkit.FoundBy(ctx, db, x.Checks())
}

func wantDrifts[D, K any](t testing.TB, db *mongo.Database, x *indextable.IndexTable[D, K], want ...string) {
	t.Helper()
	found, err := drifts(context.Background(), db, x)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(found); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the checks find %q, want %q", got, want)
	}
}

// texts are findings in short: "surplus: 'Paris' of 7".
func texts(found []model.Finding) (out []string) {
	for _, f := range found {
		s := fmt.Sprintf("%s: %s of %s", indexFault(f), model.Shell(f.Detail.Lookup("v")),
			model.Shell(f.Detail.Lookup("id")))
		if other, err := f.Detail.LookupErr("other"); err == nil {
			s += ", held by " + model.Shell(other)
		}
		out = append(out, s)
	}
	return out
}

func indexFault(f model.Finding) string {
	switch _, what, _ := strings.Cut(f.Check, ": "); {
	case what == "surplus entries":
		return "surplus"
	case what == "stale copies":
		return "staleCopy"
	case strings.HasPrefix(what, "values without an entry"):
		return "missing"
	}
	return "conflict"
}

func TestIndexTableInsert(t *testing.T) {
	testkit.Parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Home: &address{"00118"}}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		const rome = "Rome of a: {name: 'Ann', home: {zip: '00118'}}"
		t.Run("with a value", func(t *testing.T) {
			for range 2 { // the retry finds the document
				if err := run(t.Context(), db, testkit.Token(1), cityStore.Insert(ann)); err != nil {
					t.Fatal(err)
				}
				wantEntries(t, db, "cities", rome)
			}
		})
		t.Run("under an _id that is taken", func(t *testing.T) {
			for i, city := range []string{"Oslo", "Rome"} {
				err := run(t.Context(), db, testkit.Token(2+i),
					cityStore.Insert(member{ID: "a", Name: "Abe", City: city}))
				if !errors.Is(err, model.ErrTaken) && !mongo.IsDuplicateKeyError(err) {
					t.Errorf("error %v", err)
				}
				wantEntries(t, db, "cities", rome)
			}
		})
		t.Run("without a value", func(t *testing.T) {
			mustChange(t, db, cityStore.Insert(member{ID: "b"}))
			wantEntries(t, db, "cities", rome)
		})
		t.Run("distinct elements", func(t *testing.T) {
			mustChange(t, db, tagStore.Insert(member{ID: "c", Tags: []string{"x", "y", "x", ""}}))
			wantEntries(t, db, "tags", " of c", "x of c", "y of c")
		})
		wantDrifts(t, db, byCity)
		wantDrifts(t, db, byTag)
	})
}

// An insert that was cut before its entry was sure finishes by the retry, although another
// client has changed the document since.
func TestIndexTableInsertChanged(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		insert := cityStore.Insert(member{ID: "cut", City: "Bergen"})
		if err := run(t.Context(), db, testkit.Token(5), cutAfter(2, insert)); err != nil {
			t.Fatal(err)
		}
		testkit.MustExec(t, db,
			model.NewPlan(members.Update("cut", bson.D{testkit.E("$set", bson.D{testkit.E("age", 7)})})))
		if err := run(t.Context(), db, testkit.Token(5), insert); err != nil {
			t.Errorf("error %v", err)
		}
		if found, err := byCity.Documents("Bergen").All(t.Context(), db); len(found) != 1 || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		wantSettled(t, db, byCity)
	})
}

func TestIndexTableSet(t *testing.T) {
	testkit.Parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Age: 7}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			fields bson.D
			entry  string
		}{
			{"another value", bson.D{testkit.E("city", "Oslo")}, "Oslo of a: {name: 'Ann', home: {}}"},
			{"a copied field", bson.D{testkit.E("name", "Anna")}, "Rome of a: {name: 'Anna', home: {}}"},
			{
				reason: "above a copied field", fields: bson.D{testkit.E("home", address{"1"})},
				entry: "Rome of a: {name: 'Ann', home: {zip: '1'}}",
			},
			{
				reason: "both, and another",
				fields: bson.D{testkit.E("city", "Oslo"), testkit.E("name", "Bo"), testkit.E("age", 8)},
				entry:  "Oslo of a: {name: 'Bo', home: {}}",
			},
			{"neither", bson.D{testkit.E("age", 8)}, "Rome of a: {name: 'Ann', home: {}}"},
			{"the same value", bson.D{testkit.E("city", "Rome")}, "Rome of a: {name: 'Ann', home: {}}"},
		} {
			t.Run(test.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil})
				mustChange(t, db, cityStore.Insert(ann))
				for range 2 {
					if err := run(t.Context(), db, testkit.Token(2), cityStore.Set("a", test.fields)); err != nil {
						t.Fatal(err)
					}
					wantEntries(t, db, "cities", test.entry)
				}
				wantDrifts(t, db, byCity)
			})
		}
		t.Run("null removes the entry", func(t *testing.T) {
			testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil})
			mustChange(t, db, cityStore.Insert(ann), cityStore.Set("a", bson.D{testkit.E("city", nil)}))
			wantEntries(t, db, "cities")
			wantDrifts(t, db, byCity)
		})
		t.Run("elements come and go", func(t *testing.T) {
			testkit.Seed(t, db, testkit.Docs{"members": nil, "tags": nil})
			mustChange(t, db, tagStore.Insert(member{ID: "c", Tags: []string{"x", "y"}}),
				tagStore.Set("c", bson.D{testkit.E("tags", []string{"y", "z"})}))
			wantEntries(t, db, "tags", "y of c", "z of c")
			wantDrifts(t, db, byTag)
		})
		t.Run("the document is gone", func(t *testing.T) {
			testkit.Seed(t, db, testkit.Docs{"members": nil, "cities": nil})
			testkit.WantError(t,
				run(t.Context(), db, testkit.Token(3),
					cityStore.Set("a", bson.D{testkit.E("city", "Oslo")})), model.ErrNotFound)
			wantEntries(t, db, "cities")
		})
	})
}

func TestIndexTableDelete(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	testkit.Parallel(t)
	m := member{ID: "a", City: "Rome", Tags: []string{"x", "y"}, Email: "a@b"}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, s := range map[string]*memberStore{"cities": cityStore, "tags": tagStore, "emails": emailStore} {
			mustChange(t, db, s.Insert(m), s.Delete("a"))
			wantEntries(t, db, name)
			if n, err := members.Find(nil).Count(t.Context(), db); err != nil || n > 0 {
				t.Errorf("%s: %d members, %v", name, n, err)
			}
		}
	})
}

func TestIndexTableLookup(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, city := range []string{"Rome", "Oslo", "Rome", "Rom", "Romeo", "Rome"} {
			id := string(rune('f' - i))
			mustChange(t, db, cityStore.Insert(member{ID: id, Name: "N" + id, City: city}))
		}
		mustChange(t, db, cutAfter(1, cityStore.Insert(member{ID: "z", City: "Rome"}))) // a surplus entry
		entries, err := byCity.Lookup("Rome").All(t.Context(), db)
		if err != nil || len(entries) != 4 {
			t.Fatalf("%v, %v", entries, err)
		}
		for i, id := range []string{"a", "d", "f", "z"} {
			x := entries[i]
			if x.ID != id || x.Value.StringValue() != "Rome" || x.Sure != (id != "z") ||
				id != "z" && x.Doc.Lookup("name").StringValue() != "N"+id {
				t.Errorf("entry %d: %+v", i, x)
			}
		}
		page, err := byCity.Lookup("Rome").After(entries[1].Key).Limited(1).All(t.Context(), db)
		if err != nil || len(page) != 1 || page[0].ID != "f" {
			t.Errorf("the page after d: %v, %v", page, err)
		}
		found, err := byCity.Documents("Rome").All(t.Context(), db)
		if err != nil || len(found) != 3 || found[0].ID != "a" || found[2].Name != "Nf" {
			t.Errorf("documents: %v, %v", found, err)
		}
		type brief struct {
			Doc struct {
				Name string `bson:"name"`
			} `bson:"doc"`
		}
		names, err := model.Project[brief](byCity.Lookup("Oslo")).All(t.Context(), db)
		if err != nil || len(names) != 1 || names[0].Doc.Name != "Ne" {
			t.Errorf("projected: %v, %v", names, err)
		}
		mustChange(t, db, emailStore.Insert(member{ID: "m", Email: "m@x"}))
		one, err := byEmail.Lookup("m@x").One(t.Context(), db)
		if err != nil || one.ID != "m" || one.Value.StringValue() != "m@x" {
			t.Errorf("unique: %+v, %v", one, err)
		}
		held, err := byEmail.Documents("m@x").One(t.Context(), db)
		if err != nil || held.ID != "m" {
			t.Errorf("unique: %v, %v", held, err)
		}
		if _, err := byEmail.Documents("n@x").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("none: %v", err)
		}
	})
}

// A unique value is held by one document. Another document that claims it gets ErrTaken, and
// nothing changes.
func TestIndexTableUnique(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustChange(t, db, emailStore.Insert(member{ID: "a", Email: "a@x"}),
			emailStore.Insert(member{ID: "b", Email: "b@x"}))
		for reason, c := range map[string]memberChange{
			"insert": emailStore.Insert(member{ID: "c", Email: "a@x"}),
			"set":    emailStore.Set("b", bson.D{testkit.E("email", "a@x")}),
		} {
			err := run(t.Context(), db, testkit.Token(3), c)
			if !errors.Is(err, model.ErrTaken) ||
				!strings.HasSuffix(err.Error(), "emails: 'a@x' is taken by another document") {
				t.Errorf("%s: %v", reason, err)
			}
			if n, err := members.Find(bson.D{testkit.E("email", "a@x")}).Count(t.Context(), db); err != nil || n != 1 {
				t.Errorf("%s: %d members, %v", reason, n, err)
			}
			wantDrifts(t, db, byEmail)
		}
		mustChange(t, db, emailStore.Set("a", bson.D{testkit.E("email", "c@x")}),
			emailStore.Set("b", bson.D{testkit.E("email", "a@x")}))
		wantSettled(t, db, byEmail)
	})
}

// The claim of an action that was cut holds until it is old enough. Its age doesn't depend
// on the age of the client's token.
func TestIndexTableClaimAge(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		old := bson.NewObjectIDFromTimestamp(time.Now().Add(-time.Hour))
		if err := run(t.Context(), db, old, cutAfter(1, emailStore.Insert(member{ID: "d", Email: "d@x"}))); err != nil {
			t.Fatal(err)
		}
		other := emailStore.Insert(member{ID: "e", Email: "d@x"})
		if err := run(t.Context(), db, testkit.Token(7), other); !errors.Is(err, model.ErrTaken) ||
			!strings.Contains(err.Error(), "isn't confirmed") {
			t.Errorf("a pending claim: %v", err)
		}
		wantDrifts(t, db, byEmail, "surplus: 'd@x' of 'd'")
		check := byEmail.Checks()[0]
		if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || p.Writes != 0 {
			t.Errorf("a claim in flight is freed: %v, %v", p, err)
		}
		check.Age = 0
		if err := testkit.RunJob(t.Context(), db, check.Job()); err != nil {
			t.Fatal(err)
		}
		mustChange(t, db, other)
		wantDrifts(t, db, byEmail)
	})
}
