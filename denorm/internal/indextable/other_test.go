package indextable_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its value says, and what its documentation says.
func TestIndexTableCosts(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
	cut := byCity.Insert(member{ID: "z", City: "Rome"}, token(3))
	cut.Steps = cut.Steps[:1]
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		plans := []struct {
			reason string
			plan   model.Plan
			want   model.Cost
			many   int // documents written that the plan can't count
		}{
			{"Insert", byCity.Insert(member{ID: "n", City: "Oslo"}, token(2)), model.Cost{Commands: 3, Written: 3}, 0},
			{"Insert of two elements", byTag.Insert(member{ID: "n", Tags: []string{"x", "y"}}, token(2)), model.Cost{Commands: 3, Written: 5}, 0},
			{"Insert without a value", byCity.Insert(member{ID: "n"}, token(2)), model.Cost{Commands: 1, Written: 1}, 0},
			{"Set of the value", byCity.Set(&ann, bson.D{e("city", "Oslo")}, token(2)), model.Cost{Commands: 4, Written: 5}, 1},
			{"Set of the same value", byCity.Set(&ann, bson.D{e("city", "Rome")}, token(2)), model.Cost{Commands: 3, Written: 1}, 0},
			{"Set of a copied field", byCity.Set(&ann, bson.D{e("name", "Bo")}, token(2)), model.Cost{Commands: 2, Written: 2}, 0},
			{"Set of another field", byCity.Set(&ann, bson.D{e("age", 7)}, token(2)), model.Cost{Commands: 1, Written: 1}, 0},
			{"Set to null", byCity.Set(&ann, bson.D{e("city", nil)}, token(2)), model.Cost{Commands: 3, Written: 3}, 1},
			{"Delete", byCity.Delete(&ann), model.Cost{Commands: 3, Written: 3}, 1},
			{"Delete without a value", byCity.Delete(&member{ID: "a"}), model.Cost{Commands: 2, Written: 1}, 0},
		}
		for _, test := range plans {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{"members": nil, "cities": nil, "tags": nil})
				mustExec(t, db, byCity.Insert(ann, token(1)))
				if said := test.plan.Cost(); said.Commands != test.want.Commands || said.Written != test.want.Written-test.many {
					t.Errorf("it says %v, want %v", said, test.want)
				}
				modeltest.WantCost(t, m, test.want, func() error { return exec(t.Context(), db, test.plan) })
			})
		}
		t.Run("reads, checks, rebuild and repair", func(t *testing.T) {
			seed(t, db, docs{"members": nil, "cities": nil})
			mustExec(t, db, byCity.Insert(ann, token(1)), cut)
			read := func(n int, f func() error) {
				t.Helper()
				modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: n}, f)
			}
			read(2, func() error { _, err := byCity.Lookup("Rome").All(t.Context(), db); return err })
			read(1, func() error { _, err := byCity.Documents("Rome").All(t.Context(), db); return err })
			for i, n := range []int{1, 0, 0} {
				read(n, func() error { _, err := byCity.Checks()[i].All(t.Context(), db); return err })
			}
			plan := mended(t, db, byCity.Checks()[:1])[0]
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error { return exec(t.Context(), db, plan) })
			seed(t, db, docs{"cities": nil})
			modeltest.WantCost(t, m, model.Cost{Commands: 4, Written: 1, Returned: 1}, func() error { // the last two reads find the end
				_, err := byCity.Rebuild().Run(t.Context(), db, model.JobOptions{})
				return err
			})
		})
	}, modeltest.WithMonitor(m))
}

// Entries are found by _id, among thousands.
func TestIndexTableIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		var cities, emails []any
		for i := range 3000 {
			cities = append(cities, entry(fmt.Sprint("c", i%1000), fmt.Sprint(i), named("N", ""), true, 1))
			emails = append(emails, bson.D{e("_id", fmt.Sprint(i)), e("id", fmt.Sprint(i)), e("ops", bson.A{token(1)}), e("sure", true)})
		}
		seed(t, db, docs{"cities": cities, "emails": emails})
		if err := model.New("test", byCity, byEmail).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m := member{ID: "7", City: "c7", Email: "7"}
		queries := []struct {
			reason string
			query  any
			index  string
		}{
			{"Lookup", byCity.Lookup("c7"), model.IDIndex}, {"unique Lookup", byEmail.Lookup("7"), model.IDIndex},
			{"Documents", byCity.Documents("c7"), model.IDIndex}, {"unique Documents", byEmail.Documents("7"), model.IDIndex},
		}
		for i, p := range []model.Plan{
			byCity.Set(&m, bson.D{e("city", "c8")}, token(2)), byEmail.Set(&m, bson.D{e("email", "8")}, token(2)),
			byCity.Set(&m, bson.D{e("city", "c7")}, token(2)), byEmail.Delete(&m),
		} {
			for j, step := range p.Steps {
				if w := step.(model.Write); w.Collection != "members" {
					queries = append(queries, struct {
						reason string
						query  any
						index  string
					}{fmt.Sprintf("plan %d step %d", i, j), w, w.Index})
				}
			}
		}
		for _, q := range queries {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
	})
}

