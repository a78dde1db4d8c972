package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Shorthands for writes to the parts.
func write(m mongo.WriteModel) model.Write { return model.Write{Collection: "parts", Model: m} }

func updateOne(filter, update bson.D) model.Write {
	return write(&mongo.UpdateOneModel{Filter: filter, Update: update})
}

func updateMany(filter bson.D, update any) model.Write {
	return write(&mongo.UpdateManyModel{Filter: filter, Update: update})
}

func insertDoc(doc any) model.Write { return write(&mongo.InsertOneModel{Document: doc}) }

func expectOne(w model.Write) model.Write { w.Expect = model.One; return w }

func done(w model.Write, filter bson.D) model.Write { w.Done = filter; return w }

func once(w model.Write) model.Write { w.Idempotent = true; return w }

func mergeInto(collection string, stages ...bson.D) model.MergeInto {
	return model.MergeInto{Collection: collection, Pipeline: stages}
}

// TestSplit counts the commands that plans become. TestRunSplitsAsCostSays holds the runner to it.
func TestSplit(t *testing.T) {
	set := d("$set", d("name", "x"))
	half := d("_id", 1, "a", strings.Repeat("x", model.MaxDocument/2-200))
	many := make([]model.Step, 25_001)
	for i := range many {
		many[i] = write(&mongo.DeleteOneModel{Filter: d("_id", i)})
	}
	for _, c := range []struct {
		steps    []model.Step
		commands int
		reason   string
	}{
		{nil, 0, "nothing to do"},
		{[]model.Step{insertDoc(d("_id", 1)), insertDoc(d("_id", 2))}, 1, "one kind, one collection"},
		{
			steps:    []model.Step{insertDoc(d("_id", 1)), parts.Named("other").Delete(1), insertDoc(d("_id", 2))},
			commands: 3, reason: "another collection between",
		},
		{
			steps:    []model.Step{updateOne(d("_id", 1), set), updateMany(bson.D{}, set), updateOne(d("_id", 2), set)},
			commands: 3, reason: "the driver splits by kind",
		},
		{
			steps: []model.Step{
				updateOne(d("_id", 1), set),
				write(&mongo.ReplaceOneModel{Filter: d("_id", 1), Replacement: d("a", 1)}),
			},
			commands: 1, reason: "update and replace one are one kind",
		},
		{
			steps:    []model.Step{parts.Delete(1), write(&mongo.DeleteManyModel{Filter: d("a", 1)})},
			commands: 2, reason: "delete one and delete many are two",
		},
		{[]model.Step{parts.Update(1, set), parts.Update(2, set)}, 2, "each that expects a match is alone"},
		{
			steps: []model.Step{
				updateOne(d("_id", 1), set), parts.Update(2, set), updateOne(d("_id", 3), set), updateOne(d("_id", 4), set),
			},
			commands: 3, reason: "nothing joins one that expects a match",
		},
		{[]model.Step{expectOne(insertDoc(d("_id", 1))), insertDoc(d("_id", 2))}, 1, "an insert has no match to expect"},
		{[]model.Step{mergeInto("a", d("$out", "b")), mergeInto("a", d("$out", "c"))}, 2, "each $merge is alone"},
		{[]model.Step{insertDoc(half), insertDoc(half)}, 1, "just under 16 MiB together"},
		{[]model.Step{insertDoc(half), insertDoc(half), insertDoc(half)}, 2, "more than 16 MiB together"},
		{
			steps: []model.Step{
				updateOne(d("_id", 1), d("$set", half)), updateOne(d("_id", 1), d("$set", half)),
				updateOne(d("_id", 1), d("$set", half)),
			},
			commands: 2, reason: "updates by size too",
		},
		{many[:25_000], 1, "as many statements as one command takes"},
		{many, 2, "one more"},
	} {
		if got := model.NewPlan(c.steps...).Cost().Commands; got != c.commands {
			t.Errorf("%d commands, want %d: %s", got, c.commands, c.reason)
		}
	}
}

