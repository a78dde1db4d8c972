package relate

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Join loads, for many parents at once, the documents whose ids they hold: the join in the application. The ids may be a
// list (product.parts), inside the elements of a list (portfolio.holdings.stockId), or single (logmsg.host). Make it with
// [NewJoin].
//
// Each id is fetched once, by $in over _id in chunks that fit a command. What comes back is put in the order in which each
// parent stores its ids, duplicates kept; ids that lead nowhere are reported beside the result.
//
// Source: "application-level joins", "6 Rules of Thumb for MongoDB Schema Design", parts 1 and 3 (seed 004); seed 002 §3.
type Join[P, PK, C any, CK comparable] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	ids      *model.Reader[P, CK]
	path     string
	spec     JoinSpec
	order    *order.Sort
}

// JoinSpec says what a [Join] loads, and how. The zero value loads every child whole.
type JoinSpec struct {
	Filter bson.D // which children; ANDed to the ids. Children that it leaves out are not missing, only not there
	Sort   bson.D // the order of each parent's children, by fields of theirs; nil means the stored order of the ids
	Limit  int    // how many children each parent keeps at most, after Sort; 0 means all

	// Fields asks the server only for the fields that C stores. Declare C with few fields, over the same collection.
	Fields bool

	Strict bool // an id that leads nowhere is an error, a [*MissingError]

	ChunkIDs   int // how many ids one command holds at most; 0 means 10,000
	ChunkBytes int // how many bytes of ids one command holds at most; 0 means 4 MiB
	Batch      int // how many parents a stream joins at once; 0 means 1,000
	Parallel   int // how many chunks are fetched at once; 0 means 1. Inside a session always 1: a session is sequential

	Options model.ReadOptions // of every query that is sent, and of Pipeline
}

// Joined is a parent with what it refers to.
type Joined[P, C any, CK comparable] struct {
	Parent   P    `bson:"parent"`
	Children []C  `bson:"children"`
	Missing  []CK `bson:"missing"` // ids that lead nowhere, in stored order, each once
}

// MissingError says which ids of a strict join lead nowhere.
type MissingError struct {
	Collection string // of the children
	Path       string // where the parents hold the ids
	IDs        []any
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("docmodel: %d ids at %s lead to no document of %s: %s", len(e.IDs), e.Path, e.Collection, clipped(e.IDs))
}

func clipped(ids []any) string {
	const most = 5
	s := model.Shell(bson.A(ids[:min(len(ids), most)]))
	if len(ids) > most {
		s += " …"
	}
	return s
}

// NewJoin declares that the path of the parents' documents holds ids of children. It panics with a
// [*model.DeclarationError] when the path doesn't exist or holds another type than the children's _id, and when a number
// in the spec is negative. At most one spec may be given.
func NewJoin[P, PK, C any, CK comparable](parents *model.Collection[P, PK], path string, children *model.Collection[C, CK], spec ...JoinSpec) *Join[P, PK, C, CK] {
	j := &Join[P, PK, C, CK]{parents: parents, children: children, path: path}
	model.MustField(children, "_id")
	j.ids = model.NewReader[CK](parents, path)
	j.spec, j.order = declareJoin(parents.Name(), spec, func(path string) { model.MustField(children, path) })
	return j
}

// declareJoin is the checked spec of a join, and its order.
func declareJoin(parents string, spec []JoinSpec, field func(path string)) (s JoinSpec, _ *order.Sort) {
	place := "NewJoin of " + parents
	if len(spec) > 1 {
		panic(&model.DeclarationError{Problem: "more than one JoinSpec", Place: place, Remedy: "give one"})
	}
	if len(spec) == 1 {
		s = spec[0]
		s.Filter, s.Sort = slices.Clone(spec[0].Filter), slices.Clone(spec[0].Sort)
	}
	s.check(place)
	var sort bson.D
	for _, e := range s.Sort {
		field(e.Key)
		sort = append(sort, bson.E{Key: e.Key, Value: int32(direction.Of(e.Value))})
	}
	parsed, err := order.Parse(sort)
	if err != nil {
		panic(&model.DeclarationError{Problem: err.Error(), Place: place, Remedy: "sort by fields, each once"})
	}
	return s, parsed
}

func (s *JoinSpec) check(place string) {
	for _, n := range []struct {
		name  string
		value int
	}{{"Limit", s.Limit}, {"ChunkIDs", s.ChunkIDs}, {"ChunkBytes", s.ChunkBytes}, {"Batch", s.Batch}, {"Parallel", s.Parallel}} {
		if n.value < 0 {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("%s is %d", n.name, n.value), Place: place, Remedy: "use 0 for the default"})
		}
	}
	for _, e := range s.Sort {
		if direction.Of(e.Value) == 0 {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("Sort sorts %s by %s", e.Key, model.Shell(e.Value)), Place: place, Remedy: "sort by 1 or -1"})
		}
	}
	if s.ChunkIDs == 0 {
		s.ChunkIDs = 10_000
	}
	if s.ChunkBytes == 0 {
		s.ChunkBytes = 4 << 20
	}
	if s.Batch == 0 {
		s.Batch = 1_000
	}
	s.Parallel = max(s.Parallel, 1)
}
