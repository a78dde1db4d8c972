package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A price3 is what an operation costs by its documentation: commands, documents written, and documents returned. What a $merge writes
// no server says.
type price3 struct {
	reason string
	want   model.Cost
	// begin reads what the operation is made from, and returns it, and the cost that its value says, if it says one.
	begin func(context.Context, *mongo.Database) (dbFunc, *model.Cost, error)
}

// does is a change or a job, whose value says no cost.
func does(reason string, commands, written, returned int, run dbFunc) price3 {
	return price3{reason, model.Cost{Commands: commands, Written: written, Returned: returned},
		func(context.Context, *mongo.Database) (dbFunc, *model.Cost, error) { return run, nil, nil }}
}

func writes(reason string, commands, written int, plans ...model.Plan) price3 {
	said := model.Concat(plans...).Cost()
	p := does(reason, commands, written, 0, func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, plans...) })
	run, _, _ := p.begin(nil, nil)
	p.begin = func(context.Context, *mongo.Database) (dbFunc, *model.Cost, error) { return run, &said, nil }
	return p
}

// mending is the price of mending what a check finds.
func mending(commands, written int, check model.Check) price3 {
	return price3{"Mend", model.Cost{Commands: commands, Written: written}, func(ctx context.Context, db *mongo.Database) (dbFunc, *model.Cost, error) {
		found, err := check.All(ctx, db)
		plan := check.Mend(found)
		said := plan.Cost()
		return func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, plan) }, &said, err
	}}
}

func reads[R any](reason string, returned int, q interface {
	Cost() model.Cost
	All(context.Context, *mongo.Database) ([]R, error)
}) price3 {
	return price3{reason, model.Cost{Commands: 1, Returned: returned}, func(context.Context, *mongo.Database) (dbFunc, *model.Cost, error) {
		said := q.Cost()
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := q.All(ctx, db)
			return err
		}, &said, nil
	}}
}

// prices are operations, one after the other, on what seed stores.
type prices struct {
	name string
	seed dbFunc
	list []price3
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestPrices(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, p := range append(pricesOfParents(), pricesOfTables()...) {
			t.Run(p.name, func(t *testing.T) {
				if p.name == "Normalized" {
					tenancy.Differs(t, "a $merge is refused under a policy's filter")
				}
				if err := errors.Join(emptied(t.Context(), db), p.seed(t.Context(), db)); err != nil {
					t.Fatal(err)
				}
				for _, x := range p.list {
					t.Run(x.reason, func(t *testing.T) {
						if x.reason == "Fold" || x.reason == "Survey" || x.reason == "Rollup" {
							tenancy.Differs(t, "the policy's fields are fields of the documents that it compares or lists, or it is refused")
						}
						x.check(t, m, db)
					})
				}
			})
		}
	}, modeltest.WithMonitor(m))
}

func (x price3) check(t *testing.T, m *modeltest.Monitor, db *mongo.Database) {
	run, said, err := x.begin(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.WantCost(t, m, x.want, func() error { return run(t.Context(), db) })
	if said != nil && (said.Commands != x.want.Commands || said.Written != x.want.Written && !said.Unbounded) {
		t.Errorf("it says %v, want %v", said, x.want)
	}
}

// emptied empties all collections.
func emptied(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	for _, name := range names {
		_, e := db.Collection(name).DeleteMany(ctx, bson.D{})
		err = errors.Join(err, e)
	}
	return err
}

func stored(d docs) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error { return store(ctx, db, d) }
}

func changed[S any](c model.Change[S]) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		_, _, err := c.Run(ctx, db)
		return err
	}
}

