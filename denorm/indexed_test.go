package denorm_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// planOf is what a change would run now.
func planOf[S any](t *testing.T, db *mongo.Database, c model.Change[S]) model.Plan {
	t.Helper()
	state, err := c.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.Decide(state)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// wantStepsIndexed asks that each write of the plans that looks something up does so by the index, or by another that it names.
func wantStepsIndexed(t *testing.T, db *mongo.Database, reason, index string, plans ...model.Plan) {
	t.Helper()
	n := 0
	for _, p := range plans {
		for _, s := range p.Steps {
			w, ok := s.(model.Write)
			if _, insert := w.Model.(*mongo.InsertOneModel); insert || !ok {
				continue
			}
			n++
			t.Run(fmt.Sprint(reason, " ", n), func(t *testing.T) { modeltest.WantIndexed(t, db, w, cmp.Or(w.Index, index)) })
		}
	}
	if n == 0 {
		t.Errorf("%s writes nothing that looks something up", reason)
	}
}

// mended are the plans that mend what checks find. Each check must find something.
func mended(t *testing.T, db *mongo.Database, checks []model.Check) (plans []model.Plan) {
	t.Helper()
	for _, c := range checks {
		found, err := c.All(t.Context(), db)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %v, %v", c.Name, found, err)
		}
		plans = append(plans, c.Mend(found))
	}
	return plans
}

// Each write whose documentation says that it finds its documents by _id does so, in every technique; few documents will do, for an
// equality of _id is always served.
func TestWritesIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			wantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		other := []any{bson.D{e("_id", "other")}}
		seed(t, db, docs{
			"tallies": viewed(1)["tallies"], "boards": with("a1", "b2")["boards"], "goods": {good{"g", []spec{{K: "x", V: 1}, {K: "x", V: 2}}}}, "flat": {bson.D{e("_id", "gone")}}, "resumes": {resume{ID: "r"}},
			"items":  {bson.D{e("_id", bson.D{e("of", 9), e("n", int64(0))})}},
			"emails": other, "by.city": other, "by.tags": other, "by.home.zip": other, "clicks": other, // explain of an empty collection shows no index
		})
		byID("Approximate", views.Count("t", 0), views.CountMany("t", 77, 0))
		byID("Bounded", model.NewPlan(last.PushWith("b", bson.D{e("$set", bson.D{e("name", "x")})}, elements("b1")...), last.PushOrCreate("b", elements("b1")...)))
		byID("Attributes.Checks", mended(t, db, specs.Checks())...)
		byID("Bounded.Checks", mended(t, db, bounded(denorm.BoundedSpec{Max: 1}).Checks())...)
		byID("Columns", model.NewPlan(strictOnes.Delete("gone")))
		byID("Columns.Checks", mended(t, db, strictOnes.Checks())...)
		byID("Normalized.Checks", mended(t, db, allRows.Checks()[3:4])...)
		byID("Numbered.Checks", skillFields.Checks()[0].Mend([]model.Finding{{Check: skillFields.Checks()[0].Name, Detail: marshal(bson.D{e("_id", "r")})}}))
		byID("Numbered", model.NewPlan(skillFields.Set("r", skillLevel{"Go", "Good"}), skillFields.AppendAt("r", 0, skillLevel{"Go", "Good"}), skillFields.Replace(resume{ID: "r"})),
			planOf(t, db, skillFields.Append("r", skillLevel{"Go", "Good"})))
		byID("Proximity.Checks", skillText.Checks()[0].Mend([]model.Finding{{Check: skillText.Checks()[0].Name, Detail: marshal(bson.D{e("_id", "r")})}}))
		byID("Proximity", model.NewPlan(skillText.Set("r"), skillText.Remove("r", skillLevel{"Go", "Good"}), skillText.Replace(resume{ID: "r"})))

		s := origin{ID: "s", Name: "a", Docs: []string{"h1", "h2"}}
		for _, f := range copyForms {
			seed(t, db, docs{"origins": nil, "holders": nil})
			if err := f.oneOf(ctx, db); err != nil {
				t.Fatal(err)
			}
			if err := updates(ctx, db, "origins", "s", bson.D{e("$set", bson.D{e("name", "b")})}); err != nil {
				t.Fatal(err)
			}
			byID("Copy, "+f.name, model.NewPlan(f.c.Detach("h1", "s")), mended(t, db, f.c.Checks()[:1])[0])
			if f.depth < 2 {
				byID("Copy.Attach, "+f.name, model.NewPlan(f.c.Attach("h3", &s)))
			}
		}
		byID("Copy.Propagate, listed", ofListed.Propagate(&s))

		ann := member{ID: "a", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
		if err := model.Indexes(byCity, byEmail, membersBy).Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, byCity.Insert(ann, token(1)), model.NewPlan(members.Insert(member{ID: "z", City: "Oslo"})))
		byID("IndexTable", byCity.Insert(ann, token(1)), byEmail.Insert(ann, token(1)), byCity.Delete(&ann), byEmail.Delete(&ann))
		byID("Inverted", membersBy.Insert(ann, token(1)), membersBy.Delete(&ann), membersBy.Set(&ann, bson.D{e("city", "Oslo")}, token(2)))
		mustExec(t, db, model.NewPlan(members.Delete("a")))
		byID("IndexTable.Checks", mended(t, db, []model.Check{byCity.Checks()[0], byCity.Checks()[2]})...)

		writesOfParentsIndexed(t, db, byID)
	})
}

