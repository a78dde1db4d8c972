package migrate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExtractSpec says how [NewExtract] turns an owner's embedded elements into new
// documents. Set either Key or ID, for the new document's _id. Set either Refs (in the
// owner) or Parent (in the new document).
//
// Elements must not have the fields that Parent, Order and Mark name. Unless Key is
// "_id", elements must not have an _id.
type ExtractSpec[OK, CK any] struct {
	// Key is the element field that becomes _id. It must be unique across owners.
	Key string

	// ID returns a unique _id, which depends only on the arguments.
	ID func(owner OK, position int, element bson.Raw) (CK, error)

	Refs   string // path in the owner for the new documents' _ids
	Parent string // field in the new document for the owner's _id

	// Order is the optional field for an element's position, from 0.
	Order string

	Mark      string // field that marks new documents until Drop; "" means "extracted"
	Overwrite bool   // replace existing ids at Refs: see [ErrPresent]
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewExtract declares the [Migration] that moves embedded elements (post.comments) into
// documents of their own. An invalid path or spec panics with a
// [*model.DeclarationError].
//
// [Migration.Copy] stores each element as a new document with a mark (ExtractSpec.Mark).
// If an element disappears, Copy deletes the new document. If another program changed the
// new document, or its _id is taken, Copy skips and reports the owner. [Migration.Drop]
// unsets the elements and the marks.
//
// Copy stores the elements as they are: a [model.Scope] doesn't add its Insert and Set
// fields to the new documents.
//
// Cost: see [Migration.Copy]. A batch sends at most three write commands.
//
// Source: texts on Azure Cosmos DB.
func NewExtract[O, OK, C, CK any](
	owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec ExtractSpec[OK, CK],
) *Migration {
	place := core.Place("migrate.NewExtract of " + owners.Name() + "." + path)
	f := embeddedForms{Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key}
	x := newExtraction(place, newEmbedding(place, owners, path, children, f), spec.ID != nil, spec.Mark,
		spec.State, spec.Overwrite)
	x.IDOf = func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error) {
		if spec.ID == nil {
			var id CK
			v, err := x.decodeKey(element, &id)
			if err == nil {
				err = children.Docs().CheckID(x.Key, id)
			}
			return v, err
		}
		var ok OK
		if err := owner.Unmarshal(&ok); err != nil {
			return owner, err
		}
		id, err := spec.ID(ok, position, append(bson.Raw(nil), element.Value...))
		if err != nil {
			return owner, err
		}
		return children.Docs().RawID("_id", id)
	}
	return newMigration(x.listIndexes, x.listRelations, x.listFootprints, x.makeMigration(),
		owners.Docs(), children.Docs())
}

// newEmbedding declares the common part of NewExtract and NewAbsorb.
func newEmbedding[O, OK, C, CK any](
	place core.Place, owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], f embeddedForms,
) embedding {
	return declareEmbedding(place, owners.Docs(), path, children.Docs(), f,
		func() core.Field { return core.NewReader[CK](owners.Docs(), f.Refs).Field() },
		func() core.Field { return core.NewReader[OK](children.Docs(), f.Parent).Field() })
}
