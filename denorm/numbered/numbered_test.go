package numbered_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Résumés list skills, each with a level, and languages.
type (
	cv struct {
		ID     string     `bson:"_id"`
		Name   string     `bson:"name,omitempty"`
		Skills []levelDoc `bson:"skills,omitempty"`
		Langs  []string   `bson:"langs,omitempty"`
	}
	levelDoc struct {
		Skill string `bson:"skill,omitempty"`
		Level string `bson:"level,omitempty"`
	}
)

var (
	cvs         = model.NewCollection[cv, string]("resumes")
	levelFields = numbered.New(cvs, "skills", numbered.Spec{
		Max: 3, Fields: []string{"skill", "level"}, Key: "skill",
	})

	numberedLoose = numbered.New(cvs, "skills",
		numbered.Spec{Max: 3, Fields: []string{"skill", "level"}})
	numberedLangs = numbered.New(cvs, "langs", numbered.Spec{Max: 3, Key: "langs", Separator: "-"})

	// The same over documents of any kind.
	numberedOpen = model.NewCollection[bson.D, any]("resumes")
	numberedAny  = numbered.New(numberedOpen, "skills",
		numbered.Spec{Max: 3, Fields: []string{"skill", "level"}})
	numberedAnyValues = numbered.New(numberedOpen, "langs", numbered.Spec{Max: 3})
)

func numberedFlat(fields ...any) testkit.Docs {
	return testkit.Docs{"resumes": {append(bson.D{testkit.E("_id", "r")}, testkit.D(fields...)...)}}
}

