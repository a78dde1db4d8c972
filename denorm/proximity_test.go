package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	langText  = denorm.NewProximity(resumes, "langs", denorm.ProximitySpec{Text: "langText", IgnoreCase: true})
	openText  = denorm.NewProximity(numberedOpen, "skills", denorm.ProximitySpec{Text: "skillText", Fields: []string{"skill", "level"}})
	openLangs = denorm.NewProximity(numberedOpen, "cv.langs", denorm.ProximitySpec{Text: "langText"})
)

func TestProximityWrites(t *testing.T) {
	parallel(t)
	skill := func(kv ...string) bson.D {
		d := bson.D{}
		for i := 0; i < len(kv); i += 2 {
			d = append(d, e(kv[i], kv[i+1]))
		}
		return d
	}
	math, poetry := skill("skill", "Math", "level", "Poor"), skill("skill", "Poe|try", "level", "50%, or so;\x00")
	one := numberedFlat("skills", bson.A{math}, "skillText", "|Math,Poor|")
	two := numberedFlat("skills", bson.A{math, poetry}, "skillText", "|Math,Poor|Poe%7Ctry,50%25%2C or so%3B%00|")
	last := numberedFlat("skills", bson.A{poetry}, "skillText", "|Poe%7Ctry,50%25%2C or so%3B%00|")
	doc := func(d docs) bson.D { return d["resumes"][0].(bson.D) }
	runWriteCases(t, []writeCase{
		{reason: "a new document", before: docs{"resumes": {}}, write: openText.Insert(doc(two)[:2]), after: two, status: model.Applied, again: model.Already},
		{reason: "a text that is not the list's", before: docs{"resumes": {}}, write: openText.Insert(append(doc(two)[:2:2], e("skillText", "x"))), after: two, status: model.Applied, again: model.Already},
		{reason: "without a list", before: docs{"resumes": {}}, write: openText.Insert(bson.D{e("_id", "r")}), after: numberedFlat(), status: model.Applied, again: model.Already},
		{reason: "an empty list", before: docs{"resumes": {}}, write: openText.Insert(bson.D{e("_id", "r"), e("skills", bson.A{})}), after: numberedFlat("skills", bson.A{}, "skillText", "|"), status: model.Applied, again: model.Already},
		{reason: "a list deeper down", before: docs{"resumes": {}}, write: openLangs.Insert(bson.D{e("_id", "r"), e("cv", bson.D{e("langs", bson.A{"en", nil, ""})})}),
			after: numberedFlat("cv", bson.D{e("langs", bson.A{"en", nil, ""})}, "langText", "|en|;;||"), status: model.Applied, again: model.Already},
		{reason: "another document in its place", before: two, write: openText.Replace(doc(one)[:2]), after: one, status: model.Applied, again: model.Applied},
		{reason: "another list", before: two, write: openText.Set("r", math), after: one, status: model.Applied, again: model.Applied},
		{reason: "no element", before: two, write: openText.Set("r"), after: numberedFlat("skills", bson.A{}, "skillText", "|"), status: model.Applied, again: model.Applied},
		{reason: "fields that an element hasn't, and others", before: one, write: openText.Set("r", bson.D{e("level", nil), e("years", 3)}),
			after: numberedFlat("skills", bson.A{bson.D{e("level", nil), e("years", 3)}}, "skillText", "|;,;;|"), status: model.Applied, again: model.Applied},
		{reason: "a document that isn't there", before: docs{"resumes": {}}, write: openText.Set("r", math), err: model.ErrStale},
		{reason: "one more", before: one, write: openText.Add("r", poetry), after: two, status: model.Applied, again: model.Already},
		{reason: "the first", before: numberedFlat(), write: openText.Add("r", math), after: one, status: model.Applied, again: model.Already},
		{reason: "the first, of a null", before: numberedFlat("skills", nil), write: openText.Add("r", math), after: one, status: model.Applied, again: model.Already},
		{reason: "one that is there", before: two, write: openText.Add("r", math), status: model.Already, again: model.Already},
		{reason: "one more of none", before: docs{"resumes": {}}, write: openText.Add("r", math), err: model.ErrStale},
		{reason: "taken out", before: two, write: openText.Remove("r", math), after: last, status: model.Applied, again: model.Applied},
		{reason: "all taken out", before: two, write: openText.Remove("r", poetry, math), after: numberedFlat("skills", bson.A{}, "skillText", "|"), status: model.Applied, again: model.Applied},
		{reason: "taken out where it isn't", before: one, write: openText.Remove("r", poetry), status: model.Applied, again: model.Applied},
		{reason: "null taken out of a list", before: numberedFlat("cv", bson.D{e("langs", bson.A{nil, "en"})}, "langText", "|;;|en|"), write: openLangs.Remove("r", nil),
			after: numberedFlat("cv", bson.D{e("langs", bson.A{"en"})}, "langText", "|en|"), status: model.Applied, again: model.Applied},
		{reason: "null taken out of nothing", before: numberedFlat(), write: openLangs.Remove("r", nil), status: model.Applied, again: model.Applied},
		{reason: "nothing to take out", before: one, write: openText.Remove("r"), err: errRefused},
		{reason: "what is no text", before: one, write: openText.Set("r", bson.D{e("skill", 1)}), err: errRefused},
		{reason: "what is no UTF-8", before: one, write: openText.Add("r", bson.D{e("skill", "\xff")}), err: errRefused},
		{reason: "what is no document", before: one, write: openText.Add("r", "Math"), err: errRefused},
		{reason: "what can't be encoded", before: one, write: openText.Remove("r", func() {}), err: errRefused},
		{reason: "a list that is none", before: one, write: openText.Insert(bson.D{e("_id", "x"), e("skills", "Math")}), err: errRefused},
		{reason: "a list within lists", before: one, write: openLangs.Insert(bson.D{e("_id", "x"), e("cv", bson.A{1})}), err: errRefused},
		{reason: "no _id to add to", before: one, write: openText.Add(nil, math), err: errRefused},
		{reason: "no _id to take out of", before: one, write: openText.Remove(nil, math), err: errRefused},
		{reason: "a replacement with no text", before: one, write: openText.Replace(bson.D{e("_id", "r"), e("skills", bson.A{1})}), err: errRefused},
	})
}