func TestCost(t *testing.T) {
	set := d("$set", d("a", 1))
	for _, c := range []struct {
		got, want model.Cost
		reason    string
	}{
		{model.Plan{}.Cost(), model.Cost{}, "nothing"},
		{parts.Insert(part{ID: 1}).Cost(), model.Cost{Commands: 1, Written: 1, Indexes: []string{"_id_"}}, "an insert"},
		{
			got:    parts.InsertMany([]part{{ID: 1}, {ID: 2}}).Cost(),
			want:   model.Cost{Commands: 1, Written: 2, Indexes: []string{"_id_"}},
			reason: "inserts share a command",
		},
		{updateMany(bson.D{}, set).Cost(), model.Cost{Commands: 1, Unbounded: true}, "as many as match"},
		{
			model.NewPlan(mergeInto("a", d("$out", "b"))).Cost(), model.Cost{Commands: 1, Unbounded: true},
			"as many as the pipeline gives",
		},
		{
			got:    model.NewPlan(parts.Delete(1), updateMany(bson.D{}, set)).Cost(),
			want:   model.Cost{Commands: 2, Written: 1, Unbounded: true, Indexes: []string{"_id_"}},
			reason: "both",
		},
		{refusedParts.Cost(), model.Cost{}, "what is refused costs nothing"},
		{parts.ByID(1).Cost(), model.Cost{Commands: 1, Batches: true, Indexes: []string{"_id_"}}, "a query"},
		{parts.Aggregate(nil).Cost(), model.Cost{Commands: 1, Batches: true}, "a pipeline"},
		{parts.Modify(nil, set).Cost(), model.Cost{Commands: 1, Written: 1, Returned: 1}, "a findAndModify"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

// TestGuarantee: which plans are atomic, rerunnable and transactional.
func TestGuarantee(t *testing.T) {
	parts := parts.Unchecked()
	set, inc := d("$set", d("a", 1)), d("$inc", d("a", 1))
	other := updateOne(d("_id", 9), set)
	yes := true
	raw, _ := bson.Marshal(d("_id", 1, "guard", 2))
	for _, c := range []struct {
		plan   model.Plan
		want   model.Guarantee
		reason string
	}{
		{model.Plan{}, model.Atomic, "nothing to do"},
		{model.NewPlan(updateOne(d("_id", 1), inc)), model.Atomic, "one document, once"},
		{model.NewPlan(insertDoc(d("a", 1))), model.Atomic, "one insert"},
		{model.Plan{Transactional: true}, model.Transactional, "declared so"},
		{
			plan: model.NewPlan(other, updateOne(d("_id", 1), set)),
			want: model.Rerunnable, reason: "idempotent operators on a document by its _id",
		},
		{model.NewPlan(other, updateOne(d("_id", d("$eq", 1)), set)), model.Rerunnable, "$eq is an equality"},
		{model.NewPlan(other, updateOne(d("_id", d("k", "$x")), set)), model.Rerunnable, "an _id that is a document"},
		{
			plan: model.NewPlan(other, updateOne(d("_id", d("$gt", 1)), set)),
			want: model.Transactional, reason: "a second run may find another document",
		},
		{
			plan: model.NewPlan(other, updateOne(d("_id", bson.M{"$in": bson.A{1, 2}}), set)),
			want: model.Transactional, reason: "operators in a map",
		},
		{model.NewPlan(other, updateOne(d("_id", bson.Regex{Pattern: "^a"}), set)), model.Transactional, "a pattern"},
		{
			plan: model.NewPlan(other, updateOne(d("a", 1), set)), want: model.Transactional,
			reason: "no _id: a second run may find another document",
		},
		{model.NewPlan(other, updateOne(d("_id", 1), inc)), model.Transactional, "$inc counts twice"},
		{model.NewPlan(other, updateOne(d("_id", 1), d("$push", d("a", 1)))), model.Transactional, "$push adds twice"},
		{
			plan: model.NewPlan(other, updateOne(d("_id", 1), d("$currentDate", d("a", true)))),
			want: model.Transactional, reason: "the time differs",
		},
		{model.NewPlan(other, once(updateOne(d("_id", 1), inc))), model.Rerunnable, "marked Idempotent"},
		{model.NewPlan(other, updateOne(d("_id", 1), append(set, inc...))), model.Transactional, "one operator of two"},
		{
			plan: model.NewPlan(other, write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: mongo.Pipeline{set}})),
			want: model.Transactional, reason: "a pipeline can compute anything",
		},
		{model.NewPlan(updateMany(bson.D{}, set)), model.Rerunnable, "it may stop half way, and can be run again"},
		{model.NewPlan(updateMany(bson.D{}, inc)), model.Transactional, "it may stop half way, and counts twice"},
		{
			plan: model.NewPlan(write(&mongo.UpdateManyModel{Filter: d("a", 1), Update: set, Upsert: &yes})),
			want: model.Transactional, reason: "an upsert without an _id inserts another",
		},
		{model.NewPlan(write(&mongo.DeleteManyModel{Filter: bson.D{}})), model.Rerunnable, "what is deleted stays so"},
		{
			plan: model.NewPlan(expectOne(write(&mongo.DeleteManyModel{Filter: bson.D{}}))),
			want: model.Transactional, reason: "a second run finds none",
		},
		{model.NewPlan(other, parts.Delete(1)), model.Rerunnable, "a delete by _id"},
		{model.NewPlan(other, expectOne(parts.Delete(1))), model.Transactional, "a second run finds none"},
		{
			plan: model.NewPlan(other, write(&mongo.DeleteOneModel{Filter: d("a", 1)})),
			want: model.Transactional, reason: "a second run deletes another",
		},
		{model.NewPlan(other, parts.Replace(part{ID: 1})), model.Rerunnable, "a replacement by _id"},
		{model.NewPlan(other, parts.Update(1, set)), model.Rerunnable, "expects the document, by its _id alone"},
		{
			plan: model.NewPlan(other, expectOne(updateOne(d("_id", 1, "a", 0), set))),
			want: model.Transactional, reason: "its own effect is what the guard then misses",
		},
		{
			plan: model.NewPlan(other, done(expectOne(updateOne(d("_id", 1, "a", 0), set)), d("_id", 1, "a", 1))),
			want: model.Rerunnable, reason: "Done tells",
		},
		{
			plan: model.NewPlan(other, expectOne(write(&mongo.UpdateManyModel{Filter: bson.Raw(raw), Update: set}))),
			want: model.Transactional, reason: "a guard in raw bytes",
		},
		{model.NewPlan(other, parts.Insert(part{ID: 1})), model.Rerunnable, "an insert with its _id"},
		{model.NewPlan(other, insertDoc(d("_id", 1))), model.Rerunnable, "an insert of a bson.D with its _id"},
		{model.NewPlan(other, expectOne(insertDoc(d("_id", 1)))), model.Rerunnable, "an insert has no guard"},
		{model.NewPlan(other, insertDoc(d("a", 1))), model.Transactional, "the driver gives it another _id in each run"},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), updateOne(d("_id", 1), set)),
			want: model.Rerunnable, reason: "a later step's fields are known",
		},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), parts.Delete(1)),
			want: model.Transactional, reason: "a second run inserts what was deleted",
		},
		{
			plan: model.NewPlan(insertDoc(d("_id", int64(1))), parts.Delete(1)),
			want: model.Transactional, reason: "the same number of another type",
		},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), write(&mongo.DeleteManyModel{Filter: d("a", 1)})),
			want: model.Transactional, reason: "it may delete what was inserted",
		},
		{model.NewPlan(insertDoc(d("_id", 1)), parts.Delete(2)), model.Rerunnable, "another document"},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), model.MergeInto{
				Collection: "a", Pipeline: mongo.Pipeline{d("$out", "b")}, Idempotent: true,
			}),
			want: model.Rerunnable, reason: "another collection",
		},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), model.MergeInto{
				Collection: "a",
				Pipeline:   mongo.Pipeline{d("$merge", d("into", "parts"))},
				Idempotent: true,
			}),

			want: model.Transactional, reason: "it may rewrite what was inserted",
		},
		{
			plan: model.NewPlan(insertDoc(d("_id", 1)), once(updateMany(bson.D{}, mongo.Pipeline{set}))),
			want: model.Transactional, reason: "what was inserted may be anything by then",
		},
		{
			plan: model.NewPlan(done(insertDoc(d("_id", 1)), d("_id", 1, "by", 7)),
				once(updateMany(bson.D{}, mongo.Pipeline{set}))),
			want: model.Rerunnable, reason: "Done tells it",
		},
		{
			plan: model.NewPlan(done(insertDoc(d("_id", 1)), d("_id", 1, "by", 7)), parts.Delete(1)),
			want: model.Transactional, reason: "Done doesn't tell what was deleted",
		},
		{model.NewPlan(mergeInto("a", d("$out", "b"))), model.Transactional, "a $merge, unless it is marked"},
		{
			plan: model.NewPlan(model.MergeInto{Collection: "a", Pipeline: mongo.Pipeline{d("$out", "b")}, Idempotent: true}),
			want: model.Rerunnable, reason: "marked Idempotent",
		},
	} {
		if got := c.plan.Guarantee(); got != c.want {
			t.Errorf("%s\nis %v, want %v: %s", c.plan, got, c.want, c.reason)
		}
	}
}

