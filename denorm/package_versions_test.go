// These tests are of several packages of denorm: several techniques in documents of several versions.

package denorm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tune had a title before it had a name, and a maker of another type; an id, a label
// and a year it always had.
type (
	tune1 struct {
		ID    string `bson:"_id"`
		Label string `bson:"label"`
		Title string `bson:"title"`
		Year  int32  `bson:"year"`
		Maker string `bson:"maker"`
		Rev   int64  `bson:"rev,omitempty"`
		Notes []note `bson:"notes,omitempty"`
	}
	tune struct {
		ID    string   `bson:"_id"`
		Label string   `bson:"label"`
		Name  string   `bson:"name"`
		Year  int      `bson:"year"`
		Album string   `bson:"album,omitempty"`
		Maker tuneRole `bson:"maker"`
		Words []string `bson:"words,omitempty"`
		Plays int64    `bson:"plays,omitempty"`
		Rev   int64    `bson:"rev,omitempty"`
		Notes []note   `bson:"notes,omitempty"`
		List  []struct {
			ID string `bson:"id"`
		} `bson:"list,omitempty"`
	}
	note struct {
		ID string `bson:"id"`
	}
	tuneRole struct {
		Name string `bson:"name"`
	}
	playlist struct {
		Whole []tune `bson:"whole,omitempty"`
		ID    string `bson:"_id"`
		Tune  string `bson:"tune"`
		Name  string `bson:"name"`
		Year  int    `bson:"year"`
		Most  int    `bson:"most,omitempty"`
		Count int64  `bson:"count,omitempty"`
		Last  []struct {
			ID   string `bson:"_id"`
			Name string `bson:"name"`
			Year int    `bson:"year"`
		} `bson:"last,omitempty"`
	}
)

func renamed(t tune1) (tune, error) {
	return tune{
		ID: t.ID, Label: t.Label, Name: t.Title, Year: int(t.Year), Maker: tuneRole{t.Maker},
		Rev: t.Rev, Notes: t.Notes,
	}, nil
}

func newTunes() *model.Collection[tune, string] { return model.NewCollection[tune, string]("tunes") }

func tuneVersions(tunes *model.Collection[tune, string]) *schema.Versions[tune, string] {
	return schema.NewVersions(tunes, schema.VersionsSpec{}, schema.Upcast(renamed))
}

// A technique that uses a path which older versions of the documents don't have, or have
// otherwise, is refused when it is declared, whichever is declared first: it, or the
// versions.
func TestVersionsBesideTechniques(t *testing.T) {
	testkit.Parallel(t)
	lists := model.NewCollection[playlist, string]("playlists")
	fields := func(from, to string) []copies.Field { return []copies.Field{{From: from, To: to}} }
	type collection = *model.Collection[tune, string]
	for reason, c := range map[string]struct {
		fits    bool
		declare func(tunes collection)
	}{
		"a copy of a path that was another's": {declare: func(tunes collection) {
			copies.New(tunes, lists, copies.Spec{KeyPath: "tune", Fields: fields("name", "name")})
		}},
		"a copy of a path that was of another type": {declare: func(tunes collection) {
			copies.New(tunes, lists, copies.Spec{KeyPath: "tune", Fields: fields("maker.name", "name")})
		}},
		"a copy of a path that always was": {fits: true, declare: func(tunes collection) {
			copies.New(tunes, lists, copies.Spec{KeyPath: "tune", Fields: fields("year", "year")})
		}},
		"a copy into a path that wasn't": {declare: func(tunes collection) {
			copies.New(lists, tunes, copies.Spec{KeyPath: "album", Fields: fields("name", "name")})
		}},
		"a counter's reference": {declare: func(tunes collection) {
			counter.New(tunes, "album", lists, counter.Spec{Count: "count"})
		}},
		"a counter's parents": {declare: func(tunes collection) {
			counter.New(lists, "tune", tunes, counter.Spec{Count: "plays"})
		}},
		"a subset": {declare: func(tunes collection) {
			subset.New(tunes, "album", lists, "last", subset.Spec{
				By: bson.D{testkit.E("year", -1)}, Fields: []string{"name", "year"}, Max: 3,
			})
		}},
		"a subset of whole documents": {declare: func(tunes collection) {
			subset.New(tunes, "label", lists, "whole",
				subset.Spec{By: bson.D{testkit.E("year", -1)}, Max: 3})
		}},
		"an index table": {
			declare: func(tunes collection) {
				indextable.New(tunes, "name", "tunesByName", indextable.Spec{})
			},
		},
		"an inverted list": {declare: func(tunes collection) { inverted.New(tunes, "tunesBy", "words") }},
		"a bounded list": {
			declare: func(tunes collection) { bounded.New(tunes, "list", bounded.Spec{Max: 3}) },
		},
	} {
		for _, first := range []string{"the technique", "the versions"} {
			t.Run(reason+", "+first+" first", func(t *testing.T) {
				tunes := newTunes()
				defer func() {
					d, refused := recover().(*model.DeclarationError)
					if refused == c.fits {
						t.Errorf("refused: %v", d)
					} else if refused &&
						(d.Place == "" || !strings.Contains(d.Remedy, "Migrate") ||
							!strings.Contains(d.Problem, "tune1")) {
						t.Errorf("the refusal doesn't say what to do: %v", d)
					}
				}()
				if first == "the technique" {
					c.declare(tunes)
					tuneVersions(tunes)
				} else {
					tuneVersions(tunes)
					c.declare(tunes)
				}
			})
		}
	}
}

