package relate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Invert moves a one-to-many relation from one side to the other, on a live collection: from a list of child ids in the
// parent (publisher.books) to a parent's id in each child (book.pub-id), or back. Make it with [NewInvert]; [Invert.ToRefs]
// and [Invert.ToLists] are the two migrations.
//
// A child can hold one parent only: a child that several parents list is copied by none (see [InvertSpec].Shared), and
// one that a parent lists twice is held once. Both are reported, and the list of a parent that the child doesn't hold, or
// that holds it twice, is not dropped until that is resolved.
//
// Source: "where do you store the relationship", publisher and books (seed 000).
type Invert[P, PK, C, CK any] struct{ in *inversion }

// inversion is what of an [Invert] doesn't depend on its types.
type inversion struct {
	parents, children string
	list, ref         string
	spec              InvertSpec
}

// InvertSpec says what an [Invert] needs beside its paths. The zero value is valid.
type InvertSpec struct {
	// Order is the path of the children's documents that keeps a child's place in its parent's list, from 0 on, and by
	// which the list is put in order when it is made. "" keeps no place: lists are made in the order of _id.
	Order string

	// Shared says what becomes of a child that several parents list. By default it is left as it is and reported.
	Shared Shared

	Overwrite bool   // begin over what the new form holds already; see ErrPresent
	BatchSize int    // documents of a batch; 0 means 500
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// Shared is a policy for a child that several parents list.
type Shared uint8

const (
	// RefuseShared leaves the child without a parent, and reports it.
	RefuseShared Shared = iota
	// FirstWins gives the child to the parent whose _id sorts first. The other lists count as agreeing, and are dropped.
	FirstWins
)

// NewInvert declares both forms: the list of ids in the parents' documents and the reference in the children's. Both paths
// must be declared in the documents' types. It panics with a [*model.DeclarationError] when a path doesn't exist, is not a
// list of bare ids (the list), crosses an array (the others), or holds another type than the other side's _id. At most one
// spec may be given.
func NewInvert[P, PK, C, CK any](parents *model.Collection[P, PK], list string, children *model.Collection[C, CK], ref string, spec ...InvertSpec) *Invert[P, PK, C, CK] {
	v := &inversion{parents: parents.Name(), children: children.Name(), list: list, ref: ref}
	model.MustField(parents, "_id")
	v.checkList(model.NewReader[CK](parents, list).Field())
	model.CheckArray(parents, list)
	v.declare(model.NewReader[PK](children, ref).Field(), spec, func(path string) model.Field { return model.MustField(children, path) })
	return &Invert[P, PK, C, CK]{v}
}

func (v *inversion) placeOf() string {
	return "NewInvert of " + v.parents + "." + v.list + " and " + v.children + "." + v.ref
}

func (v *inversion) checkList(ids model.Field) {
	if !ids.Open && ids.Array != "" && ids.Array != v.list {
		panic(&model.DeclarationError{Problem: "the list holds documents, not bare ids", Place: v.placeOf(), Remedy: "fields beside the ids would be lost: move them first"})
	}
}

func (v *inversion) declare(ref model.Field, spec []InvertSpec, field func(path string) model.Field) {
	place := v.placeOf()
	single(place, ref)
	if len(spec) > 1 {
		panic(&model.DeclarationError{Problem: "more than one InvertSpec", Place: place, Remedy: "give one"})
	}
	if len(spec) == 1 {
		v.spec = spec[0]
	}
	if v.spec.Order != "" {
		single(place, field(v.spec.Order))
	}
	checkMigration(place, v.spec.BatchSize, v.spec.Shared > FirstWins, "Shared")
}

func checkMigration(place string, batch int, bad bool, field string) {
	if batch < 0 {
		panic(&model.DeclarationError{Problem: "BatchSize is negative", Place: place, Remedy: "use 0 for the default"})
	}
	if bad {
		panic(&model.DeclarationError{Problem: field + " is none of the policies", Place: place, Remedy: "use the constants of the package"})
	}
}

// SharedChild is a child that is listed more than once.
type SharedChild[PK, CK any] struct {
	Child   CK   `bson:"_id"`
	Parents []PK `bson:"parents"` // who lists it, in the order of their ids, once for each time
}

// Conflicts returns the children that several parents list, or one parent lists twice: what a single reference can't hold.
//
// Cost: one command that reads all parents and groups their ids.
func (v *Invert[P, PK, C, CK]) Conflicts() model.Aggregate[SharedChild[PK, CK]] {
	return model.AggregateAs[SharedChild[PK, CK]](model.NewCollection[bson.D, any](v.in.parents), v.in.conflicts())
}

func (v *inversion) conflicts() mongo.Pipeline {
	return matching(
		bson.D{},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$unwind", Value: "$" + v.list}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + v.list}, {Key: "parents", Value: mql.Op("$push", "$_id")}}}},
		bson.D{{Key: "$match", Value: exists("parents.1", true)}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	)
}

// Indexes returns the indexes that both directions are read by: on the list, and on the reference and the order.
func (v *Invert[P, PK, C, CK]) Indexes() []model.Index { return v.in.indexes() }

// Relations returns the relation, for diagrams, as the reference stores it.
func (v *Invert[P, PK, C, CK]) Relations() []model.Relation { return v.in.relations() }

func (v *inversion) indexes() []model.Index {
	list := model.NewIndex(v.parents, bson.D{{Key: v.list, Value: 1}})
	list.Why = "the documents of " + v.parents + " that list a document of " + v.children
	ref := model.NewIndex(v.children, append(bson.D{{Key: v.ref, Value: 1}}, v.order()...))
	ref.Why = "the " + v.children + " of a document of " + v.parents + ", in order"
	return []model.Index{list, ref}
}

func (v *inversion) relations() []model.Relation {
	return []model.Relation{{
		From: v.children, FromPath: v.ref, To: v.parents, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// order is the order of a parent's children, total.
func (v *inversion) order() bson.D {
	if v.spec.Order == "" {
		return bson.D{{Key: "_id", Value: 1}}
	}
	return bson.D{{Key: v.spec.Order, Value: 1}, {Key: "_id", Value: 1}}
}

// childrenOf reads the children of some parents, in order, by the key of the parent.
func (v *inversion) childrenOf(b *batchReader, parents []bson.Raw) (map[string][]bson.Raw, error) {
	docs, err := b.read(v.children, v.ref, idsOf(parents, "_id"), fieldsProjection(v.ref, v.spec.Order), v.order())
	out := map[string][]bson.Raw{}
	for _, d := range docs {
		k := bsonval.Key(valueAt(d, v.ref))
		out[k] = append(out[k], d)
	}
	return out, err
}

// pass is what all passes have in common.
func (v *inversion) pass(name string, state migrationState, drops bool, s passStage) Pass {
	s.size = v.spec.BatchSize
	return Pass{Name: name, state: state, drops: drops, stages: []passStage{s}}
}
