package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/model"
)

// up is an update of document 1.
func up(opFields ...any) model.Write { return updateOne(d("_id", 1), d(opFields...)) }

func guarded(w model.Write, nameValue ...any) model.Write {
	m := w.Model.(*mongo.UpdateOneModel)
	m.Filter = bsondoc.JoinFilters(m.Filter.(bson.D), d(nameValue...))
	return expectOne(w)
}

// may is a write that may match nothing.
func may(w model.Write) model.Write {
	w.Expect = model.Any
	return w
}

func with(w model.Write, change func(*mongo.UpdateOneModel)) model.Write {
	change(w.Model.(*mongo.UpdateOneModel))
	return w
}

func filters(w model.Write, f ...any) model.Write {
	return with(w, func(m *mongo.UpdateOneModel) { m.ArrayFilters = f })
}

// inBytes is the write with its update by operators in bytes, as techniques may make it.
func inBytes(t *testing.T, w model.Write) model.Write {
	m, ok := w.Model.(*mongo.UpdateOneModel)
	if !ok {
		return w
	}
	ops, ok := m.Update.(bson.D)
	if !ok {
		return w
	}
	raw, err := bson.Marshal(ops)
	if err != nil {
		t.Fatal(err)
	}
	c := *m
	c.Update = bson.Raw(raw)
	w.Model = &c
	return w
}

func TestMergeConflicts(t *testing.T) {
	yes := true
	for _, c := range []struct {
		a, b         model.Write
		paths        string
		want, reason string
	}{
		{
			a: up("$set", d("a", 1)), b: up("$inc", d("a.b", 1)), paths: "$set a|$inc a.b",
			want: "one update can't contain both", reason: "a path and one below it",
		},
		{
			a: up("$set", d("a.b", 1)), b: up("$set", d("a", 1)), paths: "$set a.b|$set a",
			want: "one update can't contain both", reason: "a path and one above it",
		},
		{
			a: up("$set", d("a", 1)), b: up("$set", d("a", 2)), paths: "$set a|$set a", want: "one update can't contain both",
			reason: "two values for one path",
		},
		{
			a: up("$set", d("a", 1)), b: up("$unset", d("a", "")), paths: "$set a|$unset a",
			want: "one update can't contain both", reason: "two operators",
		},
		{
			a: up("$inc", d("a", 1)), b: up("$inc", d("a", 1)), paths: "$inc a|$inc a", want: "one update can't contain both",
			reason: "the same $inc twice is twice as much",
		},
		{up("$push", d("l", 1)), up("$pull", d("l", 1)), "$push l|$pull l", "one update can't contain both", "one array"},
		{
			a: up("$push", d("l", 1)), b: up("$set", d("l.0.x", 1)), paths: "$push l|$set l.0.x",
			want: "one update can't contain both", reason: "an array and its element",
		},
		{
			a: up("$set", d("l.$[e].x", 1)), b: up("$set", d("l.0.x", 1)), paths: "$set l.$[e].x|$set l.0.x",
			want: "one update can't contain both", reason: "e may be element 0",
		},
		{
			a: up("$set", d("l.$[].x", 1)), b: up("$set", d("l.$.x", 1)), paths: "$set l.$[].x|$set l.$.x",
			want: "one update can't contain both", reason: "positions may be one",
		},
		{
			a: filters(up("$set", d("l.$[e].x", 1)), d("e.id", 1)),
			b: up("$set", d("l.0.y", 1)), paths: "$set l.$[e].x|$set l.0.y", want: "one update can't contain both",
			reason: "the server takes no $[e] beside a number",
		},
		{
			a: filters(up("$set", d("l.$[e].x", 1)), d("e.id", 1)),
			b: up("$set", d("l.$.y", 1)), paths: "$set l.$[e].x|$set l.$.y", want: "one update can't contain both",
			reason: "nor beside a $",
		},
		{
			a: up("$rename", d("a", "b")), b: up("$set", d("b.c", 1)), paths: "$rename b|$set b.c",
			want: "one update can't contain both", reason: "where a field is renamed to",
		},
		{
			a: up("$rename", d("a", "b")), b: up("$set", d("a", 1)), paths: "$rename a|$set a",
			want: "one update can't contain both", reason: "what is renamed",
		},
		{
			a: up("$setOnInsert", d("a", 1)), b: up("$set", d("a", 1)), paths: "$setOnInsert a|$set a",
			want: "one update can't contain both", reason: "the same value, and another operator",
		},
		{
			a:     filters(up("$set", d("l.$[e].x", 1)), d("e.id", 1)),
			b:     filters(up("$set", d("m.$[e].x", 1)), d("e.id", 2)),
			paths: "arrayFilters e|arrayFilters e", want: "has two different conditions", reason: "one identifier for two",
		},
		{
			a:     filters(up("$set", d("l.$[e].x", 1)), d("$or", bson.A{d("e.id", 1)})),
			b:     filters(up("$set", d("m.$[e].x", 1)), d("e.id", 2)),
			paths: "arrayFilters e|arrayFilters e", want: "has two different conditions", reason: "an identifier inside $or",
		},
		{up("$set", d("a", 1)), updateOne(d("_id", 2), d("$set", d("b", 1))), "|", "same _id", "two documents"},
		{up("$set", d("a", 1)), updateOne(d("x", 2), d("$set", d("b", 1))), "|", "same _id", "not known to be one document"},
		{
			a:     updateOne(d("_id", d("$gt", 1)), d("$set", d("a", 1))),
			b:     updateOne(d("_id", d("$gt", 1), "x", 1), d("$set", d("b", 1))),
			paths: "|", want: "same _id", reason: "no equality on _id",
		},
		{
			a: up("$set", d("a", 1)), b: may(guarded(up("$set", d("b", 1)), "x", 1)), paths: "|", want: "would prevent",
			reason: "a condition that may match nothing",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     write(&mongo.DeleteOneModel{Filter: d("_id", 1)}),
			paths: "|", want: "only updates of one document", reason: "a delete",
		},
		{
			a: up("$set", d("a", 1)), b: updateMany(d("_id", 1), d("$set", d("b", 1))), paths: "|",
			want: "only updates of one document", reason: "an update of many",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up(), func(m *mongo.UpdateOneModel) { m.Update = mongo.Pipeline{d("$set", d("b", 1))} }),
			paths: "|", want: "pipeline can't be merged", reason: "a pipeline",
		},
		{up("$set", d("a", 1)), up("$set", 1), "|", "$set must be a document", "no fields"},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up("$set", d("b", 1)), func(m *mongo.UpdateOneModel) { m.Upsert = &yes }),
			paths: "|", want: "upserts, the other doesn't", reason: "an upsert",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up("$set", d("b", 1)), func(m *mongo.UpdateOneModel) { m.Hint = "x" }),
			paths: "|", want: "different hints", reason: "a hint",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up("$set", d("b", 1)), func(m *mongo.UpdateOneModel) { m.Sort = d("x", 1) }),
			paths: "|", want: "different sorts", reason: "a sort",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up("$set", d("b", 1)), func(m *mongo.UpdateOneModel) { m.Collation = &options.Collation{Locale: "en"} }),
			paths: "|", want: "different collations", reason: "a collation",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     with(up("$set", d("b", 1)), func(m *mongo.UpdateOneModel) { m.Filter = bson.Raw{5, 0, 0, 0, 0} }),
			paths: "|", want: "filters must be bson.D", reason: "a filter in raw bytes",
		},
		{
			a:     up("$set", d("a", 1)),
			b:     model.Write{Collection: "other", Model: up("$set", d("b", 1)).Model},
			paths: "|", want: "to other", reason: "another collection",
		},
	} {
		for _, got := range []model.Write{model.Merge(c.a, c.b), model.Merge(inBytes(t, c.a), inBytes(t, c.b))} {
			var e *model.ConflictError
			if !errors.As(got.Err, &e) || strings.Join(e.Paths[:], "|") != c.paths || !strings.Contains(e.Error(), c.want) ||
				e.Collection != "parts" {
				t.Errorf("%s\n\tand %s\n\tgive %v, want paths %s and %q: %s", c.a, c.b, got.Err, c.paths, c.want, c.reason)
			}
		}
	}
	if err := model.Merge().Err; err == nil {
		t.Error("nothing to merge, and no error")
	}
	if err := model.Merge(up("$set", d("a", 1)), model.Refused("parts", errBad)).Err; !errors.Is(err, errBad) {
		t.Errorf("bad input: %v", err)
	}
}