// A Copy of what all versions have in one form holds among documents of every version;
// another field of theirs is not set past their versions.
func TestCopyOfVersions(t *testing.T) {
	testkit.Parallel(t)
	tunes, lists := newTunes(), model.NewCollection[playlist, string]("playlists")
	versions := tuneVersions(tunes)
	years := copies.New(tunes, lists, copies.Spec{
		KeyPath: "tune",
		Fields:  []copies.Field{{From: "year", To: "year"}},
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if err := testkit.Store(ctx, db, testkit.Docs{
			"tunes":     {tune1{ID: "t", Title: "Take Five", Year: 1959}},
			"playlists": {playlist{ID: "p", Tune: "t", Year: 1959}},
		}); err != nil {
			t.Fatal(err)
		}
		check := func(want int) {
			t.Helper()
			found, err := testkit.FoundBy(ctx, db, years.Checks())
			list, errList := lists.ByID("p").One(ctx, db)
			if errors.Join(err, errList) != nil || len(found) > 0 || list.Year != want {
				t.Errorf("found %v, %v; %+v, %v", found, err, list, errList)
			}
		}
		check(1959)
		testkit.MustChange(t, db,
			model.NewStore(model.New("years", years, versions), tunes).Set("t", bson.D{testkit.E("year", 1961)}))
		check(1961)
		if now, err := tunes.ByID("t").One(ctx, db); err != nil || now.Year != 1961 || now.Name != "Take Five" {
			t.Errorf("%+v, %v", now, err)
		}
	})
}