func TestConcat(t *testing.T) {
	a := model.Plan{Steps: []model.Step{parts.Delete(1)}, Leaves: "an orphan"}
	b := model.Plan{Steps: []model.Step{parts.Delete(2)}, Transactional: true, Options: model.PlanOptions{Comment: "b"}}
	c := model.Plan{Steps: []model.Step{parts.Delete(3)}, Options: model.PlanOptions{Comment: "c"}, Leaves: "a half-link"}
	got := model.Concat(a, model.Plan{}, b, c)
	if got.String() != a.String()+"\n"+b.String()+"\n"+c.String() || !got.Transactional || got.Options.Comment != "b" ||
		got.Leaves != "an orphan; a half-link" {
		t.Errorf("%+v", got)
	}
	got.Steps[0] = parts.Delete(9)
	if a.String() != "db.parts.deleteOne({_id: 1})" {
		t.Error("the result shares its steps with the argument")
	}
	if p := model.Concat(); len(p.Steps) != 0 || p.Err() != nil {
		t.Errorf("of nothing: %+v", p)
	}
}

// TestPlanErr: the first bad step, as a StepError that wraps its cause.
func TestPlanErr(t *testing.T) {
	bad := errors.New("bad input")
	for _, c := range []struct {
		step         model.Step
		want, reason string
	}{
		{model.Refused("parts", bad), "bad input", "what a method refused"},
		{model.Write{Collection: "parts"}, "is nil: give one of the driver's", "no model"},
		{model.Write{}, "is nil: give one of the driver's", "the zero Write"},
		{model.Write{Model: &mongo.DeleteOneModel{Filter: bson.D{}}}, "needs a collection", "no collection"},
		{nil, "is nil", "no step"},
		{model.MergeInto{Collection: "a", Err: bad}, "bad input", "what a method refused"},
		{model.MergeInto{Collection: "a"}, "must end in $merge or $out", "no pipeline"},
		{mergeInto("a", d("$match", bson.D{})), "must end in $merge or $out", "a pipeline that writes nothing"},
		{mergeInto("a", d("$out", "b", "x", 1)), "must end in $merge or $out", "a stage of two keys"},
		{model.MergeInto{Pipeline: mongo.Pipeline{d("$out", "b")}}, "needs a collection", "no collection"},
	} {
		p := model.NewPlan(parts.Delete(1), c.step)
		var step *model.StepError
		if err := p.Err(); !errors.As(err, &step) || step.Step != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want step 2 and %q: %s", err, c.want, c.reason)
		}
		if got := fmt.Sprint(p); !strings.Contains(got, "deleteOne") {
			t.Errorf("String of a plan with a bad step: %q", got)
		}
	}
	if err := model.NewPlan(model.Refused("parts", bad)).Err(); !errors.Is(err, bad) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// TestUnencodable: what a plan holds is encoded before anything is sent.