// Two writes that reach deleted documents can be merged, and so can one that does and one
// that doesn't; but the latter is refused under a scope that marks deletions.
func TestMergeDeleted(t *testing.T) {
	reaches, doesnt := reachDeleted(up("$set", d("a", 1))), up("$set", d("b", 1))
	if w := model.Merge(reaches, reachDeleted(doesnt)); !w.Deleted || model.Scoped(scope, w).Err != nil {
		t.Errorf("deleted %v, %v", w.Deleted, model.Scoped(scope, w).Err)
	}
	// A write that must find a document that isn't deleted decides for both.
	if w := model.Merge(reaches, expectOne(doesnt)); w.Deleted || model.Scoped(scope, w).Err != nil {
		t.Errorf("deleted %v, %v", w.Deleted, model.Scoped(scope, w).Err)
	}
	for _, w := range []model.Write{
		model.Merge(reaches, doesnt), model.Merge(doesnt, reaches),
		model.Merge(model.Merge(doesnt, reaches), up("$set", d("c", 1))),
	} {
		var e *model.ConflictError
		if err := model.Scoped(scope, w).Err; !errors.As(err, &e) || !strings.Contains(e.Reason, "run the two separately") {
			t.Errorf("under a scope that marks deletions: %v", err)
		}
		if err := errors.Join(w.Err, model.Scoped(model.Scope{Tenant: d("tenant", "a")}, w).Err); err != nil {
			t.Errorf("under a scope that marks none: %v", err)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		writes       []model.Write
		want, reason string
	}{
		{[]model.Write{up("$set", d("a", 1))}, "{_id: 1}, {$set: {a: 1}}", "one"},
		{
			writes: []model.Write{up("$set", d("a", 1)), up("$inc", d("b", 1)), up("$set", d("c", 1))},
			want:   "{_id: 1}, {$set: {a: 1, c: 1}, $inc: {b: 1}}", reason: "operators are united",
		},
		{
			writes: []model.Write{up("$set", d("at", 1)), up("$set", d("at", 1, "b", 2))},
			want:   "{_id: 1}, {$set: {at: 1, b: 2}}", reason: "the same $set twice is one",
		},
		{
			writes: []model.Write{up("$set", bson.M{"a": 1}), up("$set", item{ID: oid(1)})},
			want:   "{_id: 1}, {$set: {a: 1, id: ObjectId('5f0000000000000000000001')}}",
			reason: "fields in a map or a struct",
		},
		{
			writes: []model.Write{up("$set", d("a.b", 1)), up("$set", d("a.c", 1)), up("$set", d("ab", 1))},
			want:   "{_id: 1}, {$set: {'a.b': 1, 'a.c': 1, ab: 1}}", reason: "paths side by side",
		},
		{
			writes: []model.Write{up("$set", d("l.0.x", 1)), up("$set", d("l.1.x", 1)), up("$set", d("l.0.y", 1))},
			want:   "{_id: 1}, {$set: {'l.0.x': 1, 'l.1.x': 1, 'l.0.y': 1}}",
			reason: "different elements",
		},
		{
			writes: []model.Write{
				filters(up("$set", d("l.$[e].x", 1)), d("e.id", 1)),
				filters(up("$set", d("l.$[e].y", 1)), d("e.id", 1)),
			},

			want:   "{_id: 1}, {$set: {'l.$[e].x': 1, 'l.$[e].y': 1}}, {arrayFilters: [{'e.id': 1}]}",
			reason: "an equal array filter is one",
		},
		{[]model.Write{guarded(up("$set", d("a", 1)), "v", 1), guarded(up("$set", d("b", 1)), "n", d("$lt", 9))},
			"{_id: 1, v: 1, n: {$lt: 9}}, {$set: {a: 1, b: 1}}", "guards are ANDed when each expects a match"},
		{[]model.Write{guarded(up("$set", d("a", 1)), "v", d("$gt", 1)), guarded(up("$set", d("b", 1)), "v", d("$lt", 9))},
			"{$and: [{_id: 1}, {v: {$gt: 1}}, {v: {$lt: 9}}]}, {$set: {a: 1, b: 1}}", "guards on one field"},
		{
			writes: []model.Write{updateOne(d("k", 1), d("$set", d("a", 1))), updateOne(d("k", 1), d("$set", d("b", 1)))},
			want:   "{k: 1}, {$set: {a: 1, b: 1}}", reason: "equal filters without an _id",
		},
		{
			writes: []model.Write{updateOne(bson.D{}, d("$set", d("a", 1))), updateOne(bson.D{}, d("$set", d("b", 1)))},
			want:   "{}, {$set: {a: 1, b: 1}}", reason: "empty filters stay filters",
		},
	} {
		before := fmt.Sprint(c.writes)
		got := model.Merge(c.writes...)
		if diff := cmp.Diff("db.parts.updateOne("+c.want+")", got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		raw := []model.Write{}
		for _, w := range c.writes {
			raw = append(raw, inBytes(t, w))
		}
		if fromBytes := model.Merge(raw...); fromBytes.String() != got.String() ||
			model.NewPlan(raw[0]).Guarantee() != model.NewPlan(c.writes[0]).Guarantee() {
			t.Errorf("%s: encoded writes give %s", c.reason, fromBytes)
		}
		if err := model.NewPlan(got).Err(); err != nil || fmt.Sprint(c.writes) != before {
			t.Errorf("%s: %v; the writes are now %v", c.reason, err, c.writes)
		}
	}
	a := done(once(guarded(up("$set", d("a", 1)), "v", 1)), d("_id", 1, "a", 1))
	b := done(once(guarded(up("$set", d("b", 1)), "v", 1)), d("_id", 1, "b", 1))
	if got := model.Merge(a, b); model.Shell(got.Done) != "{_id: 1, a: 1, b: 1}" || !got.Idempotent || got.Expect != model.One {
		t.Errorf("Done %s, Once %v, Expect %v", model.Shell(got.Done), got.Idempotent, got.Expect)
	}
	full, taken := model.Reason{
		If: d("_id", 1, "l", "full"), Err: model.ErrFull,
	}, model.Reason{If: d("_id", 1), Err: model.ErrTaken}
	a.Reasons, b.Reasons = []model.Reason{full}, []model.Reason{taken}
	if got := model.Merge(a,
		b).Reasons; fmt.Sprint(got) != fmt.Sprint([]model.Reason{full, taken}) || len(a.Reasons) != 1 {
		t.Errorf("Reasons %v", got)
	}
	if got := model.Merge(a, guarded(up("$set", d("b", 1)), "v", 1)); got.Done != nil || got.Idempotent {
		t.Errorf("where one has no Done, none is known: %s, %v", model.Shell(got.Done), got.Idempotent)
	}
}
