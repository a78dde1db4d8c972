package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extract moves embedded elements (post.comments, person.address) into documents of their own, on a live collection. The
// owner then lists their ids, or each holds the owner's id. Make it with [NewExtract]; it is a [Migration].
//
// Copy goes through the owners: it stores a document for each element, and the ids in the owner. It marks what it stores
// with the owner and a checksum, and writes only over its own copies: a document that is there under an extracted id with
// other content is reported and left alone, and so is a copy that somebody changed. An owner with such a document, or with
// an element that can't be extracted, is left as it is. Then it goes through its copies and deletes those whose element is
// gone. Drop goes through the owners, unsets the elements where the documents say the same, and takes the marks away.
//
// A batch of n owners costs their read, the read of the documents there are, and at most three write commands: documents
// replaced, documents stored, owners updated; of as many documents as differ. Elements are unset only if they are still as
// they were read.
//
// Source: unbounded comments, "when to reference" (seed 000).
type Extract[O, OK, C, CK any] struct {
	Migration
	in *extraction
}

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
	BatchSize int    // owners of a batch; 0 means 500
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// NewExtract declares both forms: the elements at a path of the owners' documents, an array or a subdocument, and the
// documents that they become. The path, Refs, Parent and Order must be declared in the documents' types. It panics with a
// [*model.DeclarationError] when one of them doesn't exist, is nested in an array, or holds another type than the id that it
// shall hold, when a name is given twice, and when the spec has none or both of what it needs one of.
func NewExtract[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec ExtractSpec[OK, CK]) *Extract[O, OK, C, CK] {
	x := &extraction{place: "NewExtract of " + owners.Name() + "." + path}
	f := forms{spec.Refs, spec.Parent, spec.Order, spec.Key}
	x.embedding = newEmbedding(x.place, owners, path, children, f)
	x.size = spec.BatchSize
	x.declare(f, spec.ID != nil, spec.Mark, spec.State, spec.Overwrite)
	x.idOf = func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error) {
		if spec.ID == nil {
			var id CK
			v, err := x.keyIn(element, &id)
			if err == nil {
				err = children.CheckID(x.key, id)
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
		v, err := encodeID(children, x.docs, "_id", id)
		return rawOf(v), err
	}
	return &Extract[O, OK, C, CK]{x.migration(), x}
}

// Indexes returns the index by which an owner's documents, or the owner of a document, are found.
func (x *Extract[O, OK, C, CK]) Indexes() []model.Index { return x.in.indexes() }

// Relations returns the relation, for diagrams, as the references store it.
func (x *Extract[O, OK, C, CK]) Relations() []model.Relation { return x.in.relations() }

// forms are the paths of the referenced form.
type forms struct{ refs, parent, order, key string }

// newEmbedding checks the paths that Extract and Absorb have in common.
func newEmbedding[O, OK, C, CK any](place string, owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], f forms) embedding {
	e := embedding{owners: owners.Name(), docs: children.Name(), path: path, key: f.key, refs: f.refs, parent: f.parent, order: f.order}
	model.MustField(owners, "_id")
	model.MustField(children, "_id")
	elements := model.MustField(owners, path)
	e.checkPath(place, elements)
	if f.refs != "" {
		e.checkRefs(place, elements, model.NewReader[CK](owners, f.refs).Field())
	} else {
		single(place, model.NewReader[OK](children, f.parent).Field())
	}
	if f.order != "" {
		single(place, model.MustField(children, f.order))
	}
	return e
}
