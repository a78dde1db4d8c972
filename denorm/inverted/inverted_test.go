package inverted_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: members, found by their city, their tags and their zip.
type (
	member struct {
		ID   string   `bson:"_id"`
		Name string   `bson:"name,omitempty"`
		City string   `bson:"city,omitempty"`
		Tags []string `bson:"tags,omitempty"`
		Home *address `bson:"home,omitempty"`
		Age  int      `bson:"age,omitempty"`
	}
	address struct {
		Zip string `bson:"zip,omitempty"`
	}
)

var members = model.NewCollection[member, string]("members")

var membersBy = inverted.New(members, "by", "city", "tags", "home.zip")

// invertedSet is a query and the plain function that says the same of a member.
type invertedSet struct {
	query inverted.Query
	holds func(member) bool
	text  string
}

func invertedIs(path, value string) invertedSet {
	return invertedSet{membersBy.Is(path, value), func(m member) bool {
		switch path {
		case "city":
			return m.City == value
		case "tags":
			return slices.Contains(m.Tags, value)
		}
		return m.Home != nil && m.Home.Zip == value
	}, path + "=" + value}
}

func invertedRandom(r *rand.Rand, depth int) invertedSet {
	if depth == 0 || r.IntN(4) == 0 {
		path := []string{"city", "tags", "home.zip"}[r.IntN(3)]
		return invertedIs(path, []string{"a", "b", "$c", "a.b"}[r.IntN(4)])
	}
	var others []inverted.Query
	a, list := invertedRandom(r, depth-1), []invertedSet{}
	for range 1 + r.IntN(2) {
		b := invertedRandom(r, depth-1)
		list, others = append(list, b), append(others, b.query)
	}
	any := func(m member) bool { return slices.ContainsFunc(list, func(s invertedSet) bool { return s.holds(m) }) }
	text := a.text
	for _, s := range list {
		text += ", " + s.text
	}
	switch r.IntN(3) {
	case 0:
		return invertedSet{
			query: a.query.Or(others...),
			holds: func(m member) bool { return a.holds(m) || any(m) },
			text:  "or(" + text + ")",
		}
	case 1:
		return invertedSet{
			query: a.query.Minus(others...),
			holds: func(m member) bool { return a.holds(m) && !any(m) },
			text:  "minus(" + text + ")",
		}
	}
	return invertedSet{a.query.And(others...), func(m member) bool {
		return a.holds(m) && !slices.ContainsFunc(list, func(s invertedSet) bool { return !s.holds(m) })
	}, "and(" + text + ")"}
}

func invertedMember(r *rand.Rand, id string) member {
	values := []string{"a", "b", "$c", "a.b"}
	m := member{ID: id, Name: []string{"", "x", "y", "z"}[r.IntN(4)], City: append(values, "")[r.IntN(5)]}
	for range r.IntN(4) {
		m.Tags = append(m.Tags, values[r.IntN(4)])
	}
	if r.IntN(2) == 0 {
		m.Home = &address{values[r.IntN(4)]}
	}
	return m
}

func wantInverted(t testing.TB, db *mongo.Database) {
	t.Helper()
	wantNoDrifts(t, db, membersBy)
}

// Whatever was inserted, set and deleted: every query finds what a plain search of the members does.
func TestInvertedProperty(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"members": nil})
		r := rand.New(rand.NewPCG(6, 1))
		held := map[string]member{}
		for range 120 {
			id := fmt.Sprint("m", r.IntN(40))
			m, known := held[id]
			switch {
			case !known:
				m = invertedMember(r, id)
				mustChange(t, db, stored.Insert(m))
				held[id] = m
			case r.IntN(3) == 0:
				mustChange(t, db, stored.Delete(id))
				delete(held, id)
			default:
				now, fields := invertedMember(r, id), bson.D{} // what would be empty stays as it was
				if now.City != "" {
					m.City, fields = now.City, append(fields, testkit.E("city", now.City))
				}
				if now.Tags != nil {
					m.Tags, fields = now.Tags, append(fields, testkit.E("tags", now.Tags))
				}
				if now.Home != nil {
					m.Home, fields = now.Home, append(fields, testkit.E("home", now.Home))
				}
				m.Name, fields = "z", append(fields, testkit.E("name", "z"))
				mustChange(t, db, stored.Set(id, fields))
				held[id] = m
			}
		}
		wantInverted(t, db)
		for range 60 {
			s := invertedRandom(r, 3)
			checkInverted(t, db, held, s)
		}
		for range 20 {
			checkInverted(t, db, held, invertedRandom(r, 0))
		}
		for range 10 { // of more values than are read apart
			var absent []inverted.Query
			for n := range 17 {
				absent = append(absent, membersBy.Is("tags", fmt.Sprint("absent", n)))
			}
			s := invertedRandom(r, 2)
			checkInverted(t, db, held, invertedSet{s.query.Or(absent...), s.holds, s.text + " or 17 more"})
			checkInverted(t, db, held, invertedSet{s.query.Minus(absent...), s.holds, s.text + " minus 17 more"})
		}
		values, err := membersBy.Values("tags").All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			n := int64(0)
			for _, m := range held {
				if slices.Contains(m.Tags, v.Value.StringValue()) {
					n++
				}
			}
			if v.N != n {
				t.Errorf("%s of %d, want %d", v.Value, v.N, n)
			}
		}
	})
}

