package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Inverted finds documents by any combination of the values of several fields, and counts them by the values of any: users
// of some city who came to this site and not to that, by category. Make it with [NewInverted].
//
// It keeps, for each declared path, an inverted index: value → ids, in their order. The direct index, id → values, is the
// documents themselves. A query takes the ids of each of its values and intersects, unites and subtracts them, in one
// command; a report then asks each of the documents that remain for its category.
//
// The inverted index of a path is an [IndexTable] ([Inverted.Table]) in the collection prefix.path, one entry for each value
// and id: so a value may have any number of ids, two writers never wait for one list, and no entry outgrows a document. What
// is said of the IndexTable's entries, values, claims, checks and repairs holds here, each path by itself. What differs: a
// document is written with all of its entries by one plan, so write through here and not through a single table; and queries
// join tables.
//
// Where a secondary index can serve each field, the server intersects and unites by itself: use this where it can't, as
// with fields of a sharded collection, or where ids alone answer.
//
// # Consistency
//
// An entry is made before its document holds the value, and goes after: a lookup may meet an entry too many, never miss
// one, but for what an IndexTable says of three operations at once. [Inverted.Documents] and [Inverted.Report] ask the
// documents again. [Inverted.IDs], [Inverted.Count] and [Inverted.Values] trust the entries: they count what is under way,
// or was cut, until the tables' checks and repairs.
//
// Source: "Inverted Search – Direct Aggregation", users by category and site (seed 002 §10).
type Inverted[D, K any] struct {
	docs   *model.Collection[D, K]
	tables []*IndexTable[D, K]
	in     *inverted
}

// NewInverted declares the inverted indexes of the paths, in the collections named prefix.path. It panics with a
// [*model.DeclarationError] for what [NewIndexTable] refuses of a path, without a path, and when two paths overlap.
func NewInverted[D, K any](docs *model.Collection[D, K], prefix string, paths ...string) *Inverted[D, K] {
	x := &Inverted[D, K]{docs: docs, in: &inverted{docs: docs.Name()}}
	for _, path := range paths {
		t := NewIndexTable(docs, path, prefix+"."+path)
		x.tables, x.in.tables = append(x.tables, t), append(x.in.tables, t.t)
	}
	x.in.declare()
	return x
}

// Table returns the index table of a declared path, for its lookups, checks, repair and rebuild. It panics with a
// [*model.DeclarationError] for another path.
func (x *Inverted[D, K]) Table(path string) *IndexTable[D, K] {
	for _, t := range x.tables {
		if t.t.path == path {
			return t
		}
	}
	panic(&model.DeclarationError{
		Problem: fmt.Sprintf("no inverted index of %q", path), Place: "Inverted of " + x.in.docs, Remedy: "name a path that NewInverted was given",
	})
}

// Insert returns the plan that enters a new document's values, of all paths, and stores it, as [IndexTable.Insert] does.
//
// Cost: two commands for each path that has values, and one; twice as many entries as the document has values, and the
// document. Cut, it leaves entries without the document: run it again, or see [IndexTable.Checks].
func (x *Inverted[D, K]) Insert(doc D, op bson.ObjectID) model.Plan {
	w := x.docs.Insert(doc)
	if w.Err != nil {
		return model.NewPlan(w)
	}
	return x.in.tables.insert(w, op)
}

// Set returns the plan that sets fields of a document, as it was read, and keeps the entries of all paths true, as
// [IndexTable.Set] does. The write is guarded by what all the paths held as they were read: when one changed, or the
// document is gone, running it gives model.ErrStale, and what was entered for it is taken back.
//
// Cost: one command, and for each path that is set two more: one to confirm what is entered,
// one to delete what leaves; and one for each path that gets or loses values. Documents
// written: one, and each entry that is entered or taken out twice. Cut, it leaves an entry
// too many: run it again.
func (x *Inverted[D, K]) Set(doc *D, fields bson.D, op bson.ObjectID) model.Plan {
	raw, err := x.tables[0].read(doc)
	if err != nil {
		return model.RefusedPlan(x.in.docs, err)
	}
	return x.in.tables.set(raw, fields, op)
}

// Delete returns the plan that deletes a document, as it was read, and then its entries, as [IndexTable.Delete] does. It can
// be run again.
//
// Cost: one command, one for each path, and one more for each path that has values; the
// document, and each of its entries twice.
func (x *Inverted[D, K]) Delete(doc *D) model.Plan {
	raw, err := x.tables[0].read(doc)
	if err != nil {
		return model.RefusedPlan(x.in.docs, err)
	}
	return x.in.tables.delete(raw)
}

