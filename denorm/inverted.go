package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/denorm/internal/inverted"
	"github.com/docmodel/docmodel/internal/commands"
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
// The inverted index of a path is an [IndexTable] in the collection prefix.path, one entry for each value
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
//
// Indexes and Checks return those of the tables.
type Inverted[D, K any] struct {
	model.Parts

	docs  *model.Collection[D, K]
	in    *inverted.Index
	cores indextable.Tables
}

// NewInverted declares the inverted indexes of the paths, in the collections named prefix.path. It panics with a
// [*model.DeclarationError] for what [NewIndexTable] refuses of a path, without a path, and when two paths overlap.
func NewInverted[D, K any](docs *model.Collection[D, K], prefix string, paths ...string) *Inverted[D, K] {
	var cores indextable.Tables
	for _, path := range paths {
		entries := docs.Docs().Named(prefix + "." + path).Name() // panics for a name that MongoDB refuses
		cores = append(cores, indextable.Declare(docs.Docs(), path, entries, false, nil))
	}
	in := inverted.Declare(docs.Docs(), cores)
	return &Inverted[D, K]{model.NewParts(in.Indexes, in.Relations, in.Checks, in.Footprints), docs, in, cores}
}

// Insert returns the plan that enters a new document's values, of all paths, and stores it, as [IndexTable.Insert] does.
//
// Cost: two commands for each path that has values, and one; twice as many entries as the document has values, and the
// document. Cut, it leaves entries without the document: run it again, or see [IndexTable.Checks]. In a transaction each entry is written once.
func (x *Inverted[D, K]) Insert(doc D, op bson.ObjectID) model.Plan {
	return x.cores.Insert(x.docs.Insert(doc), op)
}

// Set returns the plan that sets fields of a document, as it was read, and keeps the entries of all paths true, as
// [IndexTable.Set] does. The write is guarded by what all the paths held as they were read: when one changed, or the
// document is gone, running it gives model.ErrNotFound, and what was entered for it is taken back.
//
// Cost: one command, and for each path that is set two more: one to confirm what is entered,
// one to delete what leaves; and one for each path that gets or loses values. Documents
// written: one, and each entry that is entered or taken out twice, in a transaction once. Cut, it leaves an entry
// too many: run it again.
func (x *Inverted[D, K]) Set(doc *D, fields bson.D, op bson.ObjectID) model.Plan {
	return x.cores.Set(doc, fields, op)
}

// Delete returns the plan that deletes a document, as it was read, and then its entries, as [IndexTable.Delete] does. It can
// be run again.
//
// Cost: one command, one for each path, and one more for each path that has values; the
// document, and each of its entries twice, in a transaction once.
func (x *Inverted[D, K]) Delete(doc *D) model.Plan {
	return x.cores.Delete(doc)
}

// Rebuild returns the job that enters what is missing, of all paths in one pass over the documents, as
// [IndexTable.Rebuild] does.
//
// Cost: for a batch of 500 documents a command to read, and one for each path with something missing; two to find the end. Cut, it
// leaves some entries missing; it can be run again, and while others write.
func (x *Inverted[D, K]) Rebuild() model.Job {
	return x.cores.Rebuild("inverted index of " + x.docs.Name())
}

// Is returns the query of the documents that hold a value at a declared path, for [Inverted.IDs] and the others. Null, an
// array and a pattern have no entries, and are refused by what the query is handed to.
func (x *Inverted[D, K]) Is(path string, value any) InvertedQuery {
	return InvertedQuery{x.in.Is(path, value)}
}

// IDs returns the pipeline of the _ids that a query finds, in their order.
//
// Cost: one command; it reads the entries of each of the query's values, served by _id. On DocumentDB a query of more than 16
// values reads all entries of their tables. Ids are grouped in the server's memory, within 100 MB; set Options.AllowDiskUse for
// more.
func (x *Inverted[D, K]) IDs(q InvertedQuery) *model.Aggregate[InvertedID[K]] {
	c, err := x.in.IDs(q.q)
	return commands.Indexed(model.AggregateAs[InvertedID[K]](x.docs.Named(c.Collection).Unchecked(), c.Stages), model.IDIndex, err)
}

