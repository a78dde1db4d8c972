package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link is one end of a relation that both sides store. The Link's version makes races
// safe. Use a Link as a list's element or a single reference. The zero Link refers to
// nothing.
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// # Protocol
//
// One document decides whether a link exists: the item of a [TwoWay], the left document
// of a [ManyToMany]. An operation that adds a link writes the other side first, then the
// deciding document.
//
// A crash between the writes leaves a half-link: only one side stores it. A retry with
// the same token, or a repair of Checks, finishes the operation or removes the half-link.
//
// In the methods of [TwoWay] and [ManyToMany], token identifies the operation. Pass a new
// bson.ObjectID for each operation, and the same token for its retries. If the documents
// store plain ids instead of Links ("bare ids"), pass bson.NilObjectID.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`
	Op bson.ObjectID `bson:"op"` // its timestamp lets checks skip recent operations

	// Ended says that a single reference was removed. The document then keeps the Link. A
	// list's elements don't use Ended.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link refers to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// isLink reports whether a field has the type Link[K].
func isLink[K any](f core.Field) bool { return !f.Open && f.Type == reflect.TypeFor[Link[K]]() }
