package proximity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	resume struct {
		ID     string       `bson:"_id"`
		Name   string       `bson:"name,omitempty"`
		Skills []skillLevel `bson:"skills,omitempty"`
		Langs  []string     `bson:"langs,omitempty"`
	}
	skillLevel struct {
		Skill string `bson:"skill,omitempty"`
		Level string `bson:"level,omitempty"`
	}
)

var (
	resumes   = model.NewCollection[resume, string]("resumes")
	levelText = proximity.New(resumes, "skills", proximity.Spec{
		Text: "skillText", Fields: []string{"skill", "level"},
	})

	langText    = proximity.New(resumes, "langs", proximity.Spec{Text: "langText", IgnoreCase: true})
	openResumes = model.NewCollection[bson.D, any]("resumes")

	openText = proximity.New(openResumes, "skills", proximity.Spec{
		Text: "skillText", Fields: []string{"skill", "level"},
	})
	openLangs = proximity.New(openResumes, "cv.langs", proximity.Spec{Text: "langText"})
)

// resumeWith is the one résumé, with fields.
func resumeWith(fields ...any) testkit.Docs {
	return testkit.Docs{"resumes": {append(bson.D{testkit.E("_id", "r")}, testkit.D(fields...)...)}}
}

func TestProximityWrites(t *testing.T) {
	testkit.Parallel(t)
	skill := func(kv ...string) bson.D {
		d := bson.D{}
		for i := 0; i < len(kv); i += 2 {
			d = append(d, testkit.E(kv[i], kv[i+1]))
		}
		return d
	}
	math, poetry := skill("skill", "Math", "level", "Poor"), skill("skill", "Poe|try", "level", "50%, or so;\x00")
	one := resumeWith("skills", bson.A{math}, "skillText", "|Math,Poor|")
	two := resumeWith("skills", bson.A{math, poetry}, "skillText", "|Math,Poor|Poe%7Ctry,50%25%2C or so%3B%00|")
	last := resumeWith("skills", bson.A{poetry}, "skillText", "|Poe%7Ctry,50%25%2C or so%3B%00|")
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "one more", Before: one, Write: openText.Add("r", poetry), After: two, Status: model.Applied,
			Again: model.Already,
		},
		{
			Reason: "the first", Before: resumeWith(), Write: openText.Add("r", math),
			After: one, Status: model.Applied,
			Again: model.Already,
		},
		{
			Reason: "the first, of a null", Before: resumeWith("skills", nil),
			Write: openText.Add("r", math), After: one, Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "one that is there", Before: two, Write: openText.Add("r", math), Status: model.Already,
			Again: model.Already,
		},
		{
			Reason: "one more of none", Before: testkit.Docs{"resumes": {}}, Write: openText.Add("r", math),
			Err: model.ErrNotFound,
		},
		{
			Reason: "taken out", Before: two, Write: openText.Remove("r", math), After: last, Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "all taken out", Before: two, Write: openText.Remove("r", poetry, math),
			After:  resumeWith("skills", bson.A{}, "skillText", "|"),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "taken out where it isn't", Before: one, Write: openText.Remove("r", poetry), Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "null taken out of a list",
			Before: resumeWith("cv", bson.D{testkit.E("langs", bson.A{nil, "en"})}, "langText", "|;;|en|"),
			Write:  openLangs.Remove("r", nil),

			After:  resumeWith("cv", bson.D{testkit.E("langs", bson.A{"en"})}, "langText", "|en|"),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "null taken out of nothing", Before: resumeWith(),
			Write: openLangs.Remove("r", nil), Status: model.Applied,
			Again: model.Applied,
		},
		{Reason: "nothing to take out", Before: one, Write: openText.Remove("r"), Err: testkit.ErrRefused},
		{
			Reason: "what is no text", Before: one,
			Write: openText.Add("r", bson.D{testkit.E("skill", 1)}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "what is no UTF-8", Before: one,
			Write: openText.Add("r", bson.D{testkit.E("skill", "\xff")}),
			Err:   testkit.ErrRefused,
		},
		{Reason: "what is no document", Before: one, Write: openText.Add("r", "Math"), Err: testkit.ErrRefused},
		{Reason: "what can't be encoded", Before: one, Write: openText.Remove("r", func() {}), Err: testkit.ErrRefused},
		{Reason: "no _id to add to", Before: one, Write: openText.Add(nil, math), Err: testkit.ErrRefused},
		{Reason: "no _id to take out of", Before: one, Write: openText.Remove(nil, math), Err: testkit.ErrRefused},
	})
}