// pricesOfParents are those of techniques that keep something in a document, or beside it.
func pricesOfParents() []prices {
	source := origin{ID: "s", Name: "a"}
	page := func(id string, n int) bson.D { return bson.D{e("$set", bson.D{e("name", id), e("v", int64(n))})} }
	three := []any{holder{ID: "h1", Src: "s"}, holder{ID: "h2", Src: "s"}, holder{ID: "h3", Src: "gone"}}
	half := bson.D{e("$pull", bson.D{e("cols", bson.D{e("id", "s2")})}), e("$inc", bson.D{e("n", -1)})}
	linked := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(seedWide(ctx, db), store(ctx, db, docs{"songs": {song(0), member{ID: "s1", Name: "new"}, song(2), song(3)}, "fans": {fan(1)}}),
			updates(ctx, db, "fansBySong", "s0#", bson.D{e("$set", bson.D{e("cols.0.doc.name", "old")})}))
	}
	crowd := func(ctx context.Context, db *mongo.Database) error {
		err := store(ctx, db, docs{"books": {book{ID: "a"}, book{ID: "b"}, book{ID: "c"}}})
		for _, id := range []string{"a", "b", "c"} {
			err = errors.Join(err, outlierAppend(ctx, db, buyersOf, id, "1 2 3 4 5 6"))
		}
		return errors.Join(err, outlierPush(ctx, db, "b", "7 8 9 10"), updates(ctx, db, "books", "c", bson.D{e("$unset", bson.D{e("extras", "")})}))
	}
	wrong := bucketDoc(0, []note{numbered("a", 5, 0.5)}, bson.E{Key: "n", Value: 0})
	return []prices{
		{"Copy", stored(docs{"origins": {source, origin{ID: "t"}}, "holders": three}), []price3{
			writes("Attach", 1, 1, model.NewPlan(inItems.Attach("h1", &source))),
			does("Attach of what is there", 2, 0, 1, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(inItems.Attach("h1", &source)))
			}),
			writes("Detach", 1, 1, model.NewPlan(inItems.Detach("h1", "s"))),
			reads("Checks, differ", 2, ofDocument.Checks()[0].Find()), reads("Checks, missing", 1, ofDocument.Checks()[1].Find()), mending(1, 2, ofDocument.Checks()[0]),
			does("PropagateJob", 4, 2, 2, inBatchesOf(500, ofDocument.PropagateJob(&origin{ID: "s", Name: "b", V: 1}))),
			does("PropagateJob of what is new", 1, 0, 0, inBatchesOf(500, ofDocument.PropagateJob(&origin{ID: "s", Name: "b", V: 1}))),
			reads("Spread", 1, ofDocument.Spread()),
			reads("Unfolded", 2, ofDocument.Unfolded("info", "at")),
			does("a change of the source", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return updates(ctx, db, "origins", "s", page("c", 2))
			}),
			does("Rebuild", 4, 2, 2, inBatchesOf(500, ofDocument.Rebuild())),
			does("Fold", 4, 1, 2, inBatchesOf(500, ofDocument.Fold("info", "at"))),
		}},
		{"Subset", inTurn(fiveRemarks, func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, model.NewPlan(remarks.Delete("r4")))
		}), []price3{
			reads("Children", 4, newestThree.Children("a")), reads("Rest", 1, newestThree.Rest(&thread{ID: "a", Newest: []remark{{ID: "r3", At: 3}, {ID: "r2", At: 2}, {ID: "r1", At: 1}}})),
			reads("Checks", 1, newestThree.Checks()[0].Find()), mending(1, 1, newestThree.Checks()[0]),
			does("a deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(remarks.Delete("r3")))
			}),
			does("Refresh", 3, 1, 2, changed(newestThree.Refresh("a"))),
			does("another deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(remarks.Delete("r2")))
			}),
			does("Rebuild", 4, 1, 2, inBatchesOf(500, newestThree.Rebuild())),
		}},
		{"Bounded", stored(many), []price3{mending(1, 2, last.Checks()[0])}},
		{"Bucket", stored(docs{"notes": {wrong}}), []price3{reads("Checks", 1, added.Checks()[0].Find()), mending(1, 1, added.Checks()[0])}},
		{"Outlier", crowd, []price3{
			reads("Holding", 1, buyersOf.Holding("a", "5")), reads("Holding in the array", 1, buyersOf.Holding("a", "1")), reads("Overflow", 2, buyersOf.Overflow("a")),
			reads("Outliers", 2, buyersOf.Outliers()), reads("Checks", 1, buyersOf.Checks()[0].Find()),
			reads("Checks of arrays", 1, buyersOf.Checks()[1].Find()), mending(1, 1, buyersOf.Checks()[0]),
			// The batch, two new overflow documents, the owner, and two to find the end.
			does("Settle", 6, 3, 1, inBatchesOf(10, buyersOf.Settle())),
			does("a deletion", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(books.Delete("a")))
			}),
			reads("Checks of orphans", 2, buyersOf.Checks()[2].Find()), mending(1, 2, buyersOf.Checks()[2]),
		}},
		{"WideRow", linked, []price3{
			reads("Linked", 1, wide.Linked("f1", "s1")), reads("LeftCount", 1, wide.LeftCount("f1")), reads("RightCount", 1, wide.RightCount("s1")),
			reads("LeftOldest", 2, wide.LeftOldest("f1", "", 2)), reads("RightNewest", 1, wide.RightNewest("s1", "", 2)), reads("Checks, columns", 0, wide.Checks()[5].Find()),
			reads("Checks, right", 1, wide.Checks()[2].Find()), mending(1, 1, wide.Checks()[2]), reads("Checks, missing", 0, wide.Checks()[4].Find()),
			reads("Checks, left", 1, wide.Checks()[1].Find()), mending(1, 1, wide.Checks()[1]),
			does("RefreshLeft", 1, 4, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(wide.RefreshLeft(&member{ID: "f1", Name: "x"})))
			}),
			does("half a link", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return updates(ctx, db, "songsByFan", "f1#", half)
			}),
			reads("Checks, links", 1, wide.Checks()[0].Find()), does("mend links", 4, 1, 2, mendedByJobs(wide.Checks()[0])),
		}},
		{"Counter", func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(seedHouses(ctx, db, volumeOf("1", "a", 100)), counterCut(ctx, db, fully.Insert(volumeOf("2", "a", 5), token(1)), 1),
				updates(ctx, db, "houses", "b", bson.D{e("$set", bson.D{e("volumes", 3)})}))
		}, []price3{
			reads("Pending", 1, fully.Pending(future)), does("Settle", 4, 2, 2, changed(fully.Settle("2"))),
			reads("Checks", 1, fully.Checks()[0].Find()), mending(1, 1, fully.Checks()[0]),
		}},
		{"Approximate", stored(viewed(0)), []price3{writes("Count", 1, 1, views.Count("t", 0)), writes("Count of none", 0, 0, views.Count("t", 0.5)), writes("CountMany", 1, 1, views.CountMany("t", 77, 0.5))}},
	}
}

