package relate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// AbsorbSpec says how [NewAbsorb] finds the documents that it embeds in an owner. Set
// either Refs or Parent. Key, Parent and Order are names without dots.
type AbsorbSpec struct {
	Refs   string // path of the owners' field that contains one document id or a list
	Parent string // the documents' field with the owner's _id; elements don't have this field

	// Order is the field that sorts an owner's documents. It is left out of the elements.
	// "" means _id. Leave Order empty with AbsorbSpec.Refs: the owner's list of ids gives
	// the order.
	Order string

	Key       string // first field of an element, for the document's _id; "" means "_id"
	Overwrite bool   // replace what is embedded already; see [ErrPresent]
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewAbsorb declares the [Migration] that moves documents (children) into their owners,
// as an embedded array or subdocument at path.
//
// Copy reports ids without a child, and owners that would exceed 16 MiB.
//
// If an owner embeds all of its children unchanged, Drop deletes these children. With
// AbsorbSpec.Refs, Drop first unsets the owner's field with ids. A child stays if its id
// is in this field of another owner.
//
// Cost: see [Migration.Copy]. Copy reads the whole owners.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design"; texts on Azure Cosmos DB.
func NewAbsorb[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec AbsorbSpec) *Migration {
	place := core.Place("NewAbsorb of " + owners.Name() + "." + path)
	spec.Key = cmp.Or(spec.Key, "_id")
	if spec.Refs != "" && spec.Order != "" {
		place.Fail("Refs and Order are both given", "leave Order out: the list of ids has an order already")
	}
	e := newEmbedding(place, owners, path, children, migrate.Forms{Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key})
	return newMigration(e.AbsorbIndexes, e.Relations, e.Footprints, e.Absorption(place, spec.State, spec.Overwrite))
}
