package relate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

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
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// NewAbsorb moves documents into the owners that they belong to, as an embedded array or subdocument, on a live collection:
// the way back of [NewExtract]. The owner lists the documents' ids, or each document holds the owner's id.
//
// Copy goes through the owners and stores the documents in each, in the order of the ids or of the Order field. An owner that
// would be larger than 16 MiB is reported and not written. An id that leads nowhere is reported, and the other documents are
// copied.
//
// If the owners list ids, Drop unsets the lists that agree, and then deletes each document that an owner embeds unchanged and
// no owner refers to any more. If the documents hold the owner, Drop deletes each document whose owner embeds it unchanged.
// A document is deleted only if it is still as it was read.
//
// A batch of n owners costs their read, whole, the read of their documents, and one update command of as many documents as
// differ; deleting costs one command for each batch.
//
// NewAbsorb panics as [NewExtract] does, and when both Refs and Order are given. Indexes returns the indexes by which an owner's
// documents, or the owners of a document, are found.
//
// Source: "when to embed", person and addresses (seeds 000, 004).
func NewAbsorb[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec AbsorbSpec) *Migration {
	place := core.Place("NewAbsorb of " + owners.Name() + "." + path)
	spec.Key = cmp.Or(spec.Key, "_id")
	if spec.Refs != "" && spec.Order != "" {
		place.Fail("Refs and Order are both given", "leave Order out: the list of ids has an order already")
	}
	e := newEmbedding(place, owners, path, children, migrate.Forms{Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key})
	return newMigration(e.AbsorbIndexes, e.Relations, e.Footprints, e.Absorption(place, spec.State, spec.Overwrite))
}
