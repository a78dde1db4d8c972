// Package numbered stores a list of small documents as flat fields: see [Numbered].
package numbered

import (
	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how [Numbered] stores a list. Max is required.
type Spec struct {
	// Max is the maximum length of a list, 1 to 60.
	Max int

	// Fields lists all field names of an element, without dots. For plain values, leave
	// Fields empty.
	Fields []string

	// Separator stands before an element's number, as in skill_1. "" means "_".
	Separator string

	// Key is the field whose value identifies an element. For plain values, Key is the
	// list's name. With Key, an append adds nothing if an element already has the value.
	// Set, Insert and Replace don't check this.
	Key string
}

// Numbered stores a list of small documents in numbered fields. Use Numbered for:
//   - databases and search indexes that can't nest documents
//   - range queries on several fields of an element
//
// In all other cases, $elemMatch is simpler.
//
// The stored form (second line) has a count instead of the list:
//
//	{name: "Ann", skills: [{skill: "Poetry", level: 5}]}
//	{name: "Ann", skills: 1, skill_1: "Poetry", level_1: 5}
//
// The stored form isn't that of D, so a [model.Store] can't write the documents.
//
// To decode stored documents as D, use [Numbered.Documents] or [Numbered.Back].
//
// Source: "Nested Documents Flattening: Numbered Field Names" ("NoSQL Data Modeling
// Techniques", §15).
//
// # Indexes and checks
//
// Indexes returns one index for each number from 1 to Spec.Max, such as
// {skill_1: 1, level_1: 1}.
//
// Checks returns two checks:
//   - Missing or wrong counts, which the repair corrects.
//   - Lists stored as arrays, and counts above Spec.Max. For arrays, run
//     [Numbered.Convert]. For counts, raise Max.
type Numbered[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	n    *untypedNumbered
}

// New declares that the list at path is stored as numbered fields. New
// panics with a [*model.DeclarationError] if
//   - path isn't a top-level array
//   - a field of spec is invalid
//   - a numbered field has the name of another field
func New[D, K any](docs *model.Collection[D, K], path string, spec Spec) *Numbered[D, K] {
	n := declareNumbered(flat.List{Docs: docs.Docs(), Path: path, Fields: spec.Fields}, spec)
	return &Numbered[D, K]{model.NewParts(n.listIndexes, nil, n.listChecks, n.listFootprints).WithDocs(docs.Docs()).
		WithoutReactions("Numbered.Insert, Numbered.Replace, Numbered.Set and Numbered.Append"), docs, n}
}

// Flatten returns the stored form of a document. It returns a [*model.ValueError] if
//
//   - the list has more than Spec.Max elements
//   - a field of doc has the name of a numbered field
//   - an element contains an array, or a field that isn't in Spec.Fields
func (x *Numbered[D, K]) Flatten(doc D) (bson.Raw, error) {
	raw, err := stored.EncodeDocument(x.n.Docs, doc)
	if err != nil {
		return nil, err
	}
	return x.n.flattenDocument(raw)
}

// Back decodes a stored document. The numbered fields become doc's list. Back accepts
// documents that still store the list as an array. If the stored count doesn't fit the
// numbered fields, Back returns a [*model.ValueError]: see [Numbered].Checks.
func (x *Numbered[D, K]) Back(flat bson.Raw) (doc D, err error) {
	raw, err := x.n.nestDocument(flat)
	if err != nil {
		return doc, err
	}
	return doc, x.n.Docs.Decode(raw, &doc)
}

// Insert returns the write that flattens doc ([Numbered.Flatten]) and inserts it. Errors
// are those of Flatten and Collection.Insert.
//
// Cost: one command, one document.
func (x *Numbered[D, K]) Insert(doc D) model.Write {
	return flat.StoreAs(commands.AdoptWrite(x.docs.Insert(doc)), x.n.flattenDocument)
}

// Replace returns the write that stores doc, flattened by [Numbered.Flatten], in place of
// the stored document that has doc's _id. If there is none, it gives model.ErrNotFound.
// For other errors, see Flatten.
//
// Cost: one command, one document, by _id.
func (x *Numbered[D, K]) Replace(doc D) model.Write {
	return flat.StoreAs(commands.AdoptWrite(x.docs.Replace(doc)), x.n.flattenDocument)
}

// Set returns the write that replaces a document's list by the given elements. It is
// idempotent. A missing document gives model.ErrNotFound; other errors are those of
// [Numbered.Flatten].
//
// Cost: one command, one document, by _id.
func (x *Numbered[D, K]) Set(id K, elements ...any) model.Write {
	update, err := x.n.setList(elements)
	if err != nil {
		return model.Refused(x.n.Docs.Name(), err)
	}
	return commands.AdoptWrite(x.docs.Update(id, update))
}

// AppendAt returns the write that adds an element at the end of a list of n elements.
// Errors:
//   - model.ErrStale: the list has a different length
//   - model.ErrNotFound: the document is missing
//   - model.ErrFull: n is Spec.Max
//
// Cost: one command, one document, by _id. If the update matches nothing, at most two
// reads follow.
func (x *Numbered[D, K]) AppendAt(id K, n int, element any) model.Write {
	f := x.docs.ByID(id)
	if f.Err != nil {
		return model.Refused(x.n.Docs.Name(), f.Err)
	}
	return x.n.appendElementAt(f.Filter, n, element)
}

// Append returns the change that appends an element to a document's list. Clients can
// append at the same time. Errors:
//   - model.ErrFull: the list has Spec.Max elements
//   - model.ErrNotFound: the document is missing
//
// With Spec.Key, a retry is safe. Without Key, a retry can repeat the element.
//
// Cost: two commands for each attempt, one document, by _id.
func (x *Numbered[D, K]) Append(id K, element any) model.Change {
	f := x.docs.ByID(id)
	return x.n.appendElement(f.Filter, element, f.Err)
}

// Equal returns the query of the documents with an element that has all these values.
// Values are never used as operators. Null also matches an existing element without the
// field.
//
// Cost: one command with an $or over Spec.Max positions. Indexes serve the
// command if fields contains the first of Spec.Fields.
func (x *Numbered[D, K]) Equal(fields bson.D) *model.Find[bson.Raw] {
	filter, err := x.n.matchEqual(fields)
	return x.find(filter, x.n.serveConditions(fields), err)
}

// Match returns the query of the documents in which an element matches all conditions:
// {skill: {$eq: "Poetry"}, level: {$gte: 4}}. Put a value from a user only after an
// operator, as in {$eq: input}, or use [Numbered.Equal].
//
// Cost: as [Numbered.Equal].
func (x *Numbered[D, K]) Match(conditions bson.D) *model.Find[bson.Raw] {
	filter, err := x.n.matchConditions(conditions)
	return x.find(filter, x.n.serveConditions(conditions), err)
}

func (x *Numbered[D, K]) find(filter bson.D, index string, err error) *model.Find[bson.Raw] {
	return commands.ServeFind(&model.Find[bson.Raw]{Query: x.docs.Find(filter).Query}, index, err)
}

// Documents returns the pipeline that finds a query's documents, decoded as D. The
// numbered fields become D's list. For query, pass a result of [Numbered.Equal] or
// [Numbered.Match]. For another query f, pass &model.Find[bson.Raw]{Query: f.Query}. A
// projection in query is ignored.
//
// Cost: one command for each batch, served by the index of query.
func (x *Numbered[D, K]) Documents(query *model.Find[bson.Raw]) *model.Aggregate[D] {
	if query == nil {
		a := x.docs.Aggregate(nil)
		a.Err = x.docs.Docs().Refuse("query", nil, "is nil")
		return a
	}
	a := x.docs.Aggregate(x.n.findDocuments(query.Query))
	a.Options = query.Options
	return commands.ServeAggregate(a, query.Index, query.Err)
}

// Convert returns the job that changes stored arrays to numbered fields. An array that
// doesn't fit [Spec] ends the job with an error. After a crash or concurrent
// writes, run the job again for missed arrays.
//
// Cost: two commands per batch of 500 documents, and two at the end. Each converted
// document is one write.
func (x *Numbered[D, K]) Convert() model.Job { return x.n.makeConvertJob() }

// Restore returns the write that stores all flat lists (numbered fields) as arrays again.
// It leaves out documents that [Numbered].Checks finds. After a crash, run it again.
//
// Cost: one command that reads every document and writes the flat documents.
func (x *Numbered[D, K]) Restore() model.Write { return x.n.restoreDocuments() }
