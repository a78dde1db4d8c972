// Package inverted finds documents by intersections and unions of several fields' values: see [Inverted].
package inverted

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Inverted finds and counts documents by combinations of several fields' values. Each
// path of [New] has an indextable.IndexTable. A [model.Store] of the documents writes the
// entries.
//
// # Consistency
//
// A crash can leave surplus entries in an indextable.IndexTable. [Inverted.Documents] and
// [Inverted.Report] skip surplus entries. [Inverted.IDs], [Inverted.Count] and
// [Inverted.Values] include surplus entries.
//
// Source: "Inverted Search – Direct Aggregation" ("NoSQL Data Modeling Techniques", §10).
//
// # Checks
//
// Checks returns the indextable.IndexTable.Checks of each declared path.
type Inverted[D, K any] struct {
	model.Parts

	docs  *model.Collection[D, K]
	in    *untypedInverted
	cores indextable.Tables
}

// New declares the inverted indexes of paths, in collections named prefix.path.
// It panics with a [*model.DeclarationError] if there is no path, if two paths overlap,
// or if [indextable.New] panics for a path.
func New[D, K any](docs *model.Collection[D, K], prefix string, paths ...string) *Inverted[D, K] {
	var cores indextable.Tables
	for _, path := range paths {
		entries := docs.Docs().WithName(prefix + "." + path).Name() // panics for a name that MongoDB refuses
		cores = append(cores, indextable.DeclareTable(docs.Docs(), path, entries, false, nil))
	}
	in := declareInverted(docs.Docs(), cores)
	return &Inverted[D, K]{model.NewParts(nil, in.listRelations, in.listChecks, in.listFootprints).
		WithDocs(docs.Docs()).WithKeys(cores.ListKeyedDocs()...).WithReactions(in.makeReactions), docs, in, cores}
}

// Rebuild returns the job that writes missing entries of all declared paths, as
// indextable.IndexTable.Rebuild does.
//
// Cost: for each batch of 500 documents, one command to read, and one for each path at
// which the documents have values. At the end, two more commands.
func (x *Inverted[D, K]) Rebuild() model.Job {
	return x.cores.MakeRebuildJob("inverted index of " + x.docs.Name())
}

// Is returns the query of the documents with this value at a declared path. When
// run, the query gives a [*model.ValueError] for an undeclared path. The same applies if
// the value is nil, an array or a regular expression.
func (x *Inverted[D, K]) Is(path string, value any) Query {
	return Query{x.in.matchValue(path, value)}
}

// IDs returns the query for the sorted _ids of the documents that q finds. If q has
// several values, the query gives a [*model.ValueError] in a transaction.
//
// Cost: one command that reads the indextable.IndexTable entries of q's values. With more than 16
// values, DocumentDB can read all entries of q's paths.
func (x *Inverted[D, K]) IDs(q Query) *model.Aggregate[ID[K]] {
	c, err := x.in.findIDs(q.q)
	return commands.ServeAggregate(model.AggregateAs[ID[K]](x.docs.Named(c.Collection).Unchecked(),
		c.Stages), model.IDIndex, err)
}

// Count returns the query that counts the ids that q finds. For a transaction, see
// [Inverted.IDs].
//
// Cost: as [Inverted.IDs].
func (x *Inverted[D, K]) Count(q Query) *model.Aggregate[denorm.Count] {
	c, err := x.in.countIDs(q.q)
	return commands.ServeAggregate(model.AggregateAs[denorm.Count](x.docs.Named(c.Collection).Unchecked(),
		c.Stages), model.IDIndex, err)
}

// Documents returns the query of the documents that q finds, sorted by _id. For a
// transaction, see [Inverted.IDs].
//
// Cost: as [Inverted.IDs], and one document for each found _id.
func (x *Inverted[D, K]) Documents(q Query) *model.Aggregate[D] {
	c, err := x.in.findDocuments(q.q)
	return commands.ServeAggregate(x.docs.Named(c.Collection).Unchecked().Aggregate(c.Stages), model.IDIndex, err)
}

// Report returns the query that counts q's documents for each value at path, in the order
// of values. Documents without a value aren't counted. The path can contain one array.
// Then a document is counted once for each distinct value.
//
// Cost: as [Inverted.Documents].
func (x *Inverted[D, K]) Report(q Query, path string) *model.Aggregate[denorm.Counted[bson.RawValue]] {
	c, err := x.in.reportValues(q.q, path)
	return commands.ServeAggregate(model.AggregateAs[denorm.Counted[bson.RawValue]](
		x.docs.Named(c.Collection).Unchecked(), c.Stages), model.IDIndex, err)
}

// Values returns the query that counts the documents per value of a declared path, in the
// order of values.
//
// Cost: one command that reads the path's whole indextable.IndexTable.
func (x *Inverted[D, K]) Values(path string) *model.Aggregate[denorm.Counted[bson.RawValue]] {
	c, err := x.in.countValues(path)
	return commands.ServeAggregate(model.AggregateAs[denorm.Counted[bson.RawValue]](x.docs.Named(c.Collection).
		Unchecked(), c.Stages), "", err)
}

// An ID is a result of [Inverted.IDs]: a document's _id.
type ID[K any] struct {
	ID K `bson:"_id"`
}

// An Query says which documents to find. [Inverted.Is] returns one. Its methods
// And, Or and Minus combine queries of the same [Inverted], with at most 256 values in
// all. Running any other combination, or the zero Query, gives a
// [*model.ValueError].
type Query struct{ q untypedQuery }

// And returns the query of the documents that match q and all the given queries.
func (q Query) And(others ...Query) Query {
	return q.combineWith(combineAnd, others)
}

// Or returns the query of the documents that q or another of the queries finds.
func (q Query) Or(others ...Query) Query {
	return q.combineWith(combineOr, others)
}

// Minus returns the query of the documents that q finds and none of the others finds.
func (q Query) Minus(others ...Query) Query {
	return q.combineWith(combineMinus, others)
}

func (q Query) combineWith(how combination, others []Query) Query {
	list := make([]untypedQuery, len(others))
	for i, o := range others {
		list[i] = o.q
	}
	return Query{q.q.combineWith(how, list)}
}

// Direct returns the query of the documents with these ids, in the order of _id. The
// query reads only _id and the declared paths.
//
// Cost: one command, and one per further batch. It reads one document per id, by _id.
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
	return &model.Find[bson.Raw]{Query: x.in.findDirect(x.docs.Find(nil).Query, list, err)}
}
