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

// Checks find entries too many, old copies, and values without an entry of their own.
func (t *Table) Checks() []model.Check {
	surplus := model.Check{
		Name: t.entries + ": surplus entries", Collection: t.entries, Age: time.Minute,
		Rule:     fmt.Sprintf("each entry's document holds the value in %s of %s", t.path, t.docs.Name()),
		Pipeline: t.surplus(), Tell: found.Tells(surplusEntry.tell),
	}
	surplus.Mend = mendsEntries(t, surplus.Name, func(d surplusEntry) (v, id bson.RawValue) { return d.Value, d.ID }, t.removeSurplus)
	stale := model.Check{
		Name: t.entries + ".doc: stale copies", Collection: t.entries,
		Rule:     fmt.Sprintf("the copied fields of each entry equal those of its document of %s", t.docs.Name()),
		Pipeline: t.stale(), Tell: found.Tells(staleEntry.tell),
	}
	stale.Mend = mendsEntries(t, stale.Name, func(d staleEntry) (v, id bson.RawValue) { return d.Value, d.ID }, t.renew)
	missing := model.Check{
		Name: fmt.Sprintf("%s.%s: values without an entry in %s", t.docs.Name(), t.path, t.entries), Collection: t.docs.Name(),
		Rule:     fmt.Sprintf("each value has an entry in %s", t.entries),
		Pipeline: t.without("missing"), Tell: found.Tells(missingEntry.tell),
	}
	missing.Mend = mendsEntries(t, missing.Name, func(d missingEntry) (v, id bson.RawValue) { return d.Value, d.ID },
		func(d missingEntry) model.Write { return t.ensure(d.Value, d.ID, d.Want) })
	out := []model.Check{surplus}
	if len(t.copies) > 0 {
		out = append(out, stale)
	}
	out = append(out, missing)
	if t.unique {
		out = append(out, model.Check{
			Name: fmt.Sprintf("%s.%s: values whose entry in %s is of another document", t.docs.Name(), t.path, t.entries), Collection: t.docs.Name(),
			Rule:     fmt.Sprintf("the entry of each value in %s names the document that holds the value", t.entries),
			Pipeline: t.without("conflict"), Tell: found.Tells(takenEntry.tell),
		})
	}
	for i := range out {
		out[i].Keyed = t.Keyed()
	}
	return out
}

// A surplusEntry is an entry whose document doesn't hold the value.
type surplusEntry struct {
	Entry bson.RawValue   `bson:"_id"`
	Value bson.RawValue   `bson:"v"`  // as it is stored
	ID    bson.RawValue   `bson:"id"` // the _id of the document
	Ops   []bson.ObjectID `bson:"ops"`
	At    time.Time       `bson:"at"` // of the first claim, until the document has the value
}

// tell takes the latest claim for the beginning: the second in its token is over then. The
// token of a request can be older than its claim.
func (d surplusEntry) tell(f *model.Finding) {
	f.ID, f.Problem = d.Entry, fmt.Sprintf("the document %s doesn't hold %s", model.Shell(d.ID), commands.Shorten(model.Shell(d.Value)))
	if len(d.Ops) > 0 {
		f.Since = d.At
	}
	for _, op := range d.Ops {
		if t := op.Timestamp().Add(time.Second); t.After(f.Since) {
			f.Since = t
		}
	}
}

// A staleEntry is an entry whose copied fields are not the document's.
type staleEntry struct {
	Entry bson.RawValue `bson:"_id"`
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Found bson.Raw      `bson:"found"` // nil if the entry has none
	Want  bson.Raw      `bson:"want"`
}

func (d staleEntry) tell(f *model.Finding) {
	found := "nothing"
	if d.Found != nil {
		found = commands.Shorten(model.Shell(d.Found))
	}
	f.ID, f.Problem = d.Entry, fmt.Sprintf("copies %s from %s, which has %s", found, model.Shell(d.ID), commands.Shorten(model.Shell(d.Want)))
}

// A missingEntry is a value of a document that has no entry.
type missingEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Want  bson.Raw      `bson:"want"` // the fields to copy; nil if none are declared
}

func (d missingEntry) tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %s, but there is no entry for it", commands.Shorten(model.Shell(d.Value)))
}

// A takenEntry is a unique value of a document whose entry is another document's.
type takenEntry struct {
	Value bson.RawValue `bson:"v"`
	ID    bson.RawValue `bson:"id"`
	Other bson.RawValue `bson:"other"` // the _id of the document whose entry it is
}

func (d takenEntry) tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %s, but the entry for it names %s", commands.Shorten(model.Shell(d.Value)), model.Shell(d.Other))
}

// isStaying matches the documents that no unfinished action deletes.
func (t *Table) isStaying() bson.E {
	return mql.E(t.docs.StoreField().Deletes(), mql.Exists(false))
}