// Values may hold anything: they stay data, of whatever type.
func TestIndexTableHostile(t *testing.T) {
	parallel(t)
	values := []any{
		"$where", "a.b", "NUL\x00", "é", "", strings.Repeat("x", 2000), int32(1), 1.5, true, bson.NewObjectID(), bson.D{e("a", "$x"), e("b", int64(2))},
		bson.Binary{Data: []byte{1}}, bson.DateTime(5), bson.MinKey{}, bson.MaxKey{},
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, x := range []*denorm.IndexTable[bson.D, any]{byAny, oneAny} {
			seed(t, db, docs{"loose": nil, "places": nil})
			for i, v := range values {
				doc := bson.D{e("_id", i), e("note", v), e("at", bson.D{e("place", v)})}
				mustExec(t, db, x.Insert(doc, token(i)))
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
				doc := bson.D{e("_id", i), e("note", v), e("at", bson.D{e("place", v)})}
				mustExec(t, db, x.Set(&doc, bson.D{e("at", bson.D{e("place", bson.D{e("new", v)})}), e("note", nil)}, token(99)))
			}
			wantDrifts(t, db, x)
		}
		seed(t, db, docs{"loose": nil, "places": nil})
		one := bson.D{e("_id", 1), e("at", bson.D{e("place", bson.A{int32(1), int64(1), 1.0, "x", nil})})}
		mustExec(t, db, byAny.Insert(one, token(1)), byAny.Set(&one, bson.D{e("at.place", 1.0)}, token(2)))
		if n, _ := db.Collection("places").CountDocuments(t.Context(), bson.D{}); n != 1 {
			t.Errorf("equal numbers have %d entries", n)
		}
		wantDrifts(t, db, byAny)
	})
}

// A value that several documents held before the table is found, and left to the application.
func TestIndexTableConflict(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		twins := []member{{ID: "a", Email: "a@x"}, {ID: "b", Email: "a@x"}}
		mustExec(t, db, members.InsertMany(twins))
		if _, err := byEmail.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		wantDrifts(t, db, byEmail, "conflict: 'a@x' of 'b', held by 'a'")
		if err := mendedByJobs(byEmail.Checks()...)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantDrifts(t, db, byEmail, "conflict: 'a@x' of 'b', held by 'a'")
		if check := byEmail.Checks()[2]; check.Mend != nil || check.Job().Err == nil {
			t.Error("a conflict can be mended")
		}
		mustExec(t, db, byEmail.Set(&twins[1], bson.D{e("email", "b@x")}, token(1)))
		wantDrifts(t, db, byEmail)
	})
}

// Of several unique values that one document claims, one that is taken gives back the others.
func TestIndexTableUniqueElements(t *testing.T) {
	parallel(t)
	x := denorm.NewIndexTable(members, "tags", "uniqueTags", denorm.IndexTableSpec{Unique: true})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		b := member{ID: "b", Tags: []string{"z"}}
		mustExec(t, db, x.Insert(member{ID: "a", Tags: []string{"x", "y"}}, token(1)), x.Insert(b, token(2)))
		before, err := modeltest.Dump(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []model.Plan{
			x.Insert(member{ID: "c", Tags: []string{"w", "y"}}, token(3)),
			x.Set(&b, bson.D{e("tags", []string{"z", "w", "x"})}, token(4)),
		} {
			if err := exec(t.Context(), db, p); !errors.Is(err, model.ErrTaken) {
				t.Errorf("error %v", err)
			}
		}
		wantDrifts(t, db, x)
		if after, _ := modeltest.Dump(t.Context(), db); after != before {
			t.Errorf("changed:\n%s", after)
		}
	})
}

