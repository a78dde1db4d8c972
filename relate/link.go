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
// operation
//
//  1. stores the link on the other side, with the next version and the operation's token,
//  2. changes the deciding document, if that still has the version that was read.
//
// When the operation returns nil, both sides agree, also after a crash and a retry with
// other operations in between. A crash between the steps leaves a half-link. A retry with
// the same token finishes the operation. The repairs of Checks finish it too, or remove
// the half-link if another operation has changed the deciding document.
//
// The methods of [TwoWay] and [ManyToMany] take op, the operation's token: a new
// bson.ObjectID for each operation, and the same one for each retry. If the documents
// store plain ids instead of Links ("bare ids"), op is bson.NilObjectID.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`
	Op bson.ObjectID `bson:"op"` // its timestamp lets checks skip recent operations

	// Ended says that the reference was removed, if the Link is a single reference, not a
	// list's element. The document keeps the Link.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link refers to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// isLink reports whether a field has the type Link[K].
func isLink[K any](f core.Field) bool { return !f.Open && f.Type == reflect.TypeFor[Link[K]]() }