func TestNumberedWrites(t *testing.T) {
	testkit.Parallel(t)
	one := numberedFlat("skills", 1, "skill_1", "Math", "level_1", "Poor")
	two := numberedFlat("skills", 2, "skill_1", "Math", "level_1", "Poor", "skill_2", "Poetry", "level_2", "Good")
	three := numberedFlat("skills", 3, "skill_1", "Math", "skill_2", "Poetry", "skill_3", "Go")
	math, poetry := levelDoc{"Math", "Poor"}, levelDoc{"Poetry", "Good"}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "a new document", Before: testkit.Docs{"resumes": {}},
			Write: levelFields.Insert(cv{ID: "r", Skills: []levelDoc{math, poetry}}),
			After: two, Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "a new document without a list", Before: testkit.Docs{"resumes": {}},
			Write: levelFields.Insert(cv{ID: "r"}), After: numberedFlat(),
			Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "another document in its place", Before: two,
			Write: levelFields.Replace(cv{ID: "r", Skills: []levelDoc{math}}),
			After: one, Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a shorter list", Before: three, Write: levelFields.Set("r", math),
			After: one, Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "an empty list", Before: three, Write: levelFields.Set("r"), After: numberedFlat("skills", 0),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a longer list, with a field that an element hasn't",
			Before: two,
			Write: levelFields.Set("r", levelDoc{Skill: "Math"}, levelDoc{Skill: "Poetry"},
				levelDoc{Skill: "Go"}),
			After: three, Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a document that isn't there", Before: testkit.Docs{"resumes": {}},
			Write: levelFields.Set("r", math),
			Err:   model.ErrNotFound,
		},
		{
			Reason: "the first element", Before: numberedFlat(), Write: levelFields.AppendAt("r", 0, math), After: one,
			Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "the first element, of a null", Before: numberedFlat("skills", nil),
			Write: levelFields.AppendAt("r", 0, math), After: one, Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "one more", Before: one, Write: levelFields.AppendAt("r", 1, poetry),
			After: two, Status: model.Applied,
			Again: model.Already,
		},
		{
			Reason: "one that is there", Before: two, Write: levelFields.AppendAt("r", 2, math), Status: model.Already,
			Again: model.Already,
		},
		{
			Reason: "a longer list than was read", Before: two,
			Write: numberedLoose.AppendAt("r", 1, math), Err: model.ErrStale,
		},
		{
			Reason: "a shorter list than was read", Before: one, Write: numberedLoose.AppendAt("r", 2, math),
			Err: model.ErrStale,
		},
		{Reason: "no position is free", Before: three, Write: numberedLoose.AppendAt("r", 3, math), Err: model.ErrFull},
		{
			Reason: "a count below 0", Before: three, Write: numberedLoose.AppendAt("r", -1, math),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "too many elements", Before: one,
			Write: levelFields.Set("r", math, math, math, math),
			Err:   testkit.ErrRefused,
		},
		{Reason: "no key", Before: one, Write: levelFields.AppendAt("r", 1, levelDoc{}), Err: testkit.ErrRefused},
		{
			Reason: "an undeclared field", Before: one,
			Write: numberedAny.Set("r", bson.D{{Key: "other", Value: 1}}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "a field that stands twice", Before: one,
			Write: numberedAny.Set("r", bson.D{{Key: "skill", Value: 1}, {Key: "skill", Value: 1}}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "an array in an element", Before: one,
			Write: numberedAny.Set("r", bson.D{{Key: "skill", Value: bson.A{1}}}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "an array as plain value", Before: one, Write: numberedAnyValues.Set("r", bson.A{1}),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "an element that is no document", Before: one, Write: numberedAny.Set("r", "Math"),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a name that can't be stored", Before: one,
			Write: numberedAny.Set("r", bson.D{{Key: "skill", Value: bson.D{{Key: "$x", Value: 1}}}}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "a list that is no list", Before: one,
			Write: numberedAny.Insert(bson.D{{Key: "_id", Value: "x"}, {Key: "skills", Value: 2}}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "a field of a numbered name", Before: one,
			Write: numberedAny.Replace(bson.D{{Key: "_id", Value: "r"}, {Key: "skill_1", Value: 2}}),
			Err:   testkit.ErrRefused,
		},
		{Reason: "no _id", Before: one, Write: numberedAny.AppendAt(nil, 0, bson.D{}), Err: testkit.ErrRefused},
		{
			Reason: "plain values", Before: one, Write: numberedLangs.Set("r", "en", "de"),
			After: numberedFlat("skills", 1, "skill_1", "Math", "level_1", "Poor", "langs", 2,
				"langs-1", "en", "langs-2", "de"),

			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a plain value more",
			Before: numberedFlat("langs", 1, "langs-1", "en"),
			Write:  numberedLangs.AppendAt("r", 1, "de"),
			After:  numberedFlat("langs", 2, "langs-1", "en", "langs-2", "de"),
			Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "a plain value that is there",
			Before: numberedFlat("langs", 1, "langs-1", "en"),
			Write:  numberedLangs.AppendAt("r", 1, "en"), Status: model.Already, Again: model.Already,
		},
	})
}

func TestNumberedAppend(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, numberedFlat())
		add := func(x *numbered.Numbered[cv, string], e levelDoc) (model.Result, error) {
			r, err := x.Append("r", e).Run(t.Context(), db)
			return r, err
		}
		for _, s := range []string{"Math", "Poetry", "Math"} {
			r, err := add(levelFields, levelDoc{s, "Poor"})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Steps) > 0 && r.Steps[0].Status != model.Applied {
				t.Errorf("%s: %v", s, r.Steps)
			}
		}
		if _, err := add(numberedLoose, levelDoc{"Math", "Poor"}); err != nil {
			t.Fatal(err)
		}
		_, err := add(numberedLoose, levelDoc{"Math", "Poor"})
		testkit.WantError(t, err, model.ErrFull)
		testkit.WantDocs(t, db,
			numberedFlat("skills", 3, "skill_1", "Math", "level_1", "Poor", "skill_2", "Poetry",
				"level_2", "Poor", "skill_3",
				"Math", "level_3", "Poor"))
		_, err = levelFields.Append("none", levelDoc{"Math", "Poor"}).Run(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		_, err = levelFields.Append("r", levelDoc{}).Run(t.Context(), db)
		testkit.WantError(t, err, testkit.ErrRefused)
		testkit.Seed(t, db, numberedFlat("skills", "two"))
		_, err = add(levelFields, levelDoc{"Math", "Poor"})
		testkit.WantError(t, err, testkit.ErrRefused)
	})
}

