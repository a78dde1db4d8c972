package indextable

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ListChecks returns the checks of surplus entries, of old copies, and of values without
// an entry of their own. The check of taken values has no repair: a person must decide
// which document keeps the value.
func (t *Table) ListChecks() []model.Check {
	surplus := model.Check{
		Name: t.entries + ": surplus entries", Collection: t.entries, Age: time.Minute,
		Rule:     fmt.Sprintf("each entry's document holds the value in %s of %s", t.path, t.docs.Name()),
		Pipeline: t.findSurplus(), Tell: found.DescribeRows(surplusEntry.describeFinding),
	}
	surplus.Mend = mendEntries(t, surplus.Name,
		func(d surplusEntry) (v, id bson.RawValue) { return d.Value, d.ID }, t.removeSurplus)
	stale := model.Check{
		Name: t.entries + ".doc: stale copies", Collection: t.entries,
		Rule:     fmt.Sprintf("the copied fields of each entry equal those of its document of %s", t.docs.Name()),
		Pipeline: t.findStaleCopies(), Tell: found.DescribeRows(staleEntry.describeFinding),
	}
	stale.Mend = mendEntries(t, stale.Name,
		func(d staleEntry) (v, id bson.RawValue) { return d.Value, d.ID }, t.renewFoundCopies)
	missing := model.Check{
		Name:       fmt.Sprintf("%s.%s: values without an entry in %s", t.docs.Name(), t.path, t.entries),
		Collection: t.docs.Name(),
		Rule:       fmt.Sprintf("each value has an entry in %s", t.entries),
		Pipeline:   t.findFaultyValues("missing"), Tell: found.DescribeRows(missingEntry.describeFinding),
	}
	missing.Mend = mendEntries(t, missing.Name, func(d missingEntry) (v, id bson.RawValue) { return d.Value, d.ID },
		func(d missingEntry) model.Write { return t.insertEntry(d.Value, d.ID, d.Want) })
	out := []model.Check{surplus}
	if len(t.copies) > 0 {
		out = append(out, stale)
	}
	out = append(out, missing)
	if t.unique {
		out = append(out, model.Check{
			Name: fmt.Sprintf("%s.%s: values whose entry in %s is of another document", t.docs.Name(), t.path,
				t.entries), Collection: t.docs.Name(),
			Rule:     fmt.Sprintf("the entry of each value in %s names the document that holds the value", t.entries),
			Pipeline: t.findFaultyValues("conflict"), Tell: found.DescribeRows(takenEntry.describeFinding),
		})
	}
	for i := range out {
		out[i].Keyed = t.ListKeyed()
	}
	return out
}

// A surplusEntry is an entry whose document doesn't have the value.
type surplusEntry struct {
	Entry bson.RawValue   `bson:"_id"`
	Value bson.RawValue   `bson:"v"`  // as it is stored
	ID    bson.RawValue   `bson:"id"` // the _id of the document
	Ops   []bson.ObjectID `bson:"ops"`
	At    time.Time       `bson:"at"` // of the first claim, until the document has the value
}

// describeFinding sets Since to the latest claim. An ObjectID has whole seconds, so it
// adds one. The token of a request can be older than its claim: therefore also the time
// in the entry.
func (d surplusEntry) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.Entry,
		fmt.Sprintf("the document %s doesn't hold %s", model.Shell(d.ID), commands.Shorten(model.Shell(d.Value)))
	if len(d.Ops) > 0 {
		f.Since = d.At
	}
	for _, op := range d.Ops {
		if t := op.Timestamp().Add(time.Second); t.After(f.Since) {
			f.Since = t
		}
	}
}

// A staleEntry is an entry whose copied fields differ from the document's.
type staleEntry struct {
	Entry bson.RawValue `bson:"_id"`
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Found bson.Raw      `bson:"found"` // nil if the entry has none
	Want  bson.Raw      `bson:"want"`
}

func (d staleEntry) describeFinding(f *model.Finding) {
	found := "nothing"
	if d.Found != nil {
		found = commands.Shorten(model.Shell(d.Found))
	}
	f.ID, f.Problem = d.Entry,
		fmt.Sprintf("copies %s from %s, which has %s", found, model.Shell(d.ID), commands.Shorten(model.Shell(d.Want)))
}

// A missingEntry is a value of a document that has no entry.
type missingEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Want  bson.Raw      `bson:"want"` // the fields to copy; nil if none are declared
}

func (d missingEntry) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID,
		fmt.Sprintf("holds %s, but there is no entry for it", commands.Shorten(model.Shell(d.Value)))
}

// A takenEntry is a unique value of a document whose entry is another document's.
type takenEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Other bson.RawValue `bson:"other"` // the _id of the document whose entry it is
}

func (d takenEntry) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID,
		fmt.Sprintf("holds %s, but the entry for it names %s",
			commands.Shorten(model.Shell(d.Value)), model.Shell(d.Other))
}

// matchStaying matches the documents that no unfinished action deletes.
func (t *Table) matchStaying() bson.E {
	return mql.E(t.docs.StoreField().Deletes(), mql.Exists(false))
}

// matchFinished is the stage that keeps the entries whose document, under src, has no
// unfinished action. The action itself writes the entries of the others.
func (t *Table) matchFinished() bson.D {
	return mql.Match(mql.E("src."+t.docs.StoreField().Action(), mql.Exists(false)))
}