// A store computes the text of a list, whatever the caller gives.
func TestProximityStore(t *testing.T) {
	testkit.Parallel(t)
	type change = model.ChangeOf[model.Stored[bson.D]]
	skill := func(name string) bson.D { return bson.D{testkit.E("skill", name), testkit.E("level", "Poor")} }
	texts, langs := model.NewStore(model.New("resumes", openText), openResumes),
		model.NewStore(model.New("resumes", openLangs), openResumes)
	doc := func(fields ...bson.E) bson.D { return append(bson.D{testkit.E("_id", "r")}, fields...) }
	one := resumeWith("skills", bson.A{skill("Math")}, "skillText", "|Math,Poor|")
	two := resumeWith("skills", bson.A{skill("Math"), skill("Go")}, "skillText", "|Math,Poor|Go,Poor|")
	none := testkit.Docs{"resumes": {}}
	list := func(elements ...any) bson.D { return bson.D{testkit.E("skills", append(bson.A{}, elements...))} }
	deep := bson.D{testkit.E("langs", bson.A{"en", nil, ""})}
	for reason, c := range map[string]struct {
		before testkit.Docs
		change change
		after  testkit.Docs
		err    error
	}{
		"a new document": {none, texts.Insert(doc(testkit.E("skills", bson.A{skill("Math")}))), one, nil},
		"without a list": {none, texts.Insert(doc()), resumeWith(), nil},
		"an empty list": {
			before: none, change: texts.Insert(doc(testkit.E("skills", bson.A{}))),
			after: resumeWith("skills", bson.A{}, "skillText", "|"), err: nil,
		},
		"a list deeper down": {
			before: none, change: langs.Insert(doc(testkit.E("cv", deep))),
			after: resumeWith("cv", deep, "langText", "|en|;;||"), err: nil,
		},
		"another document": {one, texts.Replace(doc(testkit.E("skills", bson.A{skill("Go")}))),
			resumeWith("skills", bson.A{skill("Go")}, "skillText", "|Go,Poor|"), nil},
		"another list":           {two, texts.Set("r", list(skill("Math"))), one, nil},
		"an empty list in place": {two, texts.Set("r", list()), resumeWith("skills", bson.A{}, "skillText", "|"), nil},
		"no list in place": {
			before: two,
			change: texts.Set("r", bson.D{testkit.E("skills", bson.RawValue{})}),
			after:  resumeWith(), err: nil,
		},
		"a list with its text": {
			before: two,
			change: texts.Set("r", append(list(skill("Math")), testkit.E("skillText", "|Math,Poor|"))),
			after:  one, err: nil,
		},
		"fields that an element hasn't, and others": {
			before: one,
			change: texts.Set("r", list(bson.D{testkit.E("level", nil), testkit.E("years", 3)})),

			after: resumeWith("skills",
				bson.A{bson.D{testkit.E("level", nil), testkit.E("years", 3)}}, "skillText", "|;,;;|"),
			err: nil,
		},
		"one element": {one, texts.Set("r", bson.D{testkit.E("skills.0.level", "Good")}),
			resumeWith("skills", bson.A{bson.D{testkit.E("skill", "Math"), testkit.E("level", "Good")}},
				"skillText", "|Math,Good|"), nil},
		"another list deeper down": {
			before: resumeWith("cv", bson.D{testkit.E("x", 1)}),
			change: langs.Set("r", bson.D{testkit.E("cv.langs", bson.A{"en"})}),

			after: resumeWith("cv", bson.D{testkit.E("x", 1), testkit.E("langs", bson.A{"en"})}, "langText", "|en|"),
			err:   nil,
		},
		"a document that isn't there": {none, texts.Set("r", list(skill("Math"))), none, model.ErrNotFound},
		"a Set without text": {
			before: one,
			change: texts.Set("r", list(bson.D{testkit.E("skill", 1)})),
			after:  one, err: testkit.ErrRefused,
		},
		"a Set of another text": {
			before: one,
			change: texts.Set("r", append(list(skill("Go")), testkit.E("skillText", "|x|"))),
			after:  one, err: testkit.ErrRefused,
		},
		"another text": {
			before: none,
			change: texts.Insert(doc(testkit.E("skills", bson.A{}), testkit.E("skillText", "x"))),
			after:  none, err: testkit.ErrRefused,
		},
		"what is no list":       {none, texts.Insert(doc(testkit.E("skills", "Math"))), none, testkit.ErrRefused},
		"a list within lists":   {none, langs.Insert(doc(testkit.E("cv", bson.A{1}))), none, testkit.ErrRefused},
		"elements without text": {one, texts.Replace(doc(testkit.E("skills", bson.A{1}))), one, testkit.ErrRefused},
	} {
		t.Run(reason, func(t *testing.T) {
			if reason == "another document" {
				tenancy.Differs(t, "a replacement of a document of any form would remove the scope's fields")
			}
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.Seed(t, db, c.before)
				_, _, err := c.change.Run(t.Context(), db)
				testkit.WantError(t, err, c.err)
				testkit.WantDocs(t, db, c.after)
			})
		})
	}
}

