package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
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
	members = model.NewCollection[member, string]("members")
	loose   = model.NewCollection[bson.D, any]("loose")

	byCity  = denorm.NewIndexTable(members, "city", "cities", denorm.IndexTableSpec{Copies: []string{"name", "home.zip"}})
	byTag   = denorm.NewIndexTable(members, "tags", "tags", denorm.IndexTableSpec{})
	byEmail = denorm.NewIndexTable(members, "email", "emails", denorm.IndexTableSpec{Unique: true})
	byAny   = denorm.NewIndexTable(loose, "at.place", "places", denorm.IndexTableSpec{Copies: []string{"note", "at.more"}})
	oneAny  = denorm.NewIndexTable(loose, "at.place", "places", denorm.IndexTableSpec{Unique: true})
)

// drifts are what the checks find.
func drifts[D, K any](ctx context.Context, db *mongo.Database, x *denorm.IndexTable[D, K]) ([]model.Finding, error) {
	return foundBy(ctx, db, x.Checks())
}

func wantDrifts[D, K any](t testing.TB, db *mongo.Database, x *denorm.IndexTable[D, K], want ...string) {
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
		s := fmt.Sprintf("%s: %s of %s", indexFault(f), model.Shell(f.Detail.Lookup("v")), model.Shell(f.Detail.Lookup("id")))
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

// entry is an entry of cities as it is stored; ops are numbers of tokens.
func entry(city, id string, doc bson.D, sure bool, ops ...int) bson.D {
	list := bson.A{}
	for _, n := range ops {
		list = append(list, token(n))
	}
	return bson.D{e("_id", bson.D{e("v", city), e("id", id)}), e("doc", doc), e("ops", list), e("sure", sure)}
}

func named(name, zip string) bson.D {
	home := bson.D{}
	if zip != "" {
		home = bson.D{e("zip", zip)}
	}
	if name == "" {
		return bson.D{e("home", home)}
	}
	return bson.D{e("name", name), e("home", home)}
}

func TestIndexTableInsert(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Home: &address{"00118"}}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		t.Run("with a value", func(t *testing.T) {
			for range 2 { // the second run finds everything done
				mustExec(t, db, byCity.Insert(ann, token(1)))
				wantDocs(t, db, docs{"members": {ann}, "cities": {entry("Rome", "a", named("Ann", "00118"), true, 1)}})
			}
		})
		t.Run("under an _id that is taken", func(t *testing.T) {
			for _, city := range []string{"Oslo", "Rome"} {
				err := exec(t.Context(), db, byCity.Insert(member{ID: "a", Name: "Abe", City: city}, token(2)))
				if !errors.Is(err, model.ErrTaken) || !strings.HasSuffix(err.Error(), "members: 'a' is taken by another document") {
					t.Errorf("error %v", err)
				}
				wantDocs(t, db, docs{"members": {ann}, "cities": {entry("Rome", "a", named("Ann", "00118"), true, 1)}})
			}
		})
		t.Run("cut before it was confirmed, and changed since", func(t *testing.T) {
			p := byCity.Insert(member{ID: "cut", City: "Bergen"}, token(5))
			mustExec(t, db, model.Plan{Steps: p.Steps[:2]})
			mustExec(t, db, model.NewPlan(members.Update("cut", bson.D{e("$set", bson.D{e("age", 7)})})))
			if err := exec(t.Context(), db, p); !errors.Is(err, model.ErrTaken) {
				t.Errorf("error %v", err)
			}
			if found, err := byCity.Documents("Bergen").All(t.Context(), db); len(found) != 1 || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
			wantDrifts(t, db, byCity)
			mustExec(t, db, byCity.Delete(&member{ID: "cut", City: "Bergen"}))
		})
		t.Run("without a value", func(t *testing.T) {
			p := byCity.Insert(member{ID: "b"}, token(3))
			if len(p.Steps) != 1 {
				t.Errorf("%v", p)
			}
			mustExec(t, db, p)
			wantDrifts(t, db, byCity)
		})
		t.Run("distinct elements", func(t *testing.T) {
			mustExec(t, db, byTag.Insert(member{ID: "c", Tags: []string{"x", "y", "x", ""}}, token(4)))
			if n, _ := db.Collection("tags").CountDocuments(t.Context(), bson.D{}); n != 3 {
				t.Errorf("%d entries", n)
			}
			wantDrifts(t, db, byTag)
		})
	})
}