// Rebuild returns the job that enters what is missing, of all paths in one pass over the documents, as
// [IndexTable.Rebuild] does.
//
// Cost: for a batch of 500 documents a command to read, and one for each path with something missing; two to find the end. Cut, it
// leaves some entries missing; it can be run again, and while others write.
func (x *Inverted[D, K]) Rebuild() model.Job {
	return model.Job{
		Name: "inverted index of " + x.in.docs, Collection: x.in.docs, Projection: x.in.tables.projection(), Plan: x.in.tables.rebuild,
	}
}

// Is returns the query of the documents that hold a value at a declared path, for [Inverted.IDs] and the others. Null, an
// array and a pattern have no entries, and are refused by what the query is handed to.
func (x *Inverted[D, K]) Is(path string, value any) InvertedQuery { return x.in.is(path, value) }

// IDs returns the pipeline of the _ids that a query finds, in their order.
//
// Cost: one command; it reads the entries of each of the query's values, served by _id. Ids are grouped in the server's
// memory, within 100 MB; set Options.AllowDiskUse for more.
func (x *Inverted[D, K]) IDs(q InvertedQuery) model.Aggregate[InvertedID[K]] {
	c, err := x.in.ids(q)
	return indexed(model.AggregateAs[InvertedID[K]](x.docs.Named(c.collection), c.pipeline), model.IDIndex, err)
}

// Count returns the pipeline of how many ids a query finds; it gives one result, 0 for none.
//
// Cost: as [Inverted.IDs].
func (x *Inverted[D, K]) Count(q InvertedQuery) model.Aggregate[UniqueTotal] {
	c, err := x.in.count(q)
	return indexed(model.AggregateAs[UniqueTotal](x.docs.Named(c.collection), c.pipeline), model.IDIndex, err)
}

// Documents returns the pipeline of the documents that a query finds, in the order of their ids. Each is asked again for the
// query's values, so that entries too many give none.
//
// Cost: as [Inverted.IDs], and each document that the ids lead to, by _id.
func (x *Inverted[D, K]) Documents(q InvertedQuery) model.Aggregate[D] {
	c, err := x.in.documents(q)
	return indexed(x.docs.Named(c.collection).Aggregate(c.pipeline), model.IDIndex, err)
}

// Report returns the pipeline of how many of the documents that a query finds have each value of a field, in the order of
// values: a report by category. The field is any of the documents, a declared path or not; of an array each different
// element counts. Documents without a value, or with null, count nowhere. Each is asked again for the query's values.
//
// Cost: as [Inverted.Documents]; one pass.
func (x *Inverted[D, K]) Report(q InvertedQuery, path string) model.Aggregate[InvertedCount] {
	f, err := x.docs.Field(path)
	c, queryErr := x.in.report(q, f, err)
	return indexed(model.AggregateAs[InvertedCount](x.docs.Named(c.collection), c.pipeline), model.IDIndex, queryErr)
}

// Values returns the pipeline of how many documents have each value of a declared path, in the order of values, from its
// entries alone.
//
// Cost: one command that reads all of the path's entries, and no document.
func (x *Inverted[D, K]) Values(path string) model.Aggregate[InvertedCount] {
	c, err := x.in.values(path)
	return indexed(model.AggregateAs[InvertedCount](x.docs.Named(c.collection), c.pipeline), "", err)
}

// Direct returns the query of what documents hold at the declared paths, by their _ids, in the order of _id: the direct
// index, asked for many at once. Ids that no document has give none.
//
// Cost: one command, and one per further batch; one document for each id, by _id.
func (x *Inverted[D, K]) Direct(ids ...K) model.Find[bson.Raw] {
	list, err := make(bson.A, len(ids)), error(nil)
	for i, id := range ids {
		f := x.docs.ByID(id)
		if f.Err != nil {
			err = f.Err
			break
		}
		list[i] = f.Filter[0].Value
	}
	return x.in.direct(x.docs.Find(nil).Query, list, err)
}

// Indexes returns those of the tables.
func (x *Inverted[D, K]) Indexes() (out []model.Index) {
	for _, t := range x.tables {
		out = append(out, t.Indexes()...)
	}
	return out
}

// Relations returns those of the tables, for diagrams.
func (x *Inverted[D, K]) Relations() (out []model.Relation) {
	for _, t := range x.tables {
		out = append(out, t.Relations()...)
	}
	return out
}