func TestProximityQueries(t *testing.T) {
	parallel(t)
	list := []any{
		resume{ID: "a", Skills: []skillLevel{{"Poetry", "Poor"}, {"Math", "Excellent"}}},
		resume{ID: "b", Skills: []skillLevel{{"Classical Poetry", "Truly Excellent"}, {"Math", "Poor"}}},
		resume{ID: "c", Skills: []skillLevel{{"C++ (20|20)", "a.b,c"}, {Level: "Poor"}}},
		resume{ID: "d"}, resume{ID: "e", Skills: []skillLevel{{"poetry", "excellent"}, {"Math\nMath", ".*"}, {"x", "NUL\x00%"}}, Langs: []string{"Old  English", "DE", "é"}},
	}
	is := func(kv ...any) (d bson.D) {
		for i := 0; i < len(kv); i += 2 {
			d = append(d, e(kv[i].(string), kv[i+1]))
		}
		return d
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"resumes": list})
		for _, c := range slices.Concat(skillText.Checks(), langText.Checks()) {
			if err := checkJob(c)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			reason string
			query  model.Find[resume]
			want   string
		}{
			{"both of one element", skillText.Equal(is("skill", "Math", "level", "Poor")), "b"},
			{"one of the fields", skillText.Equal(is("level", "Poor")), "a b c"},
			{"not a part of a value", skillText.Equal(is("skill", "Poetry")), "a"},
			{"a field that an element hasn't", skillText.Equal(is("skill", nil)), "c"},
			{"what looks like a pattern", skillText.Equal(is("level", ".*")), "e"},
			{"what holds every delimiter", skillText.Equal(is("skill", "C++ (20|20)", "level", "a.b,c")), "c"},
			{"NUL and percent", skillText.Equal(is("level", "NUL\x00%")), "e"},
			{"half of what holds a delimiter", skillText.Equal(is("level", "a.b")), ""},
			{"case counts", skillText.Equal(is("skill", "poetry")), "e"},
			{"unless it is ignored", langText.Equal(is("langs", "de")), "e"},
			{"next to each other", skillText.Near("Poetry", "Poor", 0, denorm.InOrder), "a"},
			{"not across elements", skillText.Near("Poor", "Math", 5, denorm.AnyOrder), "b"},
			{"not across elements, in order", skillText.Near("Poor", "Math", 5, denorm.InOrder), ""},
			{"too far", skillText.Near("Poetry", "Excellent", 0, denorm.AnyOrder), ""},
			{"a word between", skillText.Near("Poetry", "Excellent", 1, denorm.AnyOrder), "b"},
			{"two words between", skillText.Near("Classical", "Excellent", 2, denorm.InOrder), "b"},
			{"the other way round", skillText.Near("Excellent", "Poetry", 1, denorm.AnyOrder), "b"},
			{"the other way round, in order", skillText.Near("Excellent", "Poetry", 1, denorm.InOrder), ""},
			{"not a part of a word", skillText.Near("oetry", "Poor", 0, denorm.InOrder), ""},
			{"one word twice", skillText.Near("Math", "Math", 0, denorm.InOrder), "e"},
			{"words that look like patterns", skillText.Near("C++", "(20|20)", 0, denorm.InOrder), "c"},
			{"a comma is no end of a word", skillText.Near("(20|20)", "a.b,c", 0, denorm.InOrder), "c"},
			{"several spaces", langText.Near("old", "english", 0, denorm.InOrder), "e"},
			{"both conditions", skillText.Near("Poetry", "Excellent", 1, denorm.AnyOrder).Where(skillText.Equal(is("skill", "Math")).Filter), "b"},
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
		"no field": skillText.Equal(nil).Err, "an unknown field": skillText.Equal(is("name", "x")).Err, "a number": skillText.Equal(is("skill", 1)).Err,
		"a pattern": skillText.Equal(is("skill", bson.Regex{Pattern: "."})).Err, "an operator": skillText.Equal(is("skill", is("$gt", ""))).Err,
		"no UTF-8": skillText.Equal(is("skill", "\xff")).Err, "a long text": skillText.Equal(is("skill", long)).Err, "a long word": skillText.Near("a", long, 0, denorm.InOrder).Err,
		"an empty word": skillText.Near("", "b", 0, denorm.InOrder).Err, "two words": skillText.Near("a", "b c", 0, denorm.InOrder).Err, "a word of no UTF-8": skillText.Near("a", "\xff", 0, denorm.InOrder).Err,
		"fewer than none between": skillText.Near("a", "b", -1, denorm.InOrder).Err, "too many between": skillText.Near("a", "b", 101, denorm.InOrder).Err, "no order": skillText.Near("a", "b", 1, 7).Err,
	} {
		t.Run(reason, func(t *testing.T) { wantError(t, err, errRefused) })
	}
}