// holdsValue is the expression that the document of an entry, under src, has its value.
func (t *Table) holdsValue() bson.D {
	value, at := "$"+t.valuePath(), "$src."+t.path
	return mql.Cond(mql.Op("$isArray", at), mql.Op("$in", value, at), mql.Op("$eq", value, at))
}

// findSurplus is the pipeline over the entries that finds entries whose document doesn't
// have the value.
func (t *Table) findSurplus() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "src"),
		{{
			Key:   "$unwind",
			Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}},
		}},
		t.matchFinished(),
		mql.Project(mql.E("v", "$"+t.valuePath()), mql.E("id", "$"+t.idPath()), mql.E("ops", 1), mql.E("at", 1),
			mql.E("held", t.holdsValue())),
		mql.Match(mql.E("held", false)),
		mql.SortID(),
		{{Key: "$unset", Value: "held"}},
	}
}

// findStaleCopies is the pipeline over the entries that finds copied fields that differ
// from the document's fields.
func (t *Table) findStaleCopies() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "src"),
		mql.Unwind("$src"),
		t.matchFinished(),
		{{Key: "$project", Value: bson.D{
			{Key: "v", Value: "$" + t.valuePath()}, {Key: "id", Value: "$" + t.idPath()}, {Key: "found", Value: "$doc"},
			{Key: "want", Value: stored.NestPaths(t.copies, "$src.")}, {Key: "held", Value: t.holdsValue()},
			{Key: "same", Value: mql.Op("$eq", "$doc", stored.NestPaths(t.copies, "$src."))},
		}}},
		mql.Match(mql.E("held", true), mql.E("same", false)),
		mql.SortID(),
		{{Key: "$unset", Value: bson.A{"held", "same"}}},
	}
}

// findFaultyValues is the pipeline over the documents that finds the values without an
// entry ("missing"), or the values whose entry is another document's ("conflict"). A
// document that an unfinished action deletes needs no entries.
func (t *Table) findFaultyValues(fault string) mongo.Pipeline {
	fields := bson.D{{Key: "v", Value: "$" + t.path}}
	group := bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: "$v"}, {Key: "id", Value: "$_id"}}}}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "v", Value: "$_id.v"}, {Key: "id", Value: "$_id.id"}}
	local, wrong := "_id", bson.D{{Key: "entry", Value: bson.D{{Key: "$size", Value: 0}}}}
	if t.unique {
		local = "_id.v"
	}
	if fault == "conflict" {
		wrong = mql.Op("$expr",
			mql.Op("$and", mql.Op("$ne", "$entry", bson.A{}),
				mql.Op("$not", bson.A{mql.Op("$in", "$_id.id", "$entry.id")})))
		out = append(out, bson.E{Key: "other", Value: mql.Op("$arrayElemAt", "$entry.id", 0)})
	} else if len(t.copies) > 0 {
		fields = append(fields, bson.E{Key: "want", Value: stored.NestPaths(t.copies, "$")})
		group = append(group, bson.E{Key: "want", Value: bson.D{{Key: "$first", Value: "$want"}}})
		out = append(out, bson.E{Key: "want", Value: 1})
	}
	return mongo.Pipeline{
		mql.Match(mql.E(t.path, mql.Exists(true)), t.matchStaying()),
		mql.Project(fields...),
		mql.Unwind("$v"),
		mql.Match(mql.E("v", bson.D{{Key: "$ne", Value: nil}})),
		{{Key: "$group", Value: group}},
		mql.Lookup(t.entries, local, "_id", "entry"),
		mql.Match(wrong...),
		mql.SortID(),
		mql.Project(out...),
	}
}

// mendEntries mends findings of a check by one write each. place returns a finding's
// value and document.
func mendEntries[R any](
	t *Table, check string, place func(R) (v, id bson.RawValue), write func(row R) model.Write,
) func([]model.Finding) model.Plan {
	mend := func(i int, row R) model.Write {
		if v, id := place(row); !stored.IsKey(v) || !stored.IsKey(id) {
			return found.RefuseFinding(t.entries, i, "value or no _id")
		}
		return write(row)
	}
	return found.MendRows(check, t.entries, func(rows []R) model.Plan {
		return found.PlanWrites(rows, "some entries corrected; the next check finds the others", mend)
	})
}

// removeSurplus deletes an entry whose claims are as they were found.
func (t *Table) removeSurplus(d surplusEntry) model.Write {
	return t.removeEntry(t.matchEntry(d.Value, d.ID), mql.E("ops", mql.Op("$eq", mql.Array(d.Ops))))
}

// renewFoundCopies sets copied fields that are as they were found.
func (t *Table) renewFoundCopies(d staleEntry) model.Write {
	return t.updateEntry(append(t.matchEntry(d.Value, d.ID), stored.MatchDocumentAt("doc", d.Found)),
		mql.Set(mql.E("doc", d.Want)))
}

// insertEntry inserts a value's entry unless there is one. Its list of claims is empty,
// so the next check can delete it if the document loses the value meanwhile.
func (t *Table) insertEntry(v, id bson.RawValue, copies any) model.Write {
	fields := t.makeFields(copies, mql.E("ops", bson.A{}), mql.E("sure", true))
	if t.unique {
		fields = append(bson.D{{Key: "id", Value: id}}, fields...)
	}
	return t.upsertOne(t.matchEntry(v, id)[:1:1], mql.Op("$setOnInsert", fields))
}
