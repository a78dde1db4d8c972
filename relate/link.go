package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link is a reference in a relation that both sides store. A version makes concurrent
// operations safe. The zero Link refers to nothing.
//
//	Tasks []relate.Link[string] `bson:"tasks,omitempty"`
//	Owner relate.Link[string]   `bson:"owner"`
//
// # Tokens
//
// A token identifies an operation. For each operation, pass a new bson.ObjectID. For a
// retry, pass the same token. If the documents store plain _ids (bare ids) instead of
// Links, pass bson.NilObjectID.
//
// # Consistency
//
// A crash can leave a half-link, which only one side stores. A retry with the same token,
// or a repair of Checks, finishes the operation or removes the half-link.
//
// A document that is deleted and inserted again begins with version 0. If an operation
// that read the deleted document is still running, it can leave a half-link of the new
// document.
//
// If the sides differ, the item of a [TwoWay] decides. In a [ManyToMany], the left
// document decides.
type Link[K any] struct {
	ID K             `bson:"id"`
	V  int64         `bson:"v"`  // version of the link
	Op bson.ObjectID `bson:"op"` // token of the last operation

	// Ended marks a single (non-list) reference as removed.
	Ended bool `bson:"ended,omitempty"`
}

// Holds reports whether the link refers to a document.
func (l Link[K]) Holds() bool { return l.V > 0 && !l.Ended }

// isLink reports whether a field has the type Link[K].
func isLink[K any](f core.Field) bool { return !f.Open && f.Type == reflect.TypeFor[Link[K]]() }
