package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExtractSpec says what becomes of the elements: one of Key and ID, and one of Refs and Parent, must be given. Key, Parent,
// Order and Mark are names, not dotted paths. No element may have a field named as one of the last three, or _id, beside.
type ExtractSpec[OK, CK any] struct {
	// Key is the field of an element that becomes the document's _id, and is moved there. It must be unique over all owners.
	Key string

	// ID makes the _id of an element that has none, from the owner's _id, the element's position and the element. It must
	// give the same for the same, and no id twice. An element that changes its position then changes its document.
	ID func(owner OK, position int, element bson.Raw) (CK, error)

	Refs   string // the path of the owners that lists the ids of the documents; a single id for a subdocument
	Parent string // the field of the documents that holds the owner's _id

	// Order is the field of the documents that keeps an element's position, from 0 on. "" keeps none: where Refs doesn't
	// either, the order of the elements is lost, and nothing reports it.
	Order string

	Mark      string // the field of the documents that marks a copy until Drop; "" means "extracted"
	Overwrite bool   // begin over what Refs holds already; see ErrPresent
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// NewExtract moves embedded elements (post.comments, person.address) into documents of their own, on a live collection. The
// owner then lists their ids, or each holds the owner's id.
//
// Copy goes through the owners: it stores a document for each element, and the ids in the owner. It marks each copy
// with the owner and a checksum, and writes only over unchanged copies of its own. Another document under an extracted id, or
// a copy that somebody changed, is reported and left alone; so is an owner with such a document, or with
// an element that can't be extracted. Then Copy deletes the copies whose element is
// gone. Drop goes through the owners, unsets the elements where the documents say the same, and removes the marks.
//
// A batch of n owners costs their read, the read of the documents there are, and at most three write commands: documents
// replaced, documents stored, owners updated; of as many documents as differ. Elements are unset only if they are still as
// they were read.
//
// The path of the elements is an array or a subdocument. The path, Refs, Parent and Order must be declared in the documents'
// types. NewExtract panics with a [*model.DeclarationError] when one of them doesn't exist, is nested in an array, or holds
// another type than the id that it shall hold, when a name is given twice, and when the spec gives none or both where it needs
// one of two. Indexes returns the index by which an owner's documents, or the owner of a document, are found.
//
// Source: unbounded comments, "when to reference" (seed 000).
func NewExtract[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec ExtractSpec[OK, CK]) *Migration {
	place := core.Place("NewExtract of " + owners.Name() + "." + path)
	f := migrate.Forms{Refs: spec.Refs, Parent: spec.Parent, Order: spec.Order, Key: spec.Key}
	x := migrate.NewExtraction(place, newEmbedding(place, owners, path, children, f), spec.ID != nil, spec.Mark, spec.State, spec.Overwrite)
	x.IDOf = func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error) {
		if spec.ID == nil {
			var id CK
			v, err := x.KeyIn(element, &id)
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
	return newMigration(x.Indexes, x.Relations, x.Footprints, x.Migration())
}

// newEmbedding declares what NewExtract and NewAbsorb have in common.
func newEmbedding[O, OK, C, CK any](place core.Place, owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], f migrate.Forms) migrate.Embedding {
	return migrate.DeclareEmbedding(place, owners.Docs(), path, children.Docs(), f,
		func() core.Field { return core.NewReader[CK](owners.Docs(), f.Refs).Field() },
		func() core.Field { return core.NewReader[OK](children.Docs(), f.Parent).Field() })
}