// matchFinished is the stage that keeps the entries whose document, under src, tells of no
// unfinished action. The action writes the entries of the others.
func (t *Table) matchFinished() bson.D {
	return mql.Match(mql.E("src."+t.docs.StoreField().Action(), mql.Exists(false)))
}

// held is the expression that the document of an entry, under src, holds its value.
func (t *Table) held() bson.D {
	value, at := "$"+t.valuePath(), "$src."+t.path
	return mql.Cond(mql.Op("$isArray", at), mql.Op("$in", value, at), mql.Op("$eq", value, at))
}

// surplus is the pipeline over the entries that finds entries whose document doesn't hold
// the value.
func (t *Table) surplus() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "src"),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		t.matchFinished(),
		mql.Project(mql.E("v", "$"+t.valuePath()), mql.E("id", "$"+t.idPath()), mql.E("ops", 1), mql.E("at", 1), mql.E("held", t.held())),
		mql.Match(mql.E("held", false)),
		mql.SortID(),
		{{Key: "$unset", Value: "held"}},
	}
}

// stale is the pipeline over the entries that finds copied fields that differ from the
// document's fields.
func (t *Table) stale() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Lookup(t.docs.Name(), t.idPath(), "_id", "src"),
		mql.Unwind("$src"),
		t.matchFinished(),
		{{Key: "$project", Value: bson.D{
			{Key: "v", Value: "$" + t.valuePath()}, {Key: "id", Value: "$" + t.idPath()}, {Key: "found", Value: "$doc"}, {Key: "want", Value: stored.NestedPaths(t.copies, "$src.")},
			{Key: "held", Value: t.held()}, {Key: "same", Value: mql.Op("$eq", "$doc", stored.NestedPaths(t.copies, "$src."))},
		}}},
		mql.Match(mql.E("held", true), mql.E("same", false)),
		mql.SortID(),
		{{Key: "$unset", Value: bson.A{"held", "same"}}},
	}
}

// without is the pipeline over the documents that finds the values without an entry, or
// the values whose entry is another document's. A document that an unfinished action
// deletes needs no entries.
func (t *Table) without(fault string) mongo.Pipeline {
	fields := bson.D{{Key: "v", Value: "$" + t.path}}
	group := bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: "$v"}, {Key: "id", Value: "$_id"}}}}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "v", Value: "$_id.v"}, {Key: "id", Value: "$_id.id"}}
	local, wrong := "_id", bson.D{{Key: "entry", Value: bson.D{{Key: "$size", Value: 0}}}}
	if t.unique {
		local = "_id.v"
	}
	if fault == "conflict" {
		wrong = mql.Op("$expr", mql.Op("$and", mql.Op("$ne", "$entry", bson.A{}), mql.Op("$not", bson.A{mql.Op("$in", "$_id.id", "$entry.id")})))
		out = append(out, bson.E{Key: "other", Value: mql.Op("$arrayElemAt", "$entry.id", 0)})
	} else if len(t.copies) > 0 {
		fields = append(fields, bson.E{Key: "want", Value: stored.NestedPaths(t.copies, "$")})
		group = append(group, bson.E{Key: "want", Value: bson.D{{Key: "$first", Value: "$want"}}})
		out = append(out, bson.E{Key: "want", Value: 1})
	}
	return mongo.Pipeline{
		mql.Match(mql.E(t.path, mql.Exists(true)), t.isStaying()),
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

// mendsEntries mends findings of a check by one write each.
func mendsEntries[R any](t *Table, check string, of func(R) (v, id bson.RawValue), write func(row R) model.Write) func([]model.Finding) model.Plan {
	return found.Mends(check, t.entries, func(rows []R) model.Plan {
		return found.Mended(rows, "some entries corrected; the next check finds the others", func(i int, row R) model.Write {
			if v, id := of(row); !stored.IsKey(v) || !stored.IsKey(id) {
				return found.NotReturned(t.entries, i, "value or no _id")
			}
			return write(row)
		})
	})
}

// removeSurplus deletes an entry whose claims are as they were found.
func (t *Table) removeSurplus(d surplusEntry) model.Write {
	return t.remove(t.key(d.Value, d.ID), mql.E("ops", mql.Op("$eq", mql.A(d.Ops))))
}

// renew sets copied fields that are as they were found.
func (t *Table) renew(d staleEntry) model.Write {
	return t.update(append(t.key(d.Value, d.ID), stored.AsFound("doc", d.Found)), mql.Set(mql.E("doc", d.Want)))
}

// ensure enters a value unless it is entered.
func (t *Table) ensure(v, id bson.RawValue, copies any) model.Write {
	fields := t.fields(copies, mql.E("ops", bson.A{}), mql.E("sure", true))
	if t.unique {
		fields = append(bson.D{{Key: "id", Value: id}}, fields...)
	}
	return t.upsertOne(t.key(v, id)[:1:1], mql.Op("$setOnInsert", fields))
}