func TestProximityQueries(t *testing.T) {
	testkit.Parallel(t)
	list := []any{
		resume{ID: "a", Skills: []skillLevel{{"Poetry", "Poor"}, {"Math", "Excellent"}}},
		resume{ID: "b", Skills: []skillLevel{{"Classical Poetry", "Truly Excellent"}, {"Math", "Poor"}}},
		resume{ID: "c", Skills: []skillLevel{{"C++ (20|20)", "a.b,c"}, {Level: "Poor"}}},
		resume{ID: "d"},
		resume{
			ID:     "e",
			Skills: []skillLevel{{"poetry", "excellent"}, {"Math\nMath", ".*"}, {"x", "NUL\x00%"}},
			Langs:  []string{"Old  English", "DE", "é"},
		},
	}
	is := func(kv ...any) (d bson.D) {
		for i := 0; i < len(kv); i += 2 {
			d = append(d, testkit.E(kv[i].(string), kv[i+1]))
		}
		return d
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"resumes": list})
		for _, c := range slices.Concat(levelText.Checks(), langText.Checks()) {
			if err := testkit.CheckJob(c)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			reason string
			query  *model.Find[resume]
			want   string
		}{
			{"both of one element", levelText.Equal(is("skill", "Math", "level", "Poor")), "b"},
			{"one of the fields", levelText.Equal(is("level", "Poor")), "a b c"},
			{"not a part of a value", levelText.Equal(is("skill", "Poetry")), "a"},
			{"a field that an element hasn't", levelText.Equal(is("skill", nil)), "c"},
			{"what looks like a pattern", levelText.Equal(is("level", ".*")), "e"},
			{"what holds every delimiter", levelText.Equal(is("skill", "C++ (20|20)", "level", "a.b,c")), "c"},
			{"NUL and percent", levelText.Equal(is("level", "NUL\x00%")), "e"},
			{"half of what holds a delimiter", levelText.Equal(is("level", "a.b")), ""},
			{"case counts", levelText.Equal(is("skill", "poetry")), "e"},
			{"unless it is ignored", langText.Equal(is("langs", "de")), "e"},
			{"next to each other", levelText.Near("Poetry", "Poor", 0, proximity.InOrder), "a"},
			{"not across elements", levelText.Near("Poor", "Math", 5, proximity.AnyOrder), "b"},
			{"not across elements, in order", levelText.Near("Poor", "Math", 5, proximity.InOrder), ""},
			{"too far", levelText.Near("Poetry", "Excellent", 0, proximity.AnyOrder), ""},
			{"a word between", levelText.Near("Poetry", "Excellent", 1, proximity.AnyOrder), "b"},
			{"two words between", levelText.Near("Classical", "Excellent", 2, proximity.InOrder), "b"},
			{"the other way round", levelText.Near("Excellent", "Poetry", 1, proximity.AnyOrder), "b"},
			{"the other way round, in order", levelText.Near("Excellent", "Poetry", 1, proximity.InOrder), ""},
			{"not a part of a word", levelText.Near("oetry", "Poor", 0, proximity.InOrder), ""},
			{"one word twice", levelText.Near("Math", "Math", 0, proximity.InOrder), "e"},
			{"words that look like patterns", levelText.Near("C++", "(20|20)", 0, proximity.InOrder), "c"},
			{"a comma is no end of a word", levelText.Near("(20|20)", "a.b,c", 0, proximity.InOrder), "c"},
			{"several spaces", langText.Near("old", "english", 0, proximity.InOrder), "e"},
			{
				reason: "both conditions",
				query: levelText.Near("Poetry", "Excellent", 1, proximity.AnyOrder).
					Where(levelText.Equal(is("skill", "Math")).Filter),
				want: "b",
			},
		} {
			t.Run(c.reason, func(t *testing.T) {
				found, err := c.query.Sorted(is("_id", 1)).All(t.Context(), db)
				var got []string
				for _, r := range found {
					got = append(got, r.ID)
				}
				if err != nil || strings.Join(got, " ") != c.want {
					t.Errorf("%s found %v, want %v, %v", c.query, got, c.want, err)
				}
			})
		}
	})
	long := strings.Repeat("x", 40000)
	for reason, err := range map[string]error{
		"no field": levelText.Equal(nil).Err, "an unknown field": levelText.Equal(is("name", "x")).Err,
		"a number":                levelText.Equal(is("skill", 1)).Err,
		"a pattern":               levelText.Equal(is("skill", bson.Regex{Pattern: "."})).Err,
		"an operator":             levelText.Equal(is("skill", is("$gt", ""))).Err,
		"no UTF-8":                levelText.Equal(is("skill", "\xff")).Err,
		"a long text":             levelText.Equal(is("skill", long)).Err,
		"a long word":             levelText.Near("a", long, 0, proximity.InOrder).Err,
		"an empty word":           levelText.Near("", "b", 0, proximity.InOrder).Err,
		"two words":               levelText.Near("a", "b c", 0, proximity.InOrder).Err,
		"a word of no UTF-8":      levelText.Near("a", "\xff", 0, proximity.InOrder).Err,
		"fewer than none between": levelText.Near("a", "b", -1, proximity.InOrder).Err,
		"too many between":        levelText.Near("a", "b", 101, proximity.InOrder).Err,
		"no order":                levelText.Near("a", "b", 1, 7).Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

// Thirty-two that add at once: each element is there once, in the list and in the text.
func TestProximityConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, resumeWith())
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				// each twice
				_, errs[i] = levelText.Add("r", skillLevel{fmt.Sprint("s", i/2), "Poor"}).Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		got, err := resumes.ByID("r").One(t.Context(), db)
		if err != nil || len(got.Skills) != 16 {
			t.Errorf("%d skills, %v", len(got.Skills), err)
		}
		wantTexts(t, db, levelText)
	})
}

