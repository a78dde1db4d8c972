package migrate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// AbsorbSpec says which children [NewAbsorb] embeds in an owner. Embedded children are
// called elements. Set either Refs or Parent.
type AbsorbSpec struct {
	Refs   string // path in an owner, for a child's _id or a list of _ids
	Parent string // field in a child, for the owner's _id; elements omit the field

	// Order is the field that sorts an owner's children; "" means _id. Elements omit the
	// field. Order needs Parent.
	Order string

	Key       string // field in an element, for the child's _id; "" means "_id"
	Overwrite bool   // replace data that is already embedded: see [ErrPresent]
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewAbsorb declares the [Migration] that moves documents (children) into their owners,
// as an embedded array or subdocument at path.
//
// [Migration.Copy] reports missing children, and owners that would exceed 16 MiB.
//
// If an owner embeds all its children unchanged, [Migration.Drop] deletes the children.
// If AbsorbSpec.Refs is set, Drop also unsets that path in owners. A child stays while
// another owner has the child's id.
//
// Cost: see [Migration.Copy]. Copy reads whole owners.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design"; texts on Azure Cosmos DB.
func NewAbsorb[O, OK, C, CK any](
	owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec AbsorbSpec,
) *Migration {
	place := core.Place("migrate.NewAbsorb of " + owners.Name() + "." + path)
	spec.Key = cmp.Or(spec.Key, "_id")
	if spec.Refs != "" && spec.Order != "" {
		place.Fail("Refs and Order are both given", "leave Order out: the list of ids has an order already")
	}
	e := newEmbedding(place, owners, path, children, embeddedForms{
		Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key,
	})
	return newMigration(e.listAbsorbIndexes, e.listRelations, e.listFootprints,
		e.declareAbsorption(place, spec.State, spec.Overwrite), owners.Docs(), children.Docs())
}
