package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link is one end of a relation that both sides store, with what makes it safe under races: the version that it was made
// at, and the operation that made it. Use it as the element of a list, or as a single reference:
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// The zero Link holds nothing.
//
// # Protocol
//
// One side of the relation decides: the item of a [TwoWay], the left document of a [ManyToMany]. An operation first
// stores the link on the other side, with the next version and the operation's token. It then compares and sets the
// deciding document, if that is still at the version that was read. When the operation returns nil, both sides agree,
// also when the operation is called again after a crash and other operations came in between.
//
// A process that dies half way leaves a link on the other side that the deciding document doesn't hold. A second call
// with the same token finishes the operation. So do the checks, unless another operation has changed the deciding document
// since: then they remove the link.
//
// The token, op, is a new bson.ObjectID for each operation, and the same when the operation is run again.
// Relations of bare ids keep no token; op is bson.NilObjectID there.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`
	Op bson.ObjectID `bson:"op"` // its time is the operation's, by which checks pass over young operations

	// Ended says that a single reference holds nothing any more. Its version goes on counting.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link leads to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// isLink reports whether a field holds versioned links to K.
func isLink[K any](f core.Field) bool { return !f.Open && f.Type == reflect.TypeFor[Link[K]]() }