// Thirty-two that add at once: each element is there once, in the list and in the text.
func TestProximityConcurrent(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, numberedFlat())
		errs := make([]error, 32)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = skillText.Add("r", skillLevel{fmt.Sprint("s", i/2), "Poor"}).Run(t.Context(), db) // each twice
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
		wantTexts(t, db, skillText)
	})
}

func wantTexts[D, K any](t testing.TB, db *mongo.Database, x *denorm.Proximity[D, K], want ...string) {
	t.Helper()
	found, _ := findingsOf(t, db, x.Checks()[0])
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
	parallel(t)
	wantDistinctChecks(t, slices.Concat(skillText.Checks(), langText.Checks()), 2)
	wantRefusedFindings(t, skillText.Checks()...)
	math := bson.D{e("skill", "Math"), e("level", "a|b%")}
	d := func(id string, fields ...bson.E) bson.D { return append(bson.D{e("_id", id)}, fields...) }
	damaged := docs{"resumes": {
		d("a", e("skills", bson.A{math}), e("skillText", "|Math,Poor|")), d("b", e("skills", bson.A{math, bson.D{e("level", nil)}})), d("c", e("skillText", "|")),
		d("d", e("skills", bson.A{}), e("skillText", 5)), d("e", e("skills", nil), e("skillText", "|x,y|")), d("f", e("skills", bson.A{1, bson.D{e("skill", 1)}, nil})),
		d("ok1", e("skills", bson.A{math}), e("skillText", "|Math,a%7Cb%25|")), d("ok2"), d("ok3", e("skills", nil)),
	}}
	mended := docs{"resumes": {
		damaged["resumes"][6], d("b", e("skills", bson.A{math, bson.D{e("level", nil)}}), e("skillText", "|Math,a%7Cb%25|;,;;|")), d("c"),
		d("d", e("skills", bson.A{}), e("skillText", "|")), d("e", e("skills", nil)), d("f", e("skills", bson.A{1, bson.D{e("skill", 1)}, nil}), e("skillText", "|;,;|;;;,;|;,;|")),
		damaged["resumes"][6], damaged["resumes"][7], damaged["resumes"][8],
	}}
	mended["resumes"][0] = d("a", mended["resumes"][0].(bson.D)[1:]...)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed:  func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, damaged) },
		Run:   checkJob(openText.Checks()[0]),
		Check: func(t testing.TB, db *mongo.Database) { wantDocs(t, db, mended) },
	})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, damaged)
		wantTexts(t, db, openText, "a", "b", "c", "d", "e", "f")
		_, said := findingsOf(t, db, openText.Checks()[0])
		if want := []string{
			"resumes 'a': has the text '|Math,Poor|', its list makes '|Math,a%7Cb%25|'", "resumes 'b': has no text, its list makes '|Math,a%7Cb%25|;,;;|'",
			"resumes 'c': has the text '|', and there is no list", "resumes 'd': has the text 5, its list makes '|'",
			"resumes 'e': has the text '|x,y|', and there is no list", "resumes 'f': has no text, its list makes '|;,;|;;;,;|;,;|'",
		}; !slices.Equal(said, want) {
			t.Errorf("found %q, want %q", said, want)
		}
	})
}

