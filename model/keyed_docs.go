package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// KeyedDocs are the documents of a collection whose _ids carry the tenant, for
// [MoveKeys].
type KeyedDocs struct {
	Collection string

	// From are the collections whose _ids the documents' _ids contain. The documents' _ids
	// carry the tenant only if the _ids of one of these collections do. Nil means always.
	From []*core.Docs

	// Join returns the update that adds a document with an old _id to the tenant's
	// document with the same key. A nil update adds nothing. If ok is false, the documents
	// can't be joined. A nil Join joins only equal documents.
	Join func(old, now bson.Raw) (update bson.D, ok bool)

	// Token is a field with an ObjectID that is part of a unique index, or "". While a
	// document is stored under both _ids, one of the two has the token's complement.
	Token string
}

// WithKeys returns the parts of a technique that stores keyed documents: see
// [Write].Keyed.
func (p Parts) WithKeys(docs ...KeyedDocs) Parts {
	p.keys = slices.Clone(docs)
	return p
}

func (p Parts) keyed() []KeyedDocs { return p.keys }

// isKeyed reports whether the documents' _ids carry the tenant. all are keyed collections
// of the model.
func (k KeyedDocs) isKeyed(all map[string]bool) bool {
	return len(k.From) == 0 || slices.ContainsFunc(k.From, func(d *core.Docs) bool { return d.IsKeyed() || all[d.Name()] })
}
