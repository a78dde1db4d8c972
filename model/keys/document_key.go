package keys

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentKey is a [Composite] key in the form of a document, such as
// {_id: {state: 'CA', city: 'San Francisco', user: 42}}. The parts keep their types.
//
// # The order of fields
//
// The same fields in another order make another _id. In your own queries:
//
//   - Use ranges of whole documents, from {state: 'CA', city: MinKey()} to {state: 'CA',
//     city: MaxKey()}. A condition on "_id.state" doesn't use the index.
//   - Begin both ends of a range with the keys' first field. Use a value of this field's
//     type. A wrong end gives wrong results, not an error.
//
// # Scopes
//
// Under a [model.Scope] with a Tenant, the documents' _ids carry the tenant, so two tenants
// can have the same _ids. Results have the _ids without the tenant. Because other
// techniques use the documents too, use a database of [model.Model.On] with all techniques.
// On another database under a Tenant, each command on the documents gives a
// [*model.ConflictError]. To move the documents of an older version, run [model.MoveKeys]
// once for each tenant.
// An index that begins with a part, such as "_id.state", is created by
// [model.IndexSet.Ensure] on that database.
//
// Source: "Composite Key Index", "NoSQL Data Modeling Techniques", §8.
type DocumentKey[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	c    *composite.Key
}

// NewDocumentKey declares that each _id is a document with the parts as fields, in order.
// A part's path is the field's name. NewDocumentKey panics with a
// [*model.DeclarationError] if
//   - a part is invalid
//   - K is a map, or has an omitempty field
//   - K's fields and the parts differ in names or order
func NewDocumentKey[D, K any](docs *model.Collection[D, K], parts ...Part) *DocumentKey[D, K] {
	place := core.Place("NewDocumentKey of " + docs.Name())
	c := declareKey(docs.Docs(), place, parts, "_id.")
	var zero K
	c.DeclareDocument(place, c.Shape().As(reflect.TypeFor[K]()).AsEmbedded(), zero)
	return &DocumentKey[D, K]{
		Parts: model.Parts{}.WithDocs(docs.Docs()).WithKeys(c.DescribeKeyed()).WithReactions(c.MakeDocumentReactions),
		docs:  docs, c: c,
	}
}

// ID returns the _id for the given values, one for each part in order. Use it if K is
// bson.D. Invalid values give a [*model.ValueError].
func (x *DocumentKey[D, K]) ID(values ...any) (bson.D, error) { return x.c.MakeDocumentID(values) }

// Prefix returns the query of the documents whose _id begins with the given values, in
// the order of _id. Without values, the query finds all documents. Page the query as in
// [Composite.Prefix].
//
// Cost: one command, and one for each further batch; served by _id.
func (x *DocumentKey[D, K]) Prefix(values ...any) *model.Find[D] {
	filter, err := x.c.MatchDocumentPrefix(values)
	return x.ordered(filter, err)
}

// Range returns the query of the documents whose _id begins with the values of prefix.
// The next part of the _id must be at least start and less than end. A nil start or end
// means no bound.
//
// Cost: as [DocumentKey.Prefix].
func (x *DocumentKey[D, K]) Range(prefix []any, start, end any) *model.Find[D] {
	filter, err := x.c.MatchDocumentRange(prefix, start, end)
	return x.ordered(filter, err)
}

func (x *DocumentKey[D, K]) ordered(filter bson.D, err error) *model.Find[D] {
	return inKeyOrder(x.docs.Find(filter), 1, err)
}