// Count returns the pipeline of how many ids a query finds; it gives one result, 0 for none.
//
// Cost: as [Inverted.IDs].
func (x *Inverted[D, K]) Count(q InvertedQuery) *model.Aggregate[Count] {
	c, err := x.in.Count(q.q)
	return commands.Indexed(model.AggregateAs[Count](x.docs.Named(c.Collection).Unchecked(), c.Stages), model.IDIndex, err)
}

// Documents returns the pipeline of the documents that a query finds, in the order of their ids. Each is asked again for the
// query's values, so that entries too many give none.
//
// Cost: as [Inverted.IDs], and each document that the ids lead to, by _id.
func (x *Inverted[D, K]) Documents(q InvertedQuery) *model.Aggregate[D] {
	c, err := x.in.Documents(q.q)
	return commands.Indexed(x.docs.Named(c.Collection).Unchecked().Aggregate(c.Stages), model.IDIndex, err)
}

// Report returns the pipeline of how many of the documents that a query finds have each value of a field, in the order of
// values: a report by category. The field is any of the documents, a declared path or not; of an array each different
// element counts. Documents without a value, or with null, count nowhere. Each is asked again for the query's values.
//
// Cost: as [Inverted.Documents]; one pass.
func (x *Inverted[D, K]) Report(q InvertedQuery, path string) *model.Aggregate[Counted[bson.RawValue]] {
	c, err := x.in.Report(q.q, path)
	return commands.Indexed(model.AggregateAs[Counted[bson.RawValue]](x.docs.Named(c.Collection).Unchecked(), c.Stages), model.IDIndex, err)
}

// Values returns the pipeline of how many documents have each value of a declared path, in the order of values, from its
// entries alone.
//
// Cost: one command that reads all of the path's entries, and no document.
func (x *Inverted[D, K]) Values(path string) *model.Aggregate[Counted[bson.RawValue]] {
	c, err := x.in.Values(path)
	return commands.Indexed(model.AggregateAs[Counted[bson.RawValue]](x.docs.Named(c.Collection).Unchecked(), c.Stages), "", err)
}

// An InvertedID is the _id of a document, as [Inverted.IDs] finds it.
type InvertedID[K any] struct {
	ID K `bson:"_id"`
}

// An InvertedQuery says which documents are sought: those with a value, [Inverted.Is], and what And, Or and Minus make of
// several. It belongs to the Inverted that made it. It is never changed, so that a part can be used again. The zero
// InvertedQuery asks for nothing, and is refused.
type InvertedQuery struct{ q inverted.Query }

// And returns the query of the documents that this query and all others find.
func (q InvertedQuery) And(others ...InvertedQuery) InvertedQuery {
	return q.with(inverted.And, others)
}

// Or returns the query of the documents that this query or one of the others finds.
func (q InvertedQuery) Or(others ...InvertedQuery) InvertedQuery { return q.with(inverted.Or, others) }

// Minus returns the query of the documents that this query finds and none of the others.
func (q InvertedQuery) Minus(others ...InvertedQuery) InvertedQuery {
	return q.with(inverted.Minus, others)
}

func (q InvertedQuery) with(how inverted.Combination, others []InvertedQuery) InvertedQuery {
	list := make([]inverted.Query, len(others))
	for i, o := range others {
		list[i] = o.q
	}
	return InvertedQuery{q.q.With(how, list)}
}

// Direct returns the query of what documents hold at the declared paths, by their _ids, in the order of _id: the direct
// index, asked for many at once. Ids that no document has give none.
//
// Cost: one command, and one per further batch; one document for each id, by _id.
func (x *Inverted[D, K]) Direct(ids ...K) *model.Find[bson.Raw] {
	list, err := make(bson.A, len(ids)), error(nil)
	for i, id := range ids {
		f := x.docs.ByID(id)
		if f.Err != nil {
			err = f.Err
			break
		}
		list[i] = f.Filter[0].Value
	}
	return &model.Find[bson.Raw]{Query: x.in.Direct(x.docs.Find(nil).Query, list, err)}
}