func TestProximityCosts(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"resumes": {resume{ID: "r", Skills: []skillLevel{{"Math", "Poor"}}}, resume{ID: "s"}}})
		run := func(w model.Write) func() error {
			return func() error {
				_, err := w.Run(t.Context(), db)
				return err
			}
		}
		for _, w := range []model.Write{skillText.Set("s", skillLevel{"Go", "Good"}), skillText.Add("r", skillLevel{"Go", "Good"}), skillText.Remove("r", skillLevel{"Go", "Good"})} {
			modeltest.WantCost(t, m, w.Cost(), run(w))
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Returned: 1}, run(skillText.Add("r", skillLevel{"Math", "Poor"})))
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := skillText.Equal(bson.D{e("skill", "Math")}).All(t.Context(), db)
			return err
		})
		if err := model.Indexes(skillText).Ensure(t.Context(), db); err != nil {
			t.Error(err)
		}
		modeltest.WantIndexed(t, db, skillText.Add("r", skillLevel{"C", "Good"}), model.IDIndex)
	}, modeltest.WithMonitor(m))
}

func TestProximityDeclarations(t *testing.T) {
	parallel(t)
	fields := []string{"skill", "level"}
	declare := func(path string, spec denorm.ProximitySpec) func() {
		return func() { denorm.NewProximity(resumes, path, spec) }
	}
	for reason, f := range map[string]func(){
		"no Text": declare("langs", denorm.ProximitySpec{}), "a path as Text": declare("langs", denorm.ProximitySpec{Text: "a.b"}),
		"the list as Text": declare("langs", denorm.ProximitySpec{Text: "langs"}), "the _id as Text": declare("langs", denorm.ProximitySpec{Text: "_id"}),
		"a Text that is a list": declare("langs", denorm.ProximitySpec{Text: "skills"}), "no Fields": declare("skills", denorm.ProximitySpec{Text: "t"}),
		"no such path": declare("lang", denorm.ProximitySpec{Text: "t"}), "no such field": declare("skills", denorm.ProximitySpec{Text: "t", Fields: []string{"x"}}),
		"Fields of strings": declare("langs", denorm.ProximitySpec{Text: "t", Fields: fields}),
		"no strings":        func() { denorm.NewProximity(boards, "posts", denorm.ProximitySpec{Text: "t", Fields: []string{"n"}}) },
		"a Text of another type": func() {
			denorm.NewProximity(boards, "posts", denorm.ProximitySpec{Text: "stats", Fields: []string{"id"}})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if r := skillText.Relations(); r != nil {
		t.Errorf("relations %v", r)
	}
}
