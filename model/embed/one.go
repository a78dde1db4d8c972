package embed

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// One is one document (the subdocument) inside another (the parent): a person's address.
//
// Each write is one atomic update, by _id. A missing parent gives [model.ErrNotFound].
//
// # Indexes and checks
//
// Indexes returns the indexes declared in OneSpec.Indexes.
//
// Checks returns one check, without repair. It finds parents in which the subdocument, or
// a field above the subdocument, isn't a document.
//
// Cost: the check reads every parent.
type One[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	s    *subdocument
}

// subdocument is the non-generic core of a One.
type subdocument struct {
	docs    *core.Docs
	path    string
	indexes []bson.D
}

// OneSpec says which indexes a [One] has. The zero value is valid.
type OneSpec struct {
	// Indexes are index keys, with paths within the subdocument: {city: 1}.
	Indexes []bson.D
}

// NewOne declares that c's documents store at most one document of type E at path. It
// panics with a [*model.DeclarationError] if
//
//   - path isn't of type E, or is in an array or the _id
//   - a document above path can be stored as null
//   - E lacks a path of the spec
func NewOne[E, D, K any](c *model.Collection[D, K], path string, spec OneSpec) *One[D, K, E] {
	out := &One[D, K, E]{model.Parts{}, c, newSubdocument(c.Docs(), reflect.TypeFor[E](), path, spec.Indexes)}
	out.Parts = model.NewParts(out.indexes, nil, out.s.checks, out.s.footprints).WithDocs(c.Docs()).
		WithReactions(out.s.reactions)
	return out
}

func newSubdocument(c *core.Docs, elem reflect.Type, path string, indexes []bson.D) *subdocument {
	place := core.Place(fmt.Sprintf("NewOne of %s.%s", c.Name(), path))
	f := c.MustField(path)
	switch {
	case f.Arrays > 0:
		place.Fail(fmt.Sprintf("path %q is an array, or is in one", path), "declare the array with NewEmbedded")
	case f.NullParent() != "":
		place.Fail(fmt.Sprintf("a nil value at %q is stored as null, below which $set fails", f.NullParent()),
			"tag that field omitempty, or declare it as a struct")
	case core.Overlap(path, "_id"):
		place.Fail("the path is in the _id, which can't change", "name another field")
	}
	elementType(c, place, f, elem)
	return &subdocument{c, path, checkIndexes(c, place, path, indexes)}
}

// Put stores or overwrites a parent's subdocument. The write is idempotent.
//
// Cost: one command.
func (o *One[D, K, E]) Put(parent K, doc E) model.Write { return o.s.put(parent, doc) }

// Create stores a subdocument if it is missing or null in the parent. If the parent has
// an equal subdocument, the write does nothing. A different subdocument gives
// [model.ErrTaken].
//
// Cost: one command, and up to two reads more if that command matches nothing.
func (o *One[D, K, E]) Create(parent K, doc E) model.Write { return o.s.create(parent, doc) }

// Update applies update operators to a parent's subdocument, as [Embedded.Update] does to
// an element. A missing subdocument gives [ErrNoElement]. To remove the subdocument, use
// $unset on the parent.
//
// Cost: one command, and one read if nothing matched.
func (o *One[D, K, E]) Update(parent K, update bson.D) model.Write {
	return o.s.update(parent, update)
}

// Having returns the query of parents whose subdocument matches conditions on fields:
// {city: "Anytown"}. $and, $or and $nor are allowed.
//
// Cost: one command. An index of [OneSpec] serves the command if the conditions contain
// the index's first field. Without an index, the command reads every parent.
func (o *One[D, K, E]) Having(conditions bson.D) (f *model.Find[D]) {
	f = o.docs.Find(nil)
	o.s.having(&f.Query, conditions)
	return f
}

func (o *One[D, K, E]) indexes() []model.Index {
	var out []model.Index
	for _, keys := range o.s.indexes {
		x := o.s.index(keys)
		x.Why = o.s.docs.Name() + " by fields of " + o.s.path
		out = append(out, x)
	}
	return out
}

func (s *subdocument) index(keys bson.D) model.Index {
	return (&embedding{docs: s.docs, path: s.path}).index(keys)
}

func (s *subdocument) checks() []model.Check {
	other := bson.D{{
		Key: s.path,
		Value: bson.D{
			{Key: "$exists", Value: true},
			{Key: "$not", Value: bson.D{{Key: "$type", Value: bson.A{"object", "null"}}}},
		},
	}}
	// an array of documents also matches $type "object"
	list := bson.D{{Key: s.path, Value: bson.D{{Key: "$type", Value: "array"}}}}
	ways := bson.A{other, list}
	for _, p := range above(s.path) {
		ways = append(ways, notDocument(p)...)
	}
	return []model.Check{{
		Name: s.docs.Name() + "." + s.path + ": not a document", Collection: s.docs.Name(),
		Rule: s.path + " is a document or is missing", Pipeline: found.FindMatching(bson.D{{Key: "$or", Value: ways}}),
		Tell: found.DescribeDocuments(s.path + " isn't a document"),
	}}
}

func (s *subdocument) put(parent, doc any) model.Write {
	v, err := s.docs.Part(s.path, doc)
	if err != nil {
		return model.Refused(s.docs.Name(), err)
	}
	return toParent(s.docs, parent, bson.D{{Key: "$set", Value: bson.D{{Key: s.path, Value: v}}}})
}

func (s *subdocument) create(parent, doc any) model.Write {
	byID, err := s.docs.ByID(parent)
	if err != nil {
		return model.Refused(s.docs.Name(), err)
	}
	w := s.put(parent, doc)
	if w.Err != nil {
		return w
	}
	m := w.Model.(*mongo.UpdateOneModel)
	v := m.Update.(bson.D)[0].Value.(bson.D)[0].Value
	m.Filter = bsondoc.JoinFilters(byID, bson.D{{Key: s.path, Value: nil}})
	w.Idempotent, w.Done = true, bsondoc.JoinFilters(byID, bson.D{{Key: s.path, Value: mql.Eq(v)}})
	w.Reasons = []model.Reason{{If: byID, Err: errElementExists}}
	return w
}

func (s *subdocument) update(parent any, update bson.D) model.Write {
	byID, err := s.docs.ByID(parent)
	if err != nil {
		return model.Refused(s.docs.Name(), err)
	}
	u, err := operators(s.docs, update, s.path, 0, s.path, "")
	if err != nil {
		return model.Refused(s.docs.Name(), err)
	}
	return model.Write{
		Collection: s.docs.Name(), Expect: model.One, Idempotent: mql.IsIdempotent(u), Index: model.IDIndex,
		Reasons: []model.Reason{{If: byID, Err: ErrNoElement}},
		Model: &mongo.UpdateOneModel{
			Filter: bsondoc.JoinFilters(byID, bson.D{{Key: s.path, Value: bson.D{{Key: "$type", Value: "object"}}}}),
			Update: u,
		},
	}
}

//go:noinline
func (s *subdocument) having(q *model.Query, cond bson.D) {
	c, err := conditions(s.docs, s.path, cond)
	if err == nil && len(c) == 0 {
		err = s.docs.Refuse(s.path, nil, "no condition was given: give at least one")
	}
	if q.Err = err; err != nil {
		return
	}
	q.Filter = prefixed(s.path, c)
	for _, keys := range s.indexes {
		if has(c, keys[0].Key) {
			q.Index = s.index(keys).Name
			return
		}
	}
}

func (s *subdocument) footprints() []model.Footprint {
	return model.Writes.In(s.docs.Name(), s.path)
}
