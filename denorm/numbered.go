package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/denorm/internal/numbered"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// NumberedSpec says how the elements of a list become numbered fields. Max is required.
type NumberedSpec struct {
	// Max is how many elements a list holds at most: from 1 to 60, for each position has an index of its own
	// ([Numbered.Indexes]), and a collection has at most 64.
	Max int

	// Fields are the names of an element's fields, without dots, in the order in which they come back. They are required
	// when elements are documents, and left out when they are plain values. An element with another field is refused.
	Fields []string

	// Separator stands between a field's name and its position; without digits, dots or dollar signs. "" means "_".
	Separator string

	// Key names one of Fields that identifies an element within its list (or the list's own name, for plain values). With
	// it, an append that is run again adds nothing. "" means none: an append whose answer was lost can't be told from one
	// that never arrived.
	Key string
}

// Numbered stores a list of small documents flat, in numbered fields: skill_1, level_1, skill_2, level_2. So "Poetry,
// Excellent" is asked of one position and never put together from two, by plain equalities that plain indexes serve, and
// so a store or a search index that knows no nested documents can hold it. Make it with [NewNumbered].
//
// D is what the documents mean, with the list nested. The collection holds them flat: in the place of the list stands how
// many elements it has, and the numbered fields after it. So {name: "Ann", skills: [{skill: "Poetry", level: 5}]} is stored
// as {name: "Ann", skills: 1, skill_1: "Poetry", level_1: 5}. A list that is missing, null or empty stays so, as does a
// field of an element; fields of an element come back in the order of Fields. Reading a flat document as a D fails on the
// count, loudly: use [Numbered.Documents] or [Numbered.Back].
//
// A document is written by one atomic update. What other code left half changed, [Numbered.Checks] finds.
//
// Where elements can be nested and queried by $elemMatch, that is simpler: one multikey index serves any number of them. Use
// this where they can't, or where more than one field of an element is asked for by ranges.
//
// Source: "Nested Documents Flattening: Numbered Field Names", the skills of a résumé (seed 002 §15); index limits:
// https://www.mongodb.com/docs/manual/reference/limits/#indexes.
//
// Indexes returns an index for each position, on the element's fields in the order of Fields.
//
// Checks returns two checks. Neither looks at fields of positions beyond Max.
//
// The first finds the documents whose count isn't that of their numbered fields, or that have fields and no count. Mending sets
// the count to the highest position that has a field, on the server, in one atomic update of each document: no field is lost,
// and a gap becomes an element without fields, or a null among plain values.
//
// The second finds the documents whose list is nested, or counts more than Max. No write mends them: [Numbered.Convert] stores
// nested lists flat, and a larger Max takes longer lists.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
type Numbered[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	n    *numbered.List
}

// NewNumbered declares that the collection stores the list at a path as numbered fields. It panics with a
// [*model.DeclarationError] when the path is not a field of the document itself that holds an array, when Fields name what
// elements don't have or what is an array, when Max, Separator or Key are out of their ranges, and when a numbered field
// would have the name of a field that the documents have.
func NewNumbered[D, K any](docs *model.Collection[D, K], path string, spec NumberedSpec) *Numbered[D, K] {
	n := numbered.Declare(flat.List{Docs: docs.Docs(), Path: path, Fields: spec.Fields}, numbered.Spec{Max: spec.Max, Separator: spec.Separator, Key: spec.Key})
	return &Numbered[D, K]{model.NewParts(n.Indexes, nil, n.Checks, n.Footprints), docs, n}
}

// Flatten returns a document as it is stored. A list longer than Max, an element with a field that is not declared or that
// is an array, and a document that has a field of a numbered name are refused with a [*model.ValueError].
func (x *Numbered[D, K]) Flatten(doc D) (bson.Raw, error) {
	raw, err := stored.Document(x.n.Docs, doc)
	if err != nil {
		return nil, err
	}
	return x.n.Flatten(raw)
}

// Back returns the document that a flat one means. A flat document whose count is not that of its numbered fields is refused
// with a [*model.ValueError]: see [Numbered.Checks]. One that is nested already is taken as it is.
func (x *Numbered[D, K]) Back(flat bson.Raw) (doc D, err error) {
	raw, err := x.n.Back(flat)
	if err != nil {
		return doc, err
	}
	return doc, x.n.Docs.Decode(raw, &doc)
}

// Insert returns the write that stores a new document flat, checked as by Collection.Insert and [Numbered.Flatten].
//
// Cost: one command, one document.
func (x *Numbered[D, K]) Insert(doc D) model.Write {
	return flat.StoredAs(x.docs.Insert(doc), x.n.Flatten)
}

// Replace returns the write that stores a whole document flat over the one with its _id, which must exist: else running it
// gives model.ErrNotFound.
//
// Cost: one command, one document, found by _id.
func (x *Numbered[D, K]) Replace(doc D) model.Write {
	return flat.StoredAs(x.docs.Replace(doc), x.n.Flatten)
}

