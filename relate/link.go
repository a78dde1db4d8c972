package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link is one end of a relation that both sides store, with a version that makes it safe
// under races. Use Link as the element of a list, or as a single reference. The zero Link
// refers to nothing.
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// # Protocol
//
// One document decides: the item of a [TwoWay], the left document of a [ManyToMany]. An
// operation that adds a link
//
//  1. stores the link on the other side, with the next version and the operation's token,
//  2. changes the deciding document, if its version hasn't changed since it was read.
//
// When the operation returns nil, both sides agree, also after a crash and a retry with
// other operations in between. A crash between the steps leaves a half-link: one side
// stores it, the other doesn't. A retry with the same token finishes the operation. The
// repairs of Checks finish the operation too, or remove the half-link if another
// operation has changed the deciding document.
//
// In the methods of [TwoWay] and [ManyToMany], the parameter token identifies the
// operation: a new bson.ObjectID for each operation, and the same one for each retry. If
// the documents store plain ids instead of Links ("bare ids"), token is
// bson.NilObjectID.
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