// Thirty-two at once: nothing is lost, nothing is there twice, and the list has no gap.
func TestNumberedConcurrent(t *testing.T) {
	testkit.Parallel(t)
	wide := numbered.New(cvs, "skills", numbered.Spec{
		Max: 40, Fields: []string{"skill", "level"}, Key: "skill",
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, numberedFlat())
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				c := wide.Append("r", levelDoc{fmt.Sprint("s", i/2), "Poor"}) // each twice
				c.Attempts = 1000
				c.MaxPause = 50 * time.Millisecond
				_, errs[i] = c.Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		got, err := wide.Documents(wide.Equal(bson.D{{Key: "skill", Value: "s0"}})).One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, s := range got.Skills {
			seen[s.Skill] = true
		}
		if len(got.Skills) != 16 || len(seen) != 16 {
			t.Errorf("%d skills, %d different", len(got.Skills), len(seen))
		}
		wantNumberedSound(t, db, wide)
	})
}

func wantNumberedSound[D, K any](t testing.TB, db *mongo.Database, x *numbered.Numbered[D, K]) {
	t.Helper()
	for _, c := range x.Checks() {
		if _, said := testkit.FindingsOf(t, db, c); len(said) > 0 {
			t.Errorf("%s: %q", c.Name, said)
		}
	}
}

func TestNumberedQueries(t *testing.T) {
	testkit.Parallel(t)
	is := func(kv ...any) (d bson.D) {
		for i := 0; i < len(kv); i += 2 {
			d = append(d, testkit.E(kv[i].(string), kv[i+1]))
		}
		return d
	}
	list := []cv{
		{ID: "a", Skills: []levelDoc{{"Poetry", "Poor"}, {"Math", "Good"}}},
		{ID: "b", Skills: []levelDoc{{"Math", "Poor"}, {"Go", "Poor"}, {"Poetry", "Good"}}},
		{ID: "c", Skills: []levelDoc{{Level: "Good"}}}, {ID: "d"}, {ID: "e", Skills: []levelDoc{{"$gt", "^.*"}}},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"resumes": {}})
		for _, r := range list {
			if _, err := levelFields.Insert(r).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			reason string
			query  *model.Find[bson.Raw]
			want   []string
		}{
			{"both at one position", levelFields.Equal(is("skill", "Poetry", "level", "Good")), []string{"b"}},
			{"at whichever position", levelFields.Equal(is("level", "Poor")), []string{"a", "b"}},
			{"null is a field that an element hasn't", levelFields.Equal(is("skill", nil)), []string{"c"}},
			{"null beside a value", levelFields.Equal(is("skill", nil, "level", "Good")), []string{"c"}},
			{"what looks like an operator", levelFields.Equal(is("skill", "$gt", "level", "^.*")), []string{"e"}},
			{"a document that looks like an operator", levelFields.Equal(is("skill", is("$gt", ""))), nil},
			{
				reason: "operators",
				query:  levelFields.Match(is("skill", is("$in", bson.A{"Math", "Go"}), "level", is("$eq", "Poor"))),
				want:   []string{"b"},
			},
			{
				reason: "operators that hold of nothing",
				query:  levelFields.Match(is("skill", is("$ne", "Math"))),
				want:   []string{"a", "b", "c", "e"},
			},
			{"operators that ask for nothing", levelFields.Match(is("skill", is("$exists", false))), []string{"c"}},
		} {
			t.Run(c.reason, func(t *testing.T) {
				found, err := levelFields.Documents(c.query.Sorted(is("_id", 1))).All(t.Context(), db)
				var got []string
				for _, r := range found {
					got = append(got, r.ID)
					if i := slices.IndexFunc(list, func(o cv) bool {
						return o.ID == r.ID
					}); fmt.Sprint(list[i]) != fmt.Sprint(r) {
						t.Errorf("%v came back as %v", list[i], r)
					}
				}
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("found %v, want %v, %v", got, c.want, err)
				}
			})
		}
		page := levelFields.Equal(is("level", "Poor")).Sorted(is("_id", -1)).Limited(1)
		page.Skip = 1
		if got, err := levelFields.Documents(page).All(t.Context(), db); err != nil ||
			len(got) != 1 || got[0].ID != "a" {
			t.Errorf("a page: %v, %v", got, err)
		}
	})
	for reason, err := range map[string]error{
		"no field": levelFields.Equal(nil).Err, "an unknown field": levelFields.Equal(is("name", 1)).Err,
		"a field twice":                     levelFields.Equal(is("skill", 1, "skill", 2)).Err,
		"an array":                          levelFields.Equal(is("skill", bson.A{1})).Err,
		"a value that can't be stored":      levelFields.Equal(is("skill", func() {})).Err,
		"no condition":                      levelFields.Match(nil).Err,
		"a value as condition":              levelFields.Match(is("skill", "a")).Err,
		"a document as condition":           levelFields.Match(is("skill", is("a", 1))).Err,
		"an empty condition":                levelFields.Match(is("skill", bson.D{})).Err,
		"of a refused query":                levelFields.Documents(levelFields.Equal(nil)).Err,
		"a condition that can't be encoded": levelFields.Match(is("skill", func() {})).Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

func TestNumberedCostsAndIndexes(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			flat, err := levelFields.Flatten(cv{
				ID:     fmt.Sprint("r", i),
				Skills: []levelDoc{{fmt.Sprint("s", i%900), "Poor"}, {fmt.Sprint("t", i%900), "Good"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, flat)
		}
		testkit.Seed(t, db, testkit.Docs{"resumes": list})
		if err := model.New("test", levelFields).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		run := func(w model.Write) func() error {
			return func() error {
				_, err := w.Run(t.Context(), db)
				return err
			}
		}
		set := levelFields.Set("r1", levelDoc{"s1", "Poor"})
		modeltest.WantCost(t, m, set.Cost(), run(set))
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1},
			run(levelFields.AppendAt("r1", 1, levelDoc{"s2", "Poor"})))
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Written: 1, Returned: 1}, func() error {
			_, err := levelFields.Append("r2", levelDoc{"x", "Poor"}).Run(t.Context(), db)
			return err
		})
		for _, x := range levelFields.Indexes() {
			t.Run(x.Name, func(t *testing.T) {
				modeltest.WantIndexed(t, db,
					levelFields.Equal(bson.D{testkit.E("skill", "s7"), testkit.E("level", "Poor")}), x.Name)
			})
		}
		t.Run("Documents", func(t *testing.T) {
			modeltest.WantIndexed(t, db,
				levelFields.Documents(levelFields.Equal(bson.D{testkit.E("skill", "t7")})), "skill_2_1_level_2_1")
		})
	}, m)
}

func TestNumberedDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(path string, spec numbered.Spec) func() {
		return func() { numbered.New(cvs, path, spec) }
	}
	fields := []string{"skill", "level"}
	for reason, f := range map[string]func(){
		"no such path":  declare("skils", numbered.Spec{Max: 1, Fields: fields}),
		"no list":       declare("name", numbered.Spec{Max: 1}),
		"the _id":       declare("_id", numbered.Spec{Max: 1}),
		"a path within": declare("a.b", numbered.Spec{Max: 1}), "no Max": declare("langs", numbered.Spec{}),
		"a great Max":      declare("langs", numbered.Spec{Max: 61}),
		"no Fields":        declare("skills", numbered.Spec{Max: 1}),
		"Fields of values": declare("langs", numbered.Spec{Max: 1, Fields: fields}),
		"no such field":    declare("skills", numbered.Spec{Max: 1, Fields: []string{"skill", "lvl"}}),
		"a field twice":    declare("skills", numbered.Spec{Max: 1, Fields: []string{"skill", "skill"}}),
		"a digit":          declare("langs", numbered.Spec{Max: 1, Separator: "0"}),
		"a dot":            declare("langs", numbered.Spec{Max: 1, Separator: "."}),
		"no such Key":      declare("skills", numbered.Spec{Max: 1, Fields: fields, Key: "langs"}),
	} {
		t.Run(reason, func(t *testing.T) {
			if d := testkit.Catch(t, f); d == nil || d.Remedy == "" {
				t.Errorf("panicked with %v", d)
			}
		})
	}
	if r := levelFields.Relations(); r != nil {
		t.Errorf("relations %v", r)
	}
}
