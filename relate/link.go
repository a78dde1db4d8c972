package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link is one end of a relation that both sides store. The Link's version makes races
// safe. The zero Link refers to nothing.
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// # Protocol
//
// One document decides whether a link exists: the item of a [TwoWay], or the left
// document of a [ManyToMany]. To add a link, an operation writes the deciding document
// last.
//
// A crash between the writes leaves a half-link, which only one side stores. A retry with
// the same token, or a repair of Checks, finishes the operation or removes the half-link.
//
// The parameter token identifies an operation. Pass a new bson.ObjectID for each
// operation, and the same token for a retry. If the documents store plain _ids (bare ids)
// instead of Links, pass bson.NilObjectID.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`  // version
	Op bson.ObjectID `bson:"op"` // token of the last operation

	// Ended marks a removed single reference. Lists don't use Ended.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link refers to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// isLink reports whether a field has the type Link[K].
func isLink[K any](f core.Field) bool { return !f.Open && f.Type == reflect.TypeFor[Link[K]]() }
