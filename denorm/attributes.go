package denorm

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm/internal/attributes"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Attributes stores properties that differ from document to document as an array of names
// and values, such as {k: 'length', v: 30}. One index serves queries by any property. A
// document holds each name once. Names may contain dots and dollar signs. Make it with
// [NewAttributes].
//
// Source: the attribute pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/attribute-pattern/.
//
// Indexes returns the compound index on names and values.
//
// Checks returns one check, of documents that hold a name more than once.
// [Attributes.Set] never stores this. The repair keeps the first attribute of each name.
//
// Cost: see [model.Check]. The repair writes one document each, by _id.
type Attributes[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	a      *attributes.List
}

// AttributesSpec names the fields of an attribute. The zero value is valid.
type AttributesSpec struct {
	Name  string // of the field that holds the name; "" means k
	Value string // of the field that holds the value; "" means v
}

// NewAttributes declares that the array at a path of the owners' documents holds
// attributes. It panics with a [*model.DeclarationError] when the path isn't an array or
// is inside another, when a nil slice is stored as null, or when the elements lack a
// field of the spec or the name isn't a string.
func NewAttributes[D, K any](owners *model.Collection[D, K], path string, spec AttributesSpec) *Attributes[D, K] {
	a := attributes.Declare(owners.Docs(), path, spec.Name, spec.Value)
	indexes := func() []model.Index { return []model.Index{a.Index()} }
	return &Attributes[D, K]{model.NewParts(indexes, nil, a.Checks, a.Footprints), owners, a}
}

// Set returns the write that sets attributes of an owner to values. An attribute that the
// owner has keeps its position and its other fields. A new one comes last. Set is
// idempotent. A missing owner gives model.ErrNotFound. An empty list, an empty or
// repeated name, or a value that can't be stored is a [*model.ValueError].
//
// Cost: one command, one document, by _id: an atomic update by an aggregation pipeline,
// which can't be merged with other updates.
func (a *Attributes[D, K]) Set(owner K, list bson.D) model.Write {
	return a.a.Set(a.owners.ByID(owner).Query, list)
}

// Unset returns the write that removes attributes from an owner. It ignores names that
// the owner doesn't have. It is idempotent. A missing owner gives model.ErrNotFound.
//
// Cost: one command, one document, by _id.
func (a *Attributes[D, K]) Unset(owner K, names ...string) model.Write {
	pull, err := a.a.Unset(names)
	if err != nil {
		return model.Refused(a.owners.Name(), err)
	}
	return a.owners.Update(owner, pull)
}

// Equal returns the query of the documents with this value for the attribute.
//
// Cost: one command, served by [Attributes.Indexes]. DocumentDB uses only the name in the
// index and reads all documents that have the attribute. To avoid this for attributes
// without other fields, create an index on the array and query {specs:
// {k: name, v: value}}.
func (a *Attributes[D, K]) Equal(name string, value any) *model.Find[D] {
	filter, err := a.a.Equal(name, value)
	return a.find(filter, err)
}

// Match returns the query of the documents whose attribute matches a condition of
// operators, such as {$gte: 20, $lt: 40}. To query several attributes, add the Filter of
// another Match by Where.
//
// Cost: one command, served by [Attributes.Indexes].
func (a *Attributes[D, K]) Match(name string, condition bson.D) *model.Find[D] {
	filter, err := a.a.Match(name, condition)
	return a.find(filter, err)
}

// Has returns the query of the documents that have an attribute.
//
// Cost: one command, served by [Attributes.Indexes].
func (a *Attributes[D, K]) Has(name string) *model.Find[D] {
	filter, err := a.a.Has(name)
	return a.find(filter, err)
}

func (a *Attributes[D, K]) find(filter bson.D, err error) *model.Find[D] {
	f := a.owners.Find(filter)
	return commands.Served(f, a.a.Index().Name, cmp.Or(f.Err, err))
}

// Survey returns how many documents have each attribute, by name and BSON type of the
// value, sorted by name. A name that a document repeats counts each time.
//
// Cost: one command that reads every owner.
func (a *Attributes[D, K]) Survey() *model.Aggregate[Use] {
	return model.AggregateAs[Use](a.owners, a.a.Survey())
}