func wantTexts[D, K any](t testing.TB, db *mongo.Database, x *proximity.Proximity[D, K], want ...string) {
	t.Helper()
	found, _ := testkit.FindingsOf(t, db, x.Checks()[0])
	var got []string
	for _, f := range found {
		got = append(got, f.ID.StringValue())
	}
	if !slices.Equal(got, want) {
		t.Errorf("drift of %v, want %v", got, want)
	}
}

// What other code left is found, all of it, and mended.
func TestProximityRepair(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, slices.Concat(levelText.Checks(), langText.Checks()), 2)
	testkit.WantRefusedFindings(t, levelText.Checks()...)
	math := bson.D{testkit.E("skill", "Math"), testkit.E("level", "a|b%")}
	d := func(id string, fields ...bson.E) bson.D { return append(bson.D{testkit.E("_id", id)}, fields...) }
	damaged := testkit.Docs{"resumes": {
		d("a", testkit.E("skills", bson.A{math}), testkit.E("skillText", "|Math,Poor|")),
		d("b", testkit.E("skills", bson.A{math, bson.D{testkit.E("level", nil)}})), d("c", testkit.E("skillText", "|")),
		d("d", testkit.E("skills", bson.A{}), testkit.E("skillText", 5)),
		d("e", testkit.E("skills", nil), testkit.E("skillText", "|x,y|")),
		d("f", testkit.E("skills", bson.A{1, bson.D{testkit.E("skill", 1)}, nil})),
		d("ok1", testkit.E("skills", bson.A{math}), testkit.E("skillText", "|Math,a%7Cb%25|")), d("ok2"),
		d("ok3", testkit.E("skills", nil)),
	}}
	mended := testkit.Docs{"resumes": {
		damaged["resumes"][6],
		d("b", testkit.E("skills", bson.A{math, bson.D{testkit.E("level", nil)}}),
			testkit.E("skillText", "|Math,a%7Cb%25|;,;;|")), d("c"),
		d("d", testkit.E("skills", bson.A{}), testkit.E("skillText", "|")), d("e", testkit.E("skills", nil)),
		d("f", testkit.E("skills", bson.A{1, bson.D{testkit.E("skill", 1)}, nil}),
			testkit.E("skillText", "|;,;|;;;,;|;,;|")), damaged["resumes"][6],
		damaged["resumes"][7], damaged["resumes"][8],
	}}
	mended["resumes"][0] = d("a", mended["resumes"][0].(bson.D)[1:]...)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed:  func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, damaged) },
		Run:   testkit.CheckJob(openText.Checks()[0]),
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, mended) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, damaged)
		wantTexts(t, db, openText, "a", "b", "c", "d", "e", "f")
		_, said := testkit.FindingsOf(t, db, openText.Checks()[0])
		if want := []string{
			"resumes 'a': has the text '|Math,Poor|', but its list makes '|Math,a%7Cb%25|'",
			"resumes 'b': has no text, but its list makes '|Math,a%7Cb%25|;,;;|'",
			"resumes 'c': has the text '|', and the list is missing",
			"resumes 'd': has the text 5, but its list makes '|'",
			"resumes 'e': has the text '|x,y|', and the list is missing",
			"resumes 'f': has no text, but its list makes '|;,;|;;;,;|;,;|'",
		}; !slices.Equal(said, want) {
			t.Errorf("found %q, want %q", said, want)
		}
	})
}

