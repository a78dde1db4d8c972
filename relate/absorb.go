package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Absorb moves documents into the owners that they belong to, as an embedded array or subdocument, on a live collection:
// the way back of [Extract]. Which they are, the owner's list of ids says, or the owner's id in each. Make it with
// [NewAbsorb]; it is a [Migration].
//
// Copy goes through the owners and stores the documents in each, in the order of the ids or of the Order field. An owner that
// would be larger than 16 MiB is reported and not written at all; an id that leads nowhere is reported, and the others are
// copied.
//
// Drop, where the owner lists ids, unsets the lists that agree, and then goes through the documents and deletes those that
// an owner embeds as they are, and none refers to any more; several owners may have referred to one. Where the documents
// hold the owner, it deletes those whose owner embeds them as they are. A document is deleted only if it is still as it was
// read.
//
// A batch of n owners costs their read, whole, the read of their documents, and one update command of as many documents as
// differ; deleting costs one command for each batch.
//
// Source: "when to embed", person and addresses (seeds 000, 004).
type Absorb[O, OK, C, CK any] struct {
	Migration
	in embedding
}

// AbsorbSpec says where the documents are: one of Refs and Parent must be given. Key, Parent and Order are names, not
// dotted paths.
type AbsorbSpec struct {
	Refs   string // the path of the owners that lists the ids of the documents; a single id for a subdocument
	Parent string // the field of the documents that holds the owner's _id; it is not embedded

	// Order is the field of the documents by which they are put in order; it is not embedded. "" means the order of the
	// ids in Refs, or of _id.
	Order string

	Key       string // the field of an element that keeps the document's _id, as its first field; "" means "_id"
	Overwrite bool   // begin over what is embedded already; see ErrPresent
	BatchSize int    // owners of a batch; 0 means 500
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// NewAbsorb declares both forms: the path of the owners' documents that shall embed, an array or a subdocument, and the
// documents. It panics as [NewExtract] does, and when both Refs and Order are given.
func NewAbsorb[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec AbsorbSpec) *Absorb[O, OK, C, CK] {
	place := "NewAbsorb of " + owners.Name() + "." + path
	if spec.Key == "" {
		spec.Key = "_id"
	}
	spec.checkOrder(place)
	e := newEmbedding(place, owners, path, children, forms{spec.Refs, spec.Parent, spec.Order, spec.Key})
	return &Absorb[O, OK, C, CK]{e.absorption(place, spec), e}
}

// Indexes returns the indexes by which an owner's documents, or the owners of a document, are found.
func (a *Absorb[O, OK, C, CK]) Indexes() []model.Index { return a.in.absorbIndexes() }

// Relations returns the relation, for diagrams, as the references store it.
func (a *Absorb[O, OK, C, CK]) Relations() []model.Relation { return a.in.relations() }

func (spec AbsorbSpec) checkOrder(place string) {
	if spec.Refs != "" && spec.Order != "" {
		panic(&model.DeclarationError{Problem: "both Refs and Order are given", Place: place, Remedy: "the ids have an order of their own: leave Order out"})
	}
}

// absorption completes the declaration, and is the migration.
func (e *embedding) absorption(place string, spec AbsorbSpec) Migration {
	checkFieldNames(place, spec.Key, spec.Parent, spec.Order)
	checkMigration(place, spec.BatchSize, false, "")
	e.size = spec.BatchSize
	name := "absorb: " + e.docs + " > " + e.owners + "." + e.path
	e.state = newState(spec.State, name).over(e.owners, e.holdsAt(e.path), spec.Overwrite)
	return e.absorbMigration(name)
}

func (e embedding) absorbMigration(name string) Migration {
	drop := []passStage{{collection: e.owners, projection: fieldsProjection(e.path), filter: exists(e.path, true), size: e.size, plan: e.dropDocs}}
	if e.refs != "" {
		drop = []passStage{
			{collection: e.owners, projection: fieldsProjection(e.path, e.refs), filter: exists(e.refs, true), size: e.size, plan: e.dropRefs},
			{collection: e.docs, size: e.size, plan: e.dropUnreferred},
		}
	}
	return Migration{
		state: e.state,
		copy: func() Pass {
			return Pass{Name: "copy " + name, state: e.state, stages: []passStage{
				{collection: e.owners, filter: e.absorbing(), size: e.size, plan: e.copyDocs},
			}}
		},
		drop:   func() Pass { return Pass{Name: "drop " + name, state: e.state, drops: true, stages: drop} },
		verify: func() model.Aggregate[Mismatch] { return e.verify(false) },
	}
}

func (e embedding) absorbIndexes() []model.Index {
	out := e.indexes()
	if e.refs != "" {
		x := model.NewIndex(e.owners, bson.D{{Key: e.path + "." + e.key, Value: 1}})
		x.Why = "the documents of " + e.owners + " that embed a document of " + e.docs
		out = append(out, x)
	}
	return out
}

// absorbing are the owners that may have documents.
func (e embedding) absorbing() bson.D {
	if e.refs == "" {
		return nil
	}
	return bson.D{{Key: "$or", Value: bson.A{exists(e.refs, true), exists(e.path, true)}}}
}