func checkInverted(t *testing.T, db *mongo.Database, held map[string]member, s invertedSet) {
	t.Helper()
	want, report := []string{}, map[string]int64{}
	for id, m := range held {
		if s.holds(m) {
			want = append(want, id)
			if m.Name != "" {
				report[m.Name]++
			}
		}
	}
	slices.Sort(want)
	var ids, found []string
	list, err := membersBy.IDs(s.query).All(t.Context(), db)
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	documents, err2 := membersBy.Documents(s.query).All(t.Context(), db)
	for _, m := range documents {
		found = append(found, m.ID)
	}
	count, err3 := membersBy.Count(s.query).One(t.Context(), db)
	counts, err4 := membersBy.Report(s.query, "name").All(t.Context(), db)
	got := map[string]int64{}
	for _, c := range counts {
		got[c.Value.StringValue()] = c.N
	}
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(s.text, err)
	}
	if !slices.Equal(ids, want) && len(want) > 0 || !slices.Equal(found, ids) || count.N != int64(len(want)) ||
		fmt.Sprint(got) != fmt.Sprint(report) {
		t.Errorf("%s: ids %v, documents %v, count %v, report %v, want %v, %v", s.text, ids, found,
			count, got, want, report)
	}
}

// Up to 16 values are read each as one range of _ids, which servers bound that don't bound an $or of ranges.
func TestInvertedApart(t *testing.T) {
	testkit.Parallel(t)
	for _, test := range []struct{ values, reads int }{{1, 1}, {2, 2}, {16, 16}, {17, 1}} {
		var list []inverted.Query
		for n := range test.values {
			list = append(list, membersBy.Is("tags", fmt.Sprint("v", n)))
		}
		reads := 0
		for _, stage := range membersBy.IDs(list[0].Or(list[1:]...)).Pipeline {
			stages := mongo.Pipeline{stage}
			if stage[0].Key == "$unionWith" {
				stages = stage[0].Value.(bson.D)[1].Value.(mongo.Pipeline)
			}
			first := stages[0]
			if first[0].Key != "$match" {
				continue
			}
			filter := first[0].Value.(bson.D)
			switch key := filter[0].Key; {
			case key == "_id":
				reads++
			case key == "$or" && test.values > 16:
				if ranges := len(filter[0].Value.(bson.A)); reads == 0 && ranges == test.values {
					reads++
				}
			}
		}
		if reads != test.reads {
			t.Errorf("%d values are read by %d ranges, want %d", test.values, reads, test.reads)
		}
	}
}

func TestInvertedReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"members": {
			member{ID: "a", City: "Oslo", Tags: []string{"x", "y", "x"}},
			member{ID: "b", City: "Oslo", Tags: []string{"y"}},
			member{ID: "c", City: "Rome"},
			bson.D{testkit.E("_id", "d"), testkit.E("city", "Oslo"), testkit.E("tags", bson.A{nil, "y"})},
		}})
		if _, err := membersBy.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		wantInverted(t, db)
		oslo := membersBy.Is("city", "Oslo")
		report, err := membersBy.Report(oslo, "tags").All(t.Context(), db)
		if got := fmt.Sprint(report); err != nil || got != `[{"x" 1} {"y" 3}]` {
			t.Errorf("report %s, %v", got, err)
		}
		// An entry too many is counted, but leads to no document.
		if _, err := members.Delete("b").Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		ids, err := membersBy.Count(oslo).One(t.Context(), db)
		list, err2 := membersBy.Documents(oslo.And(oslo)).All(t.Context(), db)
		if err := errors.Join(err, err2); err != nil || ids.N != 3 || len(list) != 2 {
			t.Errorf("%v ids, %d documents, %v", ids, len(list), err)
		}
		// So is one that moved past the tables.
		if _, err := members.Update("d", bson.D{testkit.E("$set", bson.D{testkit.E("city", "Bonn")})}).
			Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		list, err = membersBy.Documents(oslo).All(t.Context(), db)
		report, err2 = membersBy.Report(oslo.Or(membersBy.Is("city", "Rome")), "city").All(t.Context(), db)
		if err := errors.Join(err, err2); err != nil || len(list) != 1 || list[0].ID != "a" ||
			fmt.Sprint(report) != `[{"Oslo" 1} {"Rome" 1}]` {
			t.Errorf("%v, %v, %v", list, report, err)
		}
		direct, err := membersBy.Direct("c", "a", "none").All(t.Context(), db)
		if err != nil || len(direct) != 2 ||
			model.Shell(direct[0]) != "{_id: 'a', city: 'Oslo', tags: ['x', 'y', 'x']}" ||
			model.Shell(direct[1]) != "{_id: 'c', city: 'Rome'}" {
			t.Errorf("direct %v, %v", direct, err)
		}
	})
}

