package indextable

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Tables are tables of the same documents, at least one.
type Tables []*Table

// matchEntry returns the filter of an entry. An upsert makes the entry's fields of it.
func (t *Table) matchEntry(v, id bson.RawValue) bson.D {
	if t.unique {
		return bson.D{{Key: "_id", Value: mql.Eq(v)}, {Key: "id", Value: mql.Eq(id)}}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}}}}
}

// makeFields returns fields of an entry, the copied ones first. Copied fields are always
// set whole, as one document.
func (t *Table) makeFields(copies any, others ...bson.E) bson.D {
	if len(t.copies) == 0 {
		return others
	}
	return append(bson.D{{Key: "doc", Value: copies}}, others...)
}

// removeUnclaimed deletes an entry whose claims were removed before the document was
// written, unless another action has claimed it since.
func (t *Table) removeUnclaimed(v, id bson.RawValue) model.Write {
	return t.deleteOne(append(t.matchEntry(v, id), notSure, unclaimed))
}

// removeEntry deletes an entry that has exactly these claims.
func (t *Table) removeEntry(key bson.D, claims bson.E) model.Write {
	return t.deleteOne(append(key, claims))
}

func (t *Table) updateEntry(filter bson.D, update any) model.Write {
	return t.markKeyed(commands.UpdateIf(t.entries, filter, update))
}

func (t *Table) deleteOne(filter bson.D) model.Write {
	return t.markKeyed(commands.DeleteOne(t.entries, filter))
}

func (t *Table) upsertOne(filter bson.D, update any) model.Write {
	return t.markKeyed(commands.UpsertOne(t.entries, filter, update))
}