// writesOfParentsIndexed are those of techniques that keep something in a parent.
func writesOfParentsIndexed(t *testing.T, db *mongo.Database, byID func(string, ...model.Plan)) {
	ctx := t.Context()
	if err := seedHouses(ctx, db, volumeOf("1", "a", 100), volumeOf("2", "a", 300)); err != nil {
		t.Fatal(err)
	}
	byID("Counter", planOf(t, db, fully.Insert(volumeOf("3", "a", 1), token(1))), planOf(t, db, fully.Set("2", bson.D{e("pages", 1)}, token(1))), planOf(t, db, fully.Move("2", "b", token(1))),
		planOf(t, db, fully.Delete("1", token(1))), planOf(t, db, loosen.Delete("1", token(1))))
	if err := errors.Join(updates(ctx, db, "houses", "a", bson.D{e("$set", bson.D{e("volumes", 9)})}), counterCut(ctx, db, fully.Move("2", "b", token(1)), 1)); err != nil {
		t.Fatal(err)
	}
	byID("Counter.Settle", planOf(t, db, fully.Settle("2")))
	byID("Counter.Checks", mended(t, db, fully.Checks())...)

	if err := fiveRemarks(ctx, db); err != nil {
		t.Fatal(err)
	}
	byID("Subset", newestThree.Insert(remark{ID: "new", Thread: "a", At: 7}), planOf(t, db, newestThree.Set("r3", bson.D{e("text", "y")})), planOf(t, db, newestThree.Delete("r3")))
	mustExec(t, db, model.NewPlan(remarks.Delete("r3")))
	byID("Subset.Checks", append(mended(t, db, newestThree.Checks()), planOf(t, db, newestThree.Refresh("a")))...)

	if err := errors.Join(store(ctx, db, docs{"books": {book{ID: "a"}, book{ID: "b", Buyers: outlierBuyers("1 2 3")}, book{ID: "c"}}}), outlierAppend(ctx, db, buyersOf, "a", "1 2 3"), outlierAppend(ctx, db, buyersOf, "c", "1 2 3")); err != nil {
		t.Fatal(err)
	}
	byID("Outlier", planOf(t, db, buyersOf.Append("a", buyer{ID: "x"})), planOf(t, db, buyersOf.Remove("a", "1")), planOf(t, db, buyersOf.Remove("a", "3")), buyersOf.Delete("a"))
	raw, err := model.Find[bson.Raw]{Query: model.Query{Collection: "books", Filter: bson.D{e("_id", "b")}}}.All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	split, err := buyersOf.Split().Plan(raw)
	if err != nil {
		t.Fatal(err)
	}
	byID("Outlier.Split", split)
	if err := errors.Join(updates(ctx, db, "books", "a", bson.D{e("$unset", bson.D{e("extras", "")})}), outlierPush(ctx, db, "c", "7 8 9")); err != nil {
		t.Fatal(err)
	}
	byID("Outlier.Checks", mended(t, db, buyersOf.Checks()[:1])...)
	byID("Outlier.Settle", outlierCrowd(t, db, buyersOf))
	mustExec(t, db, model.NewPlan(books.Delete("c")))
	byID("Outlier.Checks of orphans", mended(t, db, buyersOf.Checks()[2:])...)

	if err := errors.Join(seedWide(ctx, db), store(ctx, db, docs{"songs": {member{ID: "s1", Name: "new"}}, "fans": {member{ID: "f1", Name: "new"}}}), createIndexes(ctx, db, wide)); err != nil {
		t.Fatal(err)
	}
	byID("WideRow", planOf(t, db, wide.Link(fan(1), song(7), at(15), token(1))), planOf(t, db, wide.Unlink("f1", "s1")))
	for _, c := range []struct {
		reason string
		plan   model.Plan
	}{
		{"RefreshLeft", model.NewPlan(wide.RefreshLeft(fan(1)))}, {"Checks, left", mended(t, db, wide.Checks()[1:2])[0]}, {"Checks, right", mended(t, db, wide.Checks()[2:3])[0]},
	} {
		wantStepsIndexed(t, db, "WideRow."+c.reason, "cols.id_1_row_1", c.plan)
	}
	byID("UniqueCount", visitors.VisitAll([]denorm.Visit[string, string]{{"a", "x", noon}}))
}

// A readCase is what a change reads, and the index that serves each of its commands.
type readCase struct {
	reason string
	read   dbFunc
	want   []string
}

// wantReadsIndexed asks that what changes read is served by the indexes that their documentation names.
func wantReadsIndexed(t *testing.T, db *mongo.Database, m *modeltest.Monitor, cases ...readCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			before := len(m.Commands())
			if err := c.read(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			sent := m.Commands()[before:]
			if len(sent) != len(c.want) {
				t.Fatalf("%d reads, want %d: %v", len(sent), len(c.want), sent)
			}
			for i, x := range sent {
				if c.want[i] == "" {
					continue // of a collection with few documents, which DocumentDB reads whole
				}
				t.Run(fmt.Sprint(i+1), func(t *testing.T) { modeltest.WantIndexed(t, db, asSent(t, x), c.want[i]) })
			}
		})
	}
}

func reading[S any](c model.Change[S]) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := c.Read(ctx, db)
		return err
	}
}

// asSent is a command as explain takes it, without what the driver adds.
func asSent(t *testing.T, c modeltest.Command) (command bson.D) {
	t.Helper()
	var d bson.D
	if err := bson.Unmarshal(c.Body, &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d {
		switch x.Key {
		case "lsid", "$db", "$readPreference", "$clusterTime", "txnNumber":
		default:
			command = append(command, x)
		}
	}
	return command
}