func TestIndexTableSet(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Age: 7}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason   string
			fields   bson.D
			after    member
			entries  []any
			commands int
		}{
			{"another value", bson.D{e("city", "Oslo")}, member{ID: "a", Name: "Ann", City: "Oslo", Age: 7},
				[]any{entry("Oslo", "a", named("Ann", ""), true, 2)}, 4},
			{"a copied field", bson.D{e("name", "Anna")}, member{ID: "a", Name: "Anna", City: "Rome", Age: 7},
				[]any{entry("Rome", "a", named("Anna", ""), true, 1)}, 2},
			{"above a copied field", bson.D{e("home", address{"1"})}, member{ID: "a", Name: "Ann", City: "Rome", Age: 7, Home: &address{"1"}},
				[]any{entry("Rome", "a", named("Ann", "1"), true, 1)}, 2},
			{"both, and another", bson.D{e("city", "Oslo"), e("name", "Bo"), e("age", 8)}, member{ID: "a", Name: "Bo", City: "Oslo", Age: 8},
				[]any{entry("Oslo", "a", named("Bo", ""), true, 2)}, 4},
			{"neither", bson.D{e("age", 8)}, member{ID: "a", Name: "Ann", City: "Rome", Age: 8},
				[]any{entry("Rome", "a", named("Ann", ""), true, 1)}, 1},
			{"the same value", bson.D{e("city", "Rome")}, ann, []any{entry("Rome", "a", named("Ann", ""), true, 1)}, 3},
			{"the same copied field", bson.D{e("name", "Ann")}, ann, []any{entry("Rome", "a", named("Ann", ""), true, 1)}, 2},
		} {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"members": nil, "cities": nil})
				mustExec(t, db, byCity.Insert(ann, token(1)))
				p := byCity.Set(&ann, test.fields, token(2))
				if c := p.Cost(); c.Commands != test.commands || p.Guarantee() == model.Transactional {
					t.Errorf("%v, %v", c, p.Guarantee())
				}
				for range 2 {
					mustExec(t, db, p)
					wantDocs(t, db, docs{"members": {test.after}, "cities": test.entries})
				}
				wantDrifts(t, db, byCity)
			})
		}
		t.Run("null takes the entry out", func(t *testing.T) {
			seed(t, db, docs{"members": nil, "cities": nil})
			mustExec(t, db, byCity.Insert(ann, token(1)), byCity.Set(&ann, bson.D{e("city", nil)}, token(2)))
			wantDocs(t, db, docs{"cities": {}})
			wantDrifts(t, db, byCity)
		})
		t.Run("elements come and go", func(t *testing.T) {
			seed(t, db, docs{"members": nil, "tags": nil})
			m := member{ID: "c", Tags: []string{"x", "y"}}
			mustExec(t, db, byTag.Insert(m, token(1)), byTag.Set(&m, bson.D{e("tags", []string{"y", "z"})}, token(2)))
			wantDocs(t, db, docs{"tags": {
				bson.D{e("_id", bson.D{e("v", "y"), e("id", "c")}), e("sure", true), e("ops", bson.A{token(1)})},
				bson.D{e("_id", bson.D{e("v", "z"), e("id", "c")}), e("sure", true), e("ops", bson.A{token(2)})},
			}})
			wantDrifts(t, db, byTag)
		})
	})
}

// Who read what is no longer so gets ErrStale, and leaves nothing behind.
func TestIndexTableStale(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome"}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			before bson.D
			fields bson.D
		}{
			{"the value changed", bson.D{e("city", "Oslo")}, bson.D{e("city", "Kyiv")}},
			{"it changed to the same value, with another name", bson.D{e("city", "Oslo"), e("name", "Bo")}, bson.D{e("city", "Oslo")}},
			{"a copied field changed", bson.D{e("name", "Bo")}, bson.D{e("name", "Cy")}},
			{"copies were copied from what changed", bson.D{e("name", "Bo")}, bson.D{e("city", "Kyiv")}},
		} {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"members": nil, "cities": nil})
				mustExec(t, db, byCity.Insert(ann, token(1)), byCity.Set(&ann, test.before, token(2)))
				err := exec(t.Context(), db, byCity.Set(&ann, test.fields, token(3)))
				wantError(t, err, model.ErrStale)
				wantDrifts(t, db, byCity)
				if n, _ := db.Collection("cities").CountDocuments(t.Context(), bson.D{}); n != 1 {
					t.Errorf("%d entries", n)
				}
			})
		}
		t.Run("the document is gone", func(t *testing.T) {
			seed(t, db, docs{"members": nil, "cities": nil})
			wantError(t, exec(t.Context(), db, byCity.Set(&ann, bson.D{e("city", "Oslo")}, token(3))), model.ErrNotFound)
			wantDocs(t, db, docs{"members": {}, "cities": {}})
		})
		t.Run("a finished plan run again after others wrote takes nothing away", func(t *testing.T) {
			seed(t, db, docs{"members": nil, "cities": nil})
			oslo := member{ID: "a", Name: "Ann", City: "Oslo"}
			first := byCity.Set(&ann, bson.D{e("city", "Oslo"), e("name", "Ann")}, token(2))
			mustExec(t, db, byCity.Insert(ann, token(1)), first, byCity.Set(&oslo, bson.D{e("name", "Bo")}, token(3)))
			wantError(t, exec(t.Context(), db, first), model.ErrStale)
			wantDrifts(t, db, byCity)
		})
	})
}

