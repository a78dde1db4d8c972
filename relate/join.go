package relate

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/joins"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Join loads, for many parents at once, the documents whose ids they hold: the join in the application. The ids may be a
// list (product.parts), inside the elements of a list (portfolio.holdings.stockId), or single (logmsg.host). Make it with
// [NewJoin].
//
// Each id is fetched once, by $in over _id in chunks that fit a command. Each parent's children are put in the order of its
// ids, duplicates kept. Ids that lead nowhere are reported beside them.
//
// Source: "application-level joins", "6 Rules of Thumb for MongoDB Schema Design", parts 1 and 3 (seed 004); seed 002 §3.
type Join[P, PK, C any, CK comparable] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *core.Reader[CK]
	path     string
	spec     JoinSpec
	in       joins.Join
	oneType  bool // CK is no interface
}

// JoinSpec says what a [Join] loads, and how. The zero value loads every child whole.
type JoinSpec struct {
	Filter bson.D // which children; ANDed to the ids. Children that it leaves out are not missing, only not there
	Sort   bson.D // the order of each parent's children, by fields of theirs; nil means the stored order of the ids
	Limit  int64  // how many children each parent keeps at most, after Sort; 0 means all

	// Fields asks the server only for the fields that C stores. Declare C with few fields, over the same collection.
	Fields bool

	Strict bool // an id that leads nowhere is an error, [model.ErrNotFound]

	ChunkIDs   int // how many ids one command holds at most; 0 means 10,000
	ChunkBytes int // how many bytes of ids one command holds at most; 0 means 4 MiB
	Batch      int // how many parents a stream joins at once; 0 means 1,000
	Parallel   int // how many chunks are fetched at once; 0 means 1. Inside a session always 1: a session is sequential

	Options model.ReadOptions // of every query that is sent, and of Pipeline
}

// Joined is a parent with its children, or with the results of a further level for each child.
type Joined[P, C any, CK comparable] struct {
	Parent   P    `bson:"parent"`
	Children []C  `bson:"children"`
	Missing  []CK `bson:"missing"` // ids that lead nowhere, in stored order, each once
}

// NewJoin declares that the path of the parents' documents holds ids of children. It panics with a
// [*model.DeclarationError] when the path doesn't exist or holds another type than the children's _id, and when a number
// in the spec is negative.
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