// Techniques read whole documents of every version as the newest, and store the newest version with those that they
// store.
func TestTechniquesReadVersions(t *testing.T) {
	testkit.Parallel(t)
	tunes, lists := newTunes(), model.NewCollection[playlist, string]("playlists")
	years := copies.New(tunes, lists, copies.Spec{
		KeyPath: "tune",
		Fields:  []copies.Field{{From: "year", To: "year"}},
	})
	labelled := counter.New(tunes, "label", lists, counter.Spec{Count: "count"})
	byYear := indextable.New(tunes, "year", "tunesByYear", indextable.Spec{})
	byYearStore := model.NewStore(model.New("tunes", byYear), tunes)
	last := bounded.New(tunes, "notes", bounded.Spec{Max: 3, Create: true})
	labels := parentref.New(tunes, "label", lists, parentref.Spec{})
	versions := tuneVersions(tunes)
	listsOf := model.NewStore(model.New("years", years, versions), lists)
	revised := model.NewStore(model.New("revised",
		embed.NewVersioned(tunes, embed.VersionedSpec{Version: "rev"})), tunes)
	tunesOf := model.NewStore(model.New("labels", labelled, versions), tunes)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		was := tune1{ID: "t", Label: "l", Title: "Take Five", Year: 1959}
		if err := testkit.Store(ctx, db, testkit.Docs{
			"tunes":     {was},
			"playlists": {playlist{ID: "p", Tune: "t"}, playlist{ID: "l"}},
		}); err != nil {
			t.Fatal(err)
		}
		want := func(id, name string, version any) {
			t.Helper()
			var held struct {
				Name    string `bson:"name"`
				Version any    `bson:"schemaVersion"`
			}
			if err := db.Collection("tunes").FindOne(ctx, bson.D{testkit.E("_id", id)}).
				Decode(&held); err != nil || held.Name != name ||
				held.Version != version {
				t.Errorf("%s is stored as %+v, %v", id, held, err)
			}
		}

		run := func(c model.Change) {
			t.Helper()
			if _, err := c.Run(ctx, db); err != nil {
				t.Error(err)
			}
		}
		run(listsOf.Insert(playlist{ID: "q", Tune: "t"}).Change())
		if q, err := lists.ByID("q").One(ctx, db); err != nil || q.Year != 1959 {
			t.Errorf("a copy is filled with %+v, %v", q, err)
		}
		if children, err := labels.Children("l").All(ctx, db); err != nil || len(children) != 1 ||
			children[0].Name != "Take Five" {
			t.Errorf("%+v, %v", children, err)
		}
		run(tunesOf.Insert(tune{ID: "n", Label: "l", Name: "Blue Rondo", Year: 1959}).Change())
		want("n", "Blue Rondo", int32(2))
		insert := byYearStore.Insert(tune{ID: "m", Label: "l", Name: "Unsquare", Year: 1961})
		if _, _, err := insert.Run(ctx, db); err != nil {
			t.Error(err)
		}
		want("m", "Unsquare", int32(2))
		testkit.MustExec(t, db, model.NewPlan(last.Push("o", note{"1"})))
		want("o", "", int32(2))
		testkit.MustExec(t, db,
			model.NewPlan(last.PushWith("w",
				bson.D{
					testkit.E("$setOnInsert", bson.D{testkit.E("year", 1961)}),
					testkit.E("$set", bson.D{testkit.E("label", "l")}),
				}, note{"1"})))
		want("w", "", int32(2))
		want("t", "", nil)
		run(revised.Edit("t", func(s *tune) error { s.Name += "!"; return nil }).Change())
		want("t", "Take Five!", int32(2))
	})
}

// Parts of a document carry no version of the whole one, and a feed's plan is made of the newest document, which isn't
// brought up.
func TestVersionsOfParts(t *testing.T) {
	testkit.Parallel(t)
	tunes, lists := newTunes(), model.NewCollection[playlist, string]("playlists")
	tuneVersions(tunes)
	rows := widerow.New(tunes, lists, widerow.Spec{
		LeftRows: "tune_rows", RightRows: "list_rows", LeftCopies: []string{"year"},
	})
	names := feed.New(tunes, "names", tune{ID: "s", Name: "Solar"},
		func(c feed.Change[tune, string]) model.Plan {
			if c.Doc == nil {
				return model.Plan{}
			}
			return model.NewPlan(lists.Update(c.ID, bson.D{testkit.E("$set", bson.D{testkit.E("name", c.Doc.Name)})}))
		}, feed.Spec{})
	now := tune{ID: "t", Label: "l", Name: "Take Five", Year: 1959}
	if plan := names.Plan(feed.Change[tune, string]{
		Kind: model.Inserted, ID: "t", Doc: &now,
	}); !strings.Contains(plan.String(), "Take Five") {
		t.Errorf("the plan of a change is %v", plan)
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustExec(t, db, model.NewPlan(tunes.Insert(now)), model.NewPlan(lists.Insert(playlist{ID: "p"})))
		if _, err := rows.Link("t", "p", time.UnixMilli(7), bson.NewObjectID()).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var row struct{ Cols []widerow.Column[string] }
		if err := db.Collection("list_rows").FindOne(t.Context(), bson.D{}).
			Decode(&row); err != nil || len(row.Cols) != 1 {
			t.Fatalf("%+v, %v", row, err)
		}
		if got := row.Cols[0].Doc.String(); got != `{"year": {"$numberInt":"1959"}}` {
			t.Errorf("a row carries %s", got)
		}
	})
}
