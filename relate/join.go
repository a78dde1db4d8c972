package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/joins"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Join loads the children of many parents. A parent has one id (logmsg.host), a list of
// ids (product.parts), or a list of elements with ids (portfolio.holdings.stockId). A
// Join fetches each child once, with $in on _id.
//
// Sources: "6 Rules of Thumb for MongoDB Schema Design", parts 1 and 3; "NoSQL Data
// Modeling Techniques", §3.
type Join[P, PK, C any, CK comparable] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *core.Reader[CK]
	path     string
	spec     JoinSpec
	in       joins.Join
	oneType  bool // CK isn't an interface
}

// JoinSpec says what a [Join] loads. The zero value loads every child whole.
type JoinSpec struct {
	Filter bson.D // ANDed to the ids. A child that Filter excludes isn't in Joined.Missing
	Sort   bson.D // of each parent's children; nil means the stored order of the ids
	Limit  int64  // children per parent, after Sort; 0 means all

	// Fields reads only the fields that the children's Go type declares. By default,
	// whole documents are read.
	Fields bool

	Strict bool // an id without a document is an error, [model.ErrNotFound]

	ChunkIDs   int // most ids in one command; 0 means 10,000
	ChunkBytes int // most bytes of ids in one command; 0 means 4 MiB
	Batch      int // parents that Join.Each joins at once; 0 means 1,000
	Parallel   int // chunks fetched at once; 0 means 1. Always 1 inside a session

	Options model.ReadOptions // of every query, and of Pipeline
}

// Joined is a parent with its children. Children is in the order of the parent's ids, or
// of [JoinSpec].Sort. An id that the parent contains twice gives its child twice. In a
// result of [Then], Children contains the results of the second loader.
type Joined[P, C any, CK comparable] struct {
	Parent   P    `bson:"parent"`
	Children []C  `bson:"children"`
	Missing  []CK `bson:"missing"` // ids without a document, in stored order, each once
}

// NewJoin declares that the parents' field at path contains ids of children. An invalid
// path or spec panics with a [*model.DeclarationError].
func NewJoin[P, PK, C any, CK comparable](parents *model.Collection[P, PK], path string, children *model.Collection[C, CK], spec JoinSpec) *Join[P, PK, C, CK] {
	j := &Join[P, PK, C, CK]{parents: parents, children: children, path: path, spec: spec}
	j.oneType = reflect.TypeFor[CK]().Kind() != reflect.Interface
	children.Docs().MustField("_id")
	j.ids = core.NewReader[CK](parents.Docs(), path)
	j.in = joins.Join{
		IDs: j.ids.Field(), Children: children.Name(), Filter: spec.Filter, Sort: spec.Sort, Limit: spec.Limit,
		ChunkIDs: spec.ChunkIDs, ChunkBytes: spec.ChunkBytes, Batch: spec.Batch, Parallel: spec.Parallel,
	}
	j.in.Declare(parents.Name(), children.Docs())
	return j
}

func (j *Join[P, PK, C, CK]) reference() idref.Ref {
	return idref.NewRef(j.parents.Name(), j.ids.Field(), j.children.Name())
}
