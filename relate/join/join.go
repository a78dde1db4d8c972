// Package join loads the documents that documents in memory refer to: see [Join] and [Then].
package join

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Join loads the children of many parents. A parent contains a child's _id (logmsg.host),
// a list of _ids (product.parts), or a list of documents with _ids
// (portfolio.holdings.stockId). [Join.Load] reads a shared child only once.
//
// Sources: "6 Rules of Thumb for MongoDB Schema Design", parts 1 and 3; "NoSQL Data
// Modeling Techniques", §3.
type Join[P, PK, C any, CK comparable] struct {
	inside

	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *core.Reader[CK]
	path     string
	spec     Spec
	in       untypedJoin
	oneType  bool // CK isn't an interface
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

// Spec says what a [Join] loads. The zero value loads all children, as whole
// documents.
type Spec struct {
	// Filter selects children. Excluded children don't count as missing.
	Filter bson.D

	Sort  bson.D // sorts a parent's children; nil keeps the order of the parent's ids
	Limit int64  // maximum children per parent; 0 means all

	Fields bool // if true, only fields of the children's Go type are read
	Strict bool // if true, a missing child gives [model.ErrNotFound]

	ChunkIDs   int // maximum ids per command; 0 means 10,000
	ChunkBytes int // maximum bytes of ids per command; 0 means 4 MiB
	Batch      int // parents per batch of Join.Each; 0 means 1,000
	Parallel   int // commands at the same time; 0 means 1. In a session: always 1

	Options model.ReadOptions // options of each command
}

// Joined is a parent with its children, in the order of the parent's ids, or of
// [Spec].Sort. If the parent contains an id twice, the child appears twice. [Then]
// replaces each child by the next [relate.Loader]'s result.
type Joined[P, C any, CK comparable] struct {
	Parent   P    `bson:"parent"`
	Children []C  `bson:"children"`
	Missing  []CK `bson:"missing"` // ids without a document, in stored order, each once
}

// New declares that the parents' field at path contains ids of children. An invalid
// path or spec panics with a [*model.DeclarationError].
func New[P, PK, C any, CK comparable](
	parents *model.Collection[P, PK], path string, children *model.Collection[C, CK], spec Spec,
) *Join[P, PK, C, CK] {
	j := &Join[P, PK, C, CK]{parents: parents, children: children, path: path, spec: spec}
	j.oneType = reflect.TypeFor[CK]().Kind() != reflect.Interface
	children.Docs().MustField("_id")
	j.ids = core.NewReader[CK](parents.Docs(), path)
	j.in = untypedJoin{
		IDs: j.ids.Field(), Children: children.Name(), Filter: spec.Filter, Sort: spec.Sort, Limit: spec.Limit,
		ChunkIDs: spec.ChunkIDs, ChunkBytes: spec.ChunkBytes, Batch: spec.Batch, Parallel: spec.Parallel,
	}
	j.in.completeDeclaration(parents.Name(), children.Docs())
	j.inside = core.NewInner(idref.NewRef(parents.Name(), j.ids.Field(), children.Name()))
	return j
}
