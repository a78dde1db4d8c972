package denorm

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm/internal/attributes"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Attributes are properties that differ from document to document, kept as an array of names and values, so that one index
// serves queries by any of them: product.specs holds {k: 'length', v: 30}. Within a document each name stands once, and
// names are data: they may hold dots and dollar signs. Make it with [NewAttributes].
//
// Source: the attribute pattern, https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/attribute-pattern/.
//
// Indexes returns the one index on names and values, which serves queries by every attribute.
//
// Checks returns one check, of names that a document holds more than once. [Attributes.Set] never makes them; other code may
// have. Mending keeps the first of each name.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
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

// NewAttributes declares that the array at a path of the owners' documents holds attributes. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array or lies inside another, when its nil slice is stored as
// null, when an element has no such fields, or its name is no string.
func NewAttributes[D, K any](owners *model.Collection[D, K], path string, spec AttributesSpec) *Attributes[D, K] {
	a := attributes.Declare(owners.Docs(), path, spec.Name, spec.Value)
	indexes := func() []model.Index { return []model.Index{a.Index()} }
	return &Attributes[D, K]{model.NewParts(indexes, nil, a.Checks, a.Footprints), owners, a}
}

// Set returns the write that gives an owner's attributes their values: an attribute that it has changes its value where it
// stands and keeps other fields beside it, one that it hasn't comes last. The owner must exist: else running it gives
// model.ErrNotFound. It is idempotent.
//
// Bad input, refused: no attribute, an empty name, a name given twice, a value that can't be stored.
//
// Cost: one command, one document, found by _id; an update by a pipeline, which can't be merged with others. Consistency:
// one atomic update, whatever others set at the same time.
func (a *Attributes[D, K]) Set(owner K, list bson.D) model.Write {
	return a.a.Set(a.owners.ByID(owner).Query, list)
}

// Unset returns the write that takes attributes off an owner; those that it hasn't are passed over. The owner must exist.
// It is idempotent.
//
// Cost: one command, one document, found by _id.
func (a *Attributes[D, K]) Unset(owner K, names ...string) model.Write {
	pull, err := a.a.Unset(names)
	if err != nil {
		return model.Refused(a.owners.Name(), err)
	}
	return a.owners.Update(owner, pull)
}

// Equal returns the query of the documents whose attribute has a value.
//
// Cost: one command, served by [Attributes.Indexes]; on DocumentDB, which bounds it by the name alone, it reads all
// documents that have the attribute. Where these are many, and attributes hold a name and a value alone, an index of your
// own on the array serves the query {specs: {k: name, v: value}} there.
func (a *Attributes[D, K]) Equal(name string, value any) *model.Find[D] {
	filter, err := a.a.Equal(name, value)
	return a.find(filter, err)
}

// Match returns the query of the documents whose attribute fulfils a condition of operators: {$gte: 20, $lt: 40}. For
// several attributes, join the Filter of another Match to the query by its Where.
//
// Cost: one command, served by [Attributes.Indexes].
func (a *Attributes[D, K]) Match(name string, condition bson.D) *model.Find[D] {
	filter, err := a.a.Match(name, condition)
	return a.find(filter, err)
}

// Has returns the query of the documents that have an attribute, whatever its value.
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

// Survey returns what attributes there are: how many documents have each, by the BSON type of the value, in the order of
// names; a name that a document repeats counts each time. Values of two types are often a mistake: a range finds only those
// of its own.
//
// Cost: one command that reads every owner.
func (a *Attributes[D, K]) Survey() *model.Aggregate[Use] {
	return model.AggregateAs[Use](a.owners, a.a.Survey())
}