// pricesOfTables are those of techniques that keep documents in other forms.
func pricesOfTables() []prices {
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Tags: []string{"x", "y"}}, member{ID: "b", Name: "Bob", City: "Oslo", Tags: []string{"x"}}
	rome := membersBy.Is("city", "Rome").And(membersBy.Is("tags", "x"))
	sheet := func(id string) bson.D { return bson.D{e("_id", id), e("x", bson.D{e("y", 1)})} }
	nested := func(id string, skills ...skillLevel) resume { return resume{ID: id, Skills: skills} }
	math := skillLevel{"Math", "Poor"}
	april := uniqueDay(3)
	var boardsOf []any
	for i := range 3 {
		boardsOf = append(boardsOf, board{ID: fmt.Sprint("b", i)})
	}
	normalized := []price3{does("Plan", 4, 0, 0, normalize)}
	for _, c := range allRows.Checks() {
		normalized = append(normalized, reads(c.Name, 0, c.Find()))
	}
	normalized = append(normalized, reads("Documents", 2, allRows.Documents(nil)),
		does("a row too many", 1, 1, 0, stored(docs{"items": {bson.D{e("_id", bson.D{e("of", 9), e("n", int64(0))})}}})), mending(1, 1, allRows.Checks()[3]))
	return []prices{
		{"Attributes", stored(docs{"goods": {good{"a", []spec{{K: "x", V: 1}, {K: "x", V: 3}, {K: "y", V: 5}, {K: "y", V: 6}}}, good{"b", []spec{{K: "x", V: "1"}, {K: "x", V: 1}}}}}), []price3{
			reads("Equal", 2, specs.Equal("x", 1)), reads("Match", 1, specs.Match("y", bson.D{e("$gt", 5)})), reads("Has", 2, specs.Has("x")),
			reads("Survey", 3, specs.Survey()), reads("Checks", 3, specs.Checks()[0].Find()), mending(1, 2, specs.Checks()[0]),
		}},
		{"Columns", stored(docs{"sheets": {sheet("a"), sheet("b")}, "flat": {bson.D{e("_id", "gone")}, bson.D{e("_id", "z")}}}), []price3{
			does("Rebuild", 4, 2, 2, inBatchesOf(500, strictOnes.Rebuild(nil))), reads("Survey", 2, strictOnes.Survey()), reads("Checks", 2, strictOnes.Checks()[0].Find()),
			mending(1, 2, strictOnes.Checks()[0]), writes("Delete", 1, 1, model.NewPlan(strictOnes.Delete("a"))),
		}},
		{"Feed", stored(docs{"boards": boardsOf}), []price3{
			does("Rebuild", 4, 3, 3, inBatchesOf(500, denorm.NewFeed(boards, "copies", board{ID: "s", Name: "n"}, feedCopy).Rebuild())),
		}},
		{"Inverted", func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, members.InsertMany([]member{ann, bob}))
		}, []price3{
			does("Rebuild", 5, 5, 2, inBatchesOf(500, membersBy.Rebuild())), reads("IDs", 1, membersBy.IDs(rome)), reads("Count", 1, membersBy.Count(rome)), reads("Documents", 1, membersBy.Documents(rome)),
			reads("Report", 1, membersBy.Report(rome, "name")), reads("Values", 2, membersBy.Values("tags")), reads("Direct", 2, membersBy.Direct("a", "b")),
			writes("Delete", 6, 7, membersBy.Delete(&ann)),
		}},
		{"Normalized", stored(docs{"source": {
			order{ID: 1, Customer: &customer{"ann", "Oslo"}, Items: []orderItem{{"a", 1}}}, order{ID: 2, Customer: &customer{"bob", "Rome"}, Items: []orderItem{{"a", 3}}},
		}}), normalized},
		{"Numbered", stored(docs{"resumes": {nested("n1", math), nested("n2", math, skillLevel{"Go", "Good"}), nested("n3")}}), []price3{
			reads("Checks", 0, skillFields.Checks()[0].Find()), reads("Checks of what isn't flat", 2, skillFields.Checks()[1].Find()), does("Convert", 4, 2, 2, inBatchesOf(500, skillFields.Convert())),
			writes("Insert", 1, 1, model.NewPlan(skillFields.Insert(nested("r", math)))), writes("Replace", 1, 1, model.NewPlan(skillFields.Replace(nested("r", math)))),
			does("AppendAt of what is there", 2, 0, 1, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(skillFields.AppendAt("r", 1, math)))
			}),
			does("Append of what is there", 2, 0, 2, changed(skillFields.Append("r", math))),
			reads("Equal", 3, skillFields.Equal(bson.D{e("skill", "Math")})), reads("Match", 1, skillFields.Match(bson.D{e("skill", bson.D{e("$eq", "Go")})})),
			reads("Documents", 3, skillFields.Documents(skillFields.Equal(bson.D{e("skill", "Math")}))),
			does("a wrong count", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return updates(ctx, db, "resumes", "r", bson.D{e("$set", bson.D{e("skills", 0)})})
			}),
			mending(1, 1, skillFields.Checks()[0]),
			does("Restore", 1, 3, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(skillFields.Restore()))
			}),
		}},
		{"Proximity", stored(docs{"resumes": {nested("a", math), nested("b", skillLevel{"Go", "Good"})}}), []price3{
			reads("Checks", 2, skillText.Checks()[0].Find()), mending(1, 2, skillText.Checks()[0]),
			writes("Insert", 1, 1, model.NewPlan(skillText.Insert(nested("r", math)))), writes("Replace", 1, 1, model.NewPlan(skillText.Replace(nested("r", math)))),
			reads("Near", 2, skillText.Near("Math", "Poor", 0, denorm.InOrder)),
			does("Add to none", 2, 0, 0, func(ctx context.Context, db *mongo.Database) error {
				if err := exec(ctx, db, model.NewPlan(skillText.Add("none", math))); !errors.Is(err, model.ErrStale) {
					return fmt.Errorf("not stale: %w", err)
				}
				return nil
			}),
		}},
		{"UniqueCount", stored(docs{}), []price3{
			writes("VisitAll", 1, 3, visitors.VisitAll([]denorm.Visit[string, string]{{"a", "x", noon}, {"a", "x", noon}, {"a", "y", noon}, {"b", "x", uniqueDay(5)}})),
			does("Visit", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(visitors.Visit("a", "z", noon)))
			}),
			reads("Count", 1, visitors.Count("a", noon, april)), reads("Counts", 1, visitors.Counts(noon, april)), reads("PerPeriod", 1, visitors.PerPeriod("a", noon, april)),
			reads("Visits", 3, visitors.Visits("a", noon, april)), reads("Seen", 1, visitors.Seen("a", "x", noon)),
			does("Rollup", 1, 0, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, visitors.Rollup(monthsOf, noon, april))
			}),
			does("Expire", 1, 3, 0, func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, model.NewPlan(visitors.Expire(april)))
			}),
		}},
	}
}
