// Package attributes stores properties that differ from document to document: see [Attributes].
package attributes

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Attributes is an array of names and values, for properties that vary between documents:
// {k: 'length', v: 30}. One index serves queries by any property. Names are unique in a
// document. A name can contain dots and dollar signs.
//
// Source: the attribute pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/group-data/attribute-pattern/.
//
// # Indexes and checks
//
// Indexes returns the index on names and values.
//
// Checks returns the check for repeated names. The repair keeps the first attribute of
// each name.
type Attributes[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	a      *untypedAttributes
}

// Spec names the fields of an attribute. The zero value is valid.
type Spec struct {
	Name  string // the field with the attribute's name; "" means "k"
	Value string // the field with the value; "" means "v"
}

// New declares that the arrays at path contain [Attributes]. New
// panics with a [*model.DeclarationError] if
//   - the field at path isn't an array, or is inside an array
//   - a nil slice at path is stored as null: tag the field omitempty
//   - the elements lack a field that spec names, or the name field isn't a string
func New[D, K any](owners *model.Collection[D, K], path string, spec Spec) *Attributes[D, K] {
	a := declareAttributes(owners.Docs(), path, spec.Name, spec.Value)
	indexes := func() []model.Index { return []model.Index{a.makeIndex()} }
	return &Attributes[D, K]{model.NewParts(indexes, nil, a.listChecks, a.listFootprints).
		WithDocs(owners.Docs()).WithReactions(a.makeReactions), owners, a}
}

// Set returns the write that sets attributes of the document whose _id is owner. The
// parameter list contains names and values. An existing attribute keeps its position, and
// only its value changes. Unlike [model.Store.Edit], the write needs no read. It is
// idempotent. A missing owner gives model.ErrNotFound.
//
// Cost: one command, one document, by _id. [model.Merge] can't merge the write.
func (a *Attributes[D, K]) Set(owner K, list bson.D) model.Write {
	return a.a.setAttributes(a.owners.ByID(owner).Query, list)
}

// Unset returns the write that removes the attributes with these names from the document
// whose _id is owner. Names that the document doesn't have are ignored. The write is
// idempotent. A missing owner gives model.ErrNotFound. An empty or repeated name gives a
// [*model.ValueError].
//
// Cost: one command, one document, by _id.
func (a *Attributes[D, K]) Unset(owner K, names ...string) model.Write {
	pull, err := a.a.unsetAttributes(names)
	if err != nil {
		return model.Refused(a.owners.Name(), err)
	}
	return commands.AdoptWrite(a.owners.Update(owner, pull))
}

// Equal returns the query of the documents with an attribute of exactly this name and
// value.
//
// Cost: one command, served by [Attributes].Indexes. On DocumentDB the query reads all
// documents that have an attribute of this name.
func (a *Attributes[D, K]) Equal(name string, value any) *model.Find[D] {
	filter, err := a.a.matchEqual(name, value)
	return a.find(filter, err)
}

// Match returns the query of the documents in which the attribute of this name matches a
// condition, such as {$gte: 20, $lt: 40}. An empty condition, or a key that isn't an
// operator, gives a [*model.ValueError]. For several attributes, pass the Filter of one
// query to [model.Find.Where] of another query.
//
// Cost: one command, served by [Attributes].Indexes.
func (a *Attributes[D, K]) Match(name string, condition bson.D) *model.Find[D] {
	filter, err := a.a.matchCondition(name, condition)
	return a.find(filter, err)
}

// Has returns the query of the documents that have an attribute of this name.
//
// Cost: one command, served by [Attributes].Indexes.
func (a *Attributes[D, K]) Has(name string) *model.Find[D] {
	filter, err := a.a.matchName(name)
	return a.find(filter, err)
}

func (a *Attributes[D, K]) find(filter bson.D, err error) *model.Find[D] {
	f := a.owners.Find(filter)
	return commands.ServeFind(f, a.a.makeIndex().Name, cmp.Or(f.Err, err))
}

// Survey returns the query that counts attributes for each name and BSON type. Results
// are sorted by name. If a document repeats a name, each repetition counts.
//
// Cost: one command that reads every owner.
func (a *Attributes[D, K]) Survey() *model.Aggregate[denorm.Use] {
	return model.AggregateAs[denorm.Use](a.owners, a.a.countUses())
}
