package indextable

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ListKeyed returns the entries' collection if their _ids are the values.
func (t *Table) ListKeyed() []string {
	if !t.unique {
		return nil
	}
	return []string{t.entries}
}

// ListKeyedDocs says how entries with an old _id are joined to the tenant's entries: the
// tenant's entry of the same document was written later. The _ids of other entries
// contain the documents' _ids.
func (t *Table) ListKeyedDocs() []model.KeyedDocs {
	if !t.unique {
		return []model.KeyedDocs{{Collection: t.entries, From: []*core.Docs{t.docs}}}
	}
	return []model.KeyedDocs{{Collection: t.entries, Join: func(old, now bson.Raw) (bson.D, bool) {
		return nil, old.Lookup("id").Equal(now.Lookup("id"))
	}}}
}

// ListKeyedDocs returns ListKeyedDocs of all tables.
func (ts Tables) ListKeyedDocs() (out []model.KeyedDocs) {
	for _, t := range ts {
		out = append(out, t.ListKeyedDocs()...)
	}
	return out
}

// markKeyed marks a write of a unique table's entries, whose _ids are the values. Scopes
// then add the tenant to the _id.
func (t *Table) markKeyed(w model.Write) model.Write {
	w.Keyed = t.unique
	return w
}