func TestIndexTableRefuses(t *testing.T) {
	parallel(t)
	m := member{ID: "a", City: "Rome"}
	badDoc := bson.D{e("_id", 1), e("at", bson.A{bson.D{e("place", 1)}})}
	nested := bson.D{e("_id", 1), e("at", bson.D{e("place", bson.A{bson.A{1}})})}
	for reason, err := range map[string]error{
		"no token":                   byCity.Insert(m, bson.NilObjectID).Err(),
		"no token to set":            byCity.Set(&m, bson.D{e("city", "Oslo")}, bson.NilObjectID).Err(),
		"no _id":                     byCity.Insert(member{City: "Rome"}, token(1)).Err(),
		"no document":                byCity.Delete(nil).Err(),
		"nothing to set":             byCity.Set(&m, nil, token(1)).Err(),
		"an unknown field":           byCity.Set(&m, bson.D{e("town", "Oslo")}, token(1)).Err(),
		"another type":               byCity.Set(&m, bson.D{e("city", 7)}, token(1)).Err(),
		"another element type":       byTag.Set(&m, bson.D{e("tags", []int{7})}, token(1)).Err(),
		"the _id":                    byCity.Set(&m, bson.D{e("_id", "b")}, token(1)).Err(),
		"a field twice":              byCity.Set(&m, bson.D{e("home", address{}), e("home.zip", "1")}, token(1)).Err(),
		"inside an array":            byCity.Set(&m, bson.D{e("pairs.key", "x")}, token(1)).Err(),
		"below the value":            byAny.Set(&bson.D{e("_id", 1)}, bson.D{e("at.place.x", 1)}, token(1)).Err(),
		"a value in an array":        byAny.Insert(badDoc, token(1)).Err(),
		"an array in an array":       byAny.Insert(nested, token(1)).Err(),
		"a regular expression":       byAny.Insert(bson.D{e("_id", 1), e("at", bson.D{e("place", bson.Regex{Pattern: "x"})})}, token(1)).Err(),
		"lookup of another type":     byCity.Lookup(7).Err,
		"lookup of null":             byCity.Lookup(nil).Err,
		"lookup of an array":         byAny.Lookup(bson.A{1}).Err,
		"documents of another type":  byCity.Documents(7).Err,
		"nothing surplus":            byCity.Checks()[0].Mend(emptyFinding(byCity.Checks()[0])).Err(),
		"nothing stale":              byCity.Checks()[1].Mend(emptyFinding(byCity.Checks()[1])).Err(),
		"nothing missing":            byCity.Checks()[2].Mend(emptyFinding(byCity.Checks()[2])).Err(),
		"rebuild of what can't have": func() error { _, err := byAny.Rebuild().Stages[0].Plan([]bson.Raw{marshal(nested)}); return err }(),
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, want a *model.ValueError", reason, err)
		}
	}
}

func TestIndexTableDeclaration(t *testing.T) {
	parallel(t)
	copies := func(paths ...string) denorm.IndexTableSpec { return denorm.IndexTableSpec{Copies: paths} }
	for reason, declare := range map[string]func(){
		"no such path":           func() { denorm.NewIndexTable(members, "town", "x", denorm.IndexTableSpec{}) },
		"the _id":                func() { denorm.NewIndexTable(members, "_id", "x", denorm.IndexTableSpec{}) },
		"inside an array":        func() { denorm.NewIndexTable(members, "pairs.key", "x", denorm.IndexTableSpec{}) },
		"the documents' name":    func() { denorm.NewIndexTable(members, "city", "members", denorm.IndexTableSpec{}) },
		"no name":                func() { denorm.NewIndexTable(members, "city", "", denorm.IndexTableSpec{}) },
		"no such copy":           func() { denorm.NewIndexTable(members, "city", "x", copies("nom")) },
		"a copy of the value":    func() { denorm.NewIndexTable(members, "city", "x", copies("city")) },
		"copies that overlap":    func() { denorm.NewIndexTable(members, "city", "x", copies("home", "home.zip")) },
		"a copy inside an array": func() { denorm.NewIndexTable(members, "city", "x", copies("pairs.key")) },
		"a copy of the _id":      func() { denorm.NewIndexTable(members, "city", "x", copies("_id")) },
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Problem == "" || d.Place == "" || d.Remedy == "" {
					t.Errorf("panic %v", d)
				}
			}()
			declare()
		})
	}
	r := byEmail.Relations()[0]
	if r.From != "emails" || r.FromPath != "id" || r.FromEnd != model.ZeroOrOne || byCity.Relations()[0].FromEnd != model.Many || byCity.Relations()[0].FromPath != "_id.id" {
		t.Errorf("relations: %v", r)
	}
}