// Set returns the write that gives a document's list these elements, in one atomic update: positions past the end are unset.
// No element empties the list. The document must exist: else running it gives model.ErrNotFound. Of two at the same time the
// later one's list stands, whole. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (x *Numbered[D, K]) Set(id K, elements ...any) model.Write {
	update, err := x.n.Set(elements)
	if err != nil {
		return model.Refused(x.n.Docs.Name(), err)
	}
	return x.docs.Update(id, update)
}

// AppendAt returns the write that adds an element after the first n, for one who knows how many there are: [Numbered.Append]
// decides from what it reads. It is guarded by the count: running it gives model.ErrStale when the list has another length
// by now, or the document is gone. With n at Max it carries model.ErrFull. With a Key, an element that the list holds
// already is recognized (Already), and nothing is written.
//
// Cost: one command, one document, found by _id; one more when it matches nothing, with a Key.
func (x *Numbered[D, K]) AppendAt(id K, n int, element any) model.Write {
	f := x.docs.ByID(id)
	if f.Err != nil {
		return model.Refused(x.n.Docs.Name(), f.Err)
	}
	return x.n.AppendAt(f.Filter, n, element)
}

// Append returns the change that adds an element at the end of a document's list: it reads the count, writes guarded by it,
// and reads again when another writer came first, up to 100 times; set Attempts for another bound. Running it gives
// model.ErrFull when every position is taken, and model.ErrNotFound when there is no such document. With a Key, an
// element that the list holds adds nothing. A count that doesn't fit the fields is refused: see [Numbered.Checks].
//
// Cost: two commands and one document, found by _id; the same again for each writer that came first. Where the element is
// there, two reads, the second safe from rollbacks.
//
// Consistency: one atomic update. Without a Key, an append whose answer was lost is to be looked for before it is run again.
func (x *Numbered[D, K]) Append(id K, element any) model.Change[any] {
	f := x.docs.ByID(id)
	return x.n.Append(f.Filter, element, f.Err)
}

// Equal returns the query of the documents with an element whose fields hold these values, all in one element. Values are
// data, whatever they look like. A null matches a field that is null or missing, of an element that is there.
//
// Cost: one command; an $or over Max positions, each served by its index of [Numbered.Indexes], the first of which is named.
// Conditions that leave out the first of Fields are served by none.
func (x *Numbered[D, K]) Equal(fields bson.D) *model.Find[bson.Raw] {
	filter, err := x.n.Equal(fields)
	return x.find(filter, x.n.Serves(fields), err)
}

// Match returns the query of the documents with an element that fulfils conditions of operators, all in one element:
// {skill: {$eq: "Poetry"}, level: {$gte: 4}}. Operators are the caller's own: hand values of users to [Numbered.Equal], or
// below an operator of yours.
//
// Cost: as [Numbered.Equal].
func (x *Numbered[D, K]) Match(conditions bson.D) *model.Find[bson.Raw] {
	filter, err := x.n.Match(conditions)
	return x.find(filter, x.n.Serves(conditions), err)
}

func (x *Numbered[D, K]) find(filter bson.D, index string, err error) *model.Find[bson.Raw] {
	return commands.Served(&model.Find[bson.Raw]{Query: x.docs.Find(filter).Query}, index, err)
}

// Documents returns the pipeline of the documents that a query finds, nested again by the server. The query is one of
// [Numbered.Equal] or [Numbered.Match], or any of the flat collection; its filter, sort, skip, limit and
// options are kept, a projection is not.
//
// Cost: one command, and one per further batch; served as the query is.
func (x *Numbered[D, K]) Documents(query *model.Find[bson.Raw]) *model.Aggregate[D] {
	if query == nil {
		a := x.docs.Aggregate(nil)
		a.Err = x.docs.Docs().Refuse("query", nil, "is nil")
		return a
	}
	a := x.docs.Aggregate(x.n.Documents(query.Query))
	a.Options = query.Options
	return commands.Indexed(a, query.Index, query.Err)
}

// Convert returns the job that stores nested documents flat, in place, on a live collection: each by one atomic update that
// asks that the list is as it was read, so that one that changed meanwhile is left to the next run. A list that can't be
// stored flat ends the job with an error that names the document.
//
// Cost: a command to read and one to write for a batch of 500 documents, and two to read the end; each nested document is written
// once. No index serves the search for arrays. Cut, it leaves some nested; it can be run again.
func (x *Numbered[D, K]) Convert() model.Job { return x.n.Convert() }

// Restore returns the write that nests all flat documents again, in place and on the server: the way back from
// [Numbered.Convert]. Documents that [Numbered.Checks] finds stay as they are. Each document is written atomically; it can be
// run again.
//
// Cost: one command that reads every document and writes the flat ones. Stopped half way, it leaves some flat.
func (x *Numbered[D, K]) Restore() model.Write { return x.n.Restore() }
