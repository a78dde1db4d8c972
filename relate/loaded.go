package relate

import (
	"context"

	"github.com/docmodel/docmodel/model"
)

// Loaded is a document with the documents that refer to it: see package parentref.
type Loaded[P, C any] struct {
	Parent   P   `bson:"parent"`
	Children []C `bson:"children"`
}

// Linked is a document (Doc) with the document that it refers to (To). For example, Doc
// is a link of a join collection, and To is the document on one side. If the document on
// that side is missing, To is nil.
type Linked[D, T any] struct {
	Doc D  `bson:"doc"`
	To  *T `bson:"to"`
}

// Count is the number of documents or links that belong to an id.
type Count[K any] struct {
	ID K     `bson:"_id"`
	N  int64 `bson:"n"`
}

// A Loader loads what belongs to each of many documents. A join.Join is a Loader. join.Then and
// parentref.ParentRef.Loader return one. A Loader's method Load returns one entry for each
// element of parents, in the same order.
type Loader[P, R any] interface {
	Load(ctx context.Context, db model.DB, parents []P) ([]R, error)
}
