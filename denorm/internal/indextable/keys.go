package indextable

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Keyed names the entries' collection if their _ids are the values.
func (t *Table) Keyed() []string {
	if !t.unique {
		return nil
	}
	return []string{t.entries}
}

// Keys says how entries with an old _id are joined to the tenant's: the tenant's entry of
// the same document was written later. The _ids of other entries contain the documents' _ids.
func (t *Table) Keys() []model.KeyedDocs {
	if !t.unique {
		return []model.KeyedDocs{{Collection: t.entries, From: []*core.Docs{t.docs}}}
	}
	return []model.KeyedDocs{{Collection: t.entries, Join: func(old, now bson.Raw) (bson.D, bool) {
		return nil, old.Lookup("id").Equal(now.Lookup("id"))
	}}}
}

// Keys says for all tables how entries with an old _id are joined to the tenant's.
func (ts Tables) Keys() (out []model.KeyedDocs) {
	for _, t := range ts {
		out = append(out, t.Keys()...)
	}
	return out
}

// keyed marks a write to the entries of a unique table, whose _ids are the values.
func (t *Table) keyed(w model.Write) model.Write {
	w.Keyed = t.unique
	return w
}