func TestProximityCosts(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"resumes": {resume{ID: "r", Skills: []skillLevel{{"Math", "Poor"}}}, resume{ID: "s"}},
		})
		run := func(w model.Write) func() error {
			return func() error {
				_, err := w.Run(t.Context(), db)
				return err
			}
		}
		for _, w := range []model.Write{
			levelText.Add("r", skillLevel{"Go", "Good"}), levelText.Remove("r", skillLevel{"Go", "Good"}),
		} {
			modeltest.WantCost(t, m, w.Cost(), run(w))
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 1},
			run(levelText.Add("r", skillLevel{"Math", "Poor"})))
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := levelText.Equal(bson.D{testkit.E("skill", "Math")}).All(t.Context(), db)
			return err
		})
		if err := model.New("test", levelText).Indexes().Ensure(t.Context(), db); err != nil {
			t.Error(err)
		}
		modeltest.WantIndexed(t, db, levelText.Add("r", skillLevel{"C", "Good"}), model.IDIndex)
	}, m)
}

func TestProximityDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type board struct {
		ID    string `bson:"_id"`
		Posts []struct {
			ID string `bson:"id"`
			N  int    `bson:"n"`
		} `bson:"posts"`
		Stats int `bson:"stats"`
	}
	boards, fields := model.NewCollection[board, string]("boards"), []string{"skill", "level"}
	declare := func(path string, spec proximity.Spec) func() {
		return func() { proximity.New(resumes, path, spec) }
	}
	for reason, f := range map[string]func(){
		"no Text":               declare("langs", proximity.Spec{}),
		"a path as Text":        declare("langs", proximity.Spec{Text: "a.b"}),
		"the list as Text":      declare("langs", proximity.Spec{Text: "langs"}),
		"the _id as Text":       declare("langs", proximity.Spec{Text: "_id"}),
		"a Text that is a list": declare("langs", proximity.Spec{Text: "skills"}),
		"Fields is empty":       declare("skills", proximity.Spec{Text: "t"}),
		"no such path":          declare("lang", proximity.Spec{Text: "t"}),
		"no such field":         declare("skills", proximity.Spec{Text: "t", Fields: []string{"x"}}),
		"Fields of strings":     declare("langs", proximity.Spec{Text: "t", Fields: fields}),
		"no strings": func() {
			proximity.New(boards, "posts", proximity.Spec{Text: "t", Fields: []string{"n"}})
		},
		"a Text of another type": func() {
			proximity.New(boards, "posts", proximity.Spec{Text: "stats", Fields: []string{"id"}})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if r := levelText.Relations(); r != nil {
		t.Errorf("relations %v", r)
	}
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestProximityPrices(t *testing.T) {
	testkit.Parallel(t)
	nested := func(id string, skills ...skillLevel) resume { return resume{ID: id, Skills: skills} }
	math := skillLevel{"Math", "Poor"}
	store := model.NewStore(model.New("resumes", levelText), resumes)
	testkit.WantPrices(t,
		testkit.Stored(testkit.Docs{"resumes": {nested("a", math), nested("b", skillLevel{"Go", "Good"})}}),
		testkit.Reads("Checks", 2, levelText.Checks()[0].Find()), testkit.Mending(1, 2, levelText.Checks()[0]),
		testkit.Does("Insert", 1, 1, 0, testkit.Changed(store.Insert(nested("r", math)))),
		testkit.Does("Replace", 2, 1, 1, testkit.Changed(store.Replace(nested("r", math, skillLevel{"Go", "Good"})))),
		testkit.Does("Set", 1, 1, 1,
			testkit.Changed(store.Set("b", bson.D{testkit.E("skills", []skillLevel{{"Go", "Poor"}})}))),
		testkit.Reads("Near", 2, levelText.Near("Math", "Poor", 0, proximity.InOrder)),
		testkit.Does("Add to none", 3, 0, 0, func(ctx context.Context, db *mongo.Database) error {
			if err := testkit.Exec(ctx, db,
				model.NewPlan(levelText.Add("none", math))); !errors.Is(err, model.ErrNotFound) {
				return fmt.Errorf("it is there: %w", err)
			}
			return nil
		}),
	)
}

// Each write finds its document by _id.
func TestProximityWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"resumes": {resume{ID: "r"}}})
		check := levelText.Checks()[0]
		testkit.WantStepsIndexed(t, db, "Proximity.Checks", model.IDIndex,
			check.Mend([]model.Finding{{Check: check.Name, Detail: testkit.Marshal(bson.D{testkit.E("_id", "r")})}}))
		testkit.WantStepsIndexed(t, db, "Proximity", model.IDIndex,
			model.NewPlan(levelText.Remove("r", skillLevel{"Go", "Good"})))
	})
}