func TestUnencodable(t *testing.T) {
	tenancy.Differs(t, "the scope refuses the write first")
	big := strings.Repeat("x", model.MaxDocument)
	for _, c := range []struct {
		w            model.Write
		want, reason string
	}{
		{updateOne(nil, d("$set", d("a", 1))), "filter: is nil", "a nil filter would match everything"},
		{write(&mongo.DeleteManyModel{}), "filter: is nil", "a nil filter would match everything"},
		{updateOne(bson.D{}, nil), "update: is empty: give at least one update operator", "no update"},
		{
			w:      updateOne(bson.D{}, bson.D{}),
			want:   "update: is empty: give at least one update operator",
			reason: "an empty update would replace",
		},
		{insertDoc(nil), "document: is nil", "no document"},
		{insertDoc(func() {}), "document:", "no document at all"},
		{updateOne(d("a", func() {}), d("$set", d("a", 1))), "filter:", "what BSON can't hold"},
		{insertDoc(d("_id", big)), "16 MiB", "a large document"},
		{updateOne(d("_id", 1), d("$set", d("a", big))), "16 MiB", "a large update"},
		{updateOne(d("_id", big[:len(big)/2]), d("$set", d("a", big[:len(big)/2]))), "16 MiB", "a large statement"},
		{
			w:    write(&mongo.UpdateOneModel{Filter: bson.D{}, Update: d("$set", d("a", 1)), ArrayFilters: []any{nil}}),
			want: "arrayFilters: is nil", reason: "a nil array filter",
		},
	} {
		p := model.NewPlan(parts.Delete(1), c.w)
		_, err := p.Run(t.Context(), nil) // a database that isn't there: nothing is sent
		var step *model.StepError
		if !errors.As(err, &step) || step.Step != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want step 2 and %q: %s", err, c.want, c.reason)
		}
	}
}

// A plan whose first step would find, on a second run, what its last step wrote, is not rerunnable.
func TestGuaranteeOfChains(t *testing.T) {
	many := func(from, to int) model.Write {
		return model.Write{Collection: "parts", Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: "qty", Value: from}}, Update: bson.D{{Key: "$set", Value: bson.D{{Key: "qty", Value: to}}}},
		}}
	}
	for _, c := range []struct {
		reason string
		plan   model.Plan
		want   model.Guarantee
	}{
		{"the second run would raise what was raised to 1", model.NewPlan(many(1, 2), many(0, 1)), model.Transactional},
		{"one step asks for what it writes itself", model.NewPlan(many(1, 2)), model.Rerunnable},
	} {
		if got := c.plan.Guarantee(); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}