func TestInvertedRefusals(t *testing.T) {
	testkit.Parallel(t)
	other := inverted.New(members, "other", "city")
	city := membersBy.Is("city", "Oslo")
	many := city
	for i := range 300 {
		many = many.Or(membersBy.Is("city", fmt.Sprint(i)))
	}
	for reason, err := range map[string]error{
		"an empty query":              membersBy.IDs(inverted.Query{}).Err,
		"an empty query among others": membersBy.IDs(city.And(inverted.Query{})).Err,
		"of another index":            membersBy.IDs(other.Is("city", "Oslo")).Err,
		"with one of another index":   membersBy.Count(city.Or(other.Is("city", "Oslo"))).Err,
		"an unknown path":             membersBy.Documents(membersBy.Is("name", "x")).Err,
		"null":                        membersBy.Report(membersBy.Is("city", nil), "name").Err,
		"a value of another type":     membersBy.IDs(city.Minus(membersBy.Is("city", 5))).Err,
		"a report of no field":        membersBy.Report(city, "nme").Err, "too many values": membersBy.IDs(many).Err,
		"the values of no index": membersBy.Values("name").Err, "no id": membersBy.Direct().Err,
		"an empty id": membersBy.Direct("").Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
	if q := city.And(); fmt.Sprint(membersBy.IDs(q)) != fmt.Sprint(membersBy.IDs(city)) {
		t.Errorf("and nothing: %v", membersBy.IDs(q))
	}
	for reason, f := range map[string]func(){
		"no path":      func() { inverted.New(members, "by") },
		"no such path": func() { inverted.New(members, "by", "cty") },
		"a path twice": func() { inverted.New(members, "by", "city", "city") },
		"paths that overlap": func() {
			inverted.New(model.NewCollection[bson.D, any]("loose"), "by", "at", "at.place")
		}, "no name": func() { inverted.New(members, "$", "city") },
	} {
		t.Run(reason, func(t *testing.T) {
			if d := testkit.Catch(t, f); d == nil || d.Remedy == "" {
				t.Errorf("panicked with %v", d)
			}
		})
	}
	if r := membersBy.Relations(); len(r) != 3 || len(membersBy.Indexes()) > 0 {
		t.Errorf("relations %v, indexes %v", r, membersBy.Indexes())
	}
}

func TestInvertedCostsAndIndex(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 3000 {
			list = append(list, member{
				ID: fmt.Sprint("m", i), City: fmt.Sprint("c", i%500), Tags: []string{fmt.Sprint("t", i%400)},
			})
		}
		testkit.Seed(t, db, testkit.Docs{"members": list})
		if _, err := membersBy.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		ann := member{ID: "ann", City: "c1", Tags: []string{"t1"}}
		for _, c := range []struct {
			change memberChange
			want   model.Cost
		}{
			{stored.Insert(ann), model.Cost{Commands: 6, Written: 6}},
			{stored.Set("ann", bson.D{testkit.E("city", "c2")}), model.Cost{Commands: 6, Written: 6, Returned: 1}},
			{stored.Delete("ann"), model.Cost{Commands: 7, Written: 6, Returned: 1}},
		} {
			modeltest.WantCost(t, m, c.want, func() error { return run(t.Context(), db, testkit.Token(1), c.change) })
		}
		q := membersBy.Is("city", "c7").And(membersBy.Is("tags", "t7"))
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := membersBy.Count(q).One(t.Context(), db)
			return err
		})
		for reason, query := range map[string]any{
			"a value": membersBy.IDs(membersBy.Is("city", "c7")), "IDs": membersBy.IDs(q), "Count": membersBy.Count(q),
			"Documents": membersBy.Documents(q), "Report": membersBy.Report(q, "name"),
			"Direct": membersBy.Direct("m1", "m2"),
		} {
			t.Run(reason, func(t *testing.T) { modeltest.WantIndexed(t, db, query, model.IDIndex) })
		}
	}, m)
}

func wantNoDrifts(t testing.TB, db *mongo.Database, x model.Technique) {
	t.Helper()
	if found, err := testkit.FoundBy(context.Background(), db, x.Checks()); len(found) > 0 || err != nil {
		t.Errorf("the checks find %v, %v", found, err)
	}
}
