package relate

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// AbsorbSpec says how [NewAbsorb] finds an owner's documents. Set either Refs or Parent.
// Key, Parent and Order are names without dots.
type AbsorbSpec struct {
	Refs   string // path in the owners that lists the documents' ids, or is one id
	Parent string // field of the documents with the owner's _id; it isn't embedded

	// Order is the field that sorts an owner's documents; it isn't embedded. "" means the
	// order of Refs, or of _id.
	Order string

	Key       string // first field of an element, for the document's _id; "" means "_id"
	Overwrite bool   // start although something is embedded already; see ErrPresent
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewAbsorb declares the [Migration] that moves documents into their owners, as an
// embedded array or subdocument: the reverse of [NewExtract].
//
// Copy embeds each owner's documents in order. It reports owners that would exceed
// 16 MiB, and ids without a document.
//
// Drop unsets each list that agrees with the embedded elements. Then it deletes documents
// that are embedded unchanged and that no owner lists. With Parent, it deletes the
// documents of each owner that embeds them unchanged. A document that changed since it
// was read stays.
//
// NewAbsorb panics with a [*model.DeclarationError] on an invalid path or spec, such as
// Refs together with Order.
//
// Cost: see [Migration.Copy]; it reads the whole owners.
//
// Source: "when to embed" (seeds 000, 004).
func NewAbsorb[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec AbsorbSpec) *Migration {
	place := core.Place("NewAbsorb of " + owners.Name() + "." + path)
	spec.Key = cmp.Or(spec.Key, "_id")
	if spec.Refs != "" && spec.Order != "" {
		place.Fail("Refs and Order are both given", "leave Order out: the list of ids has an order already")
	}
	e := newEmbedding(place, owners, path, children, migrate.Forms{Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key})
	return newMigration(e.AbsorbIndexes, e.Relations, e.Footprints, e.Absorption(place, spec.State, spec.Overwrite))
}