func TestIndexTableDelete(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	parallel(t)
	m := member{ID: "a", City: "Rome", Tags: []string{"x", "y"}, Email: "a@b"}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, x := range []*denorm.IndexTable[member, string]{byCity, byTag, byEmail} {
			mustExec(t, db, x.Insert(m, token(1)))
			for range 2 {
				mustExec(t, db, x.Delete(&m))
				wantDocs(t, db, docs{"members": {}, "cities": {}, "tags": {}, "emails": {}})
			}
		}
	})
}

func TestIndexTableLookup(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, city := range []string{"Rome", "Oslo", "Rome", "Rom", "Romeo", "Rome"} {
			id := string(rune('f' - i))
			mustExec(t, db, byCity.Insert(member{ID: id, Name: "N" + id, City: city}, token(i)))
		}
		stale := byCity.Insert(member{ID: "z", City: "Rome"}, token(9))
		stale.Steps = stale.Steps[:1] // cut: an entry too many
		mustExec(t, db, stale)
		entries, err := byCity.Lookup("Rome").All(t.Context(), db)
		if err != nil || len(entries) != 4 {
			t.Fatalf("%v, %v", entries, err)
		}
		for i, id := range []string{"a", "d", "f", "z"} {
			x := entries[i]
			if x.ID != id || x.Value.StringValue() != "Rome" || x.Sure != (id != "z") || len(x.Ops) != 1 || id != "z" && x.Doc.Lookup("name").StringValue() != "N"+id {
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
		mustExec(t, db, byEmail.Insert(member{ID: "m", Email: "m@x"}, token(1)))
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

// A unique value is held by one document; who else claims it is told, and leaves nothing.
func TestIndexTableUnique(t *testing.T) {
	parallel(t)
	ann, bob := member{ID: "a", Email: "a@x"}, member{ID: "b", Email: "b@x"}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustExec(t, db, byEmail.Insert(ann, token(1)), byEmail.Insert(bob, token(2)))
		before, err := modeltest.Dump(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for reason, p := range map[string]model.Plan{
			"insert": byEmail.Insert(member{ID: "c", Email: "a@x"}, token(3)),
			"set":    byEmail.Set(&bob, bson.D{e("email", "a@x")}, token(4)),
		} {
			err := exec(t.Context(), db, p)
			if !errors.Is(err, model.ErrTaken) || !strings.HasSuffix(err.Error(), "emails: 'a@x' is taken by another document") {
				t.Errorf("%s: %v", reason, err)
			}
			if after, _ := modeltest.Dump(t.Context(), db); after != before {
				t.Errorf("%s changed:\n%s", reason, after)
			}
		}
		mustExec(t, db, byEmail.Set(&ann, bson.D{e("email", "c@x")}, token(5)), byEmail.Set(&bob, bson.D{e("email", "a@x")}, token(6)))
		wantDrifts(t, db, byEmail)

		// A reservation whose plan was cut holds until it is old enough to be freed.
		old := bson.NewObjectIDFromTimestamp(time.Now().Add(-time.Hour))
		cutPlan := byEmail.Insert(member{ID: "d", Email: "d@x"}, old)
		cutPlan.Steps = cutPlan.Steps[:1]
		mustExec(t, db, cutPlan)
		other := byEmail.Insert(member{ID: "e", Email: "d@x"}, token(7))
		if err := exec(t.Context(), db, other); !errors.Is(err, model.ErrTaken) || !strings.Contains(err.Error(), "isn't confirmed") {
			t.Errorf("a pending claim: %v", err)
		}
		wantDrifts(t, db, byEmail, "surplus: 'd@x' of 'd'")
		check := byEmail.Checks()[0]
		check.Age = 2 * time.Hour
		if p, err := check.Job().Run(t.Context(), db, model.JobOptions{}); err != nil || p.Writes != 0 {
			t.Errorf("a claim in flight is freed: %v, %v", p, err)
		}
		if err := runJob(t.Context(), db, byEmail.Checks()[0].Job()); err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, other)
		wantDrifts(t, db, byEmail)
	})
}
