package indextable

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Tables are tables of the same documents. There is at least one.
type Tables []*Table

// key is the filter of an entry.
func (t *Table) key(v, id bson.RawValue) bson.D {
	if t.unique {
		return bson.D{{Key: "_id", Value: mql.Eq(v)}, {Key: "id", Value: mql.Eq(id)}}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}}}}
}

// fields are those of an entry, after the copied ones.
func (t *Table) fields(copies any, others ...bson.E) bson.D {
	if len(t.copies) == 0 {
		return others
	}
	return append(bson.D{{Key: "doc", Value: copies}}, others...)
}

// removeLeft deletes an entry whose claims were taken off before the document was written,
// unless another action claims it since.
func (t *Table) removeLeft(v, id bson.RawValue) model.Write {
	return t.deleteOne(append(t.key(v, id), notSure, unclaimed))
}

// remove deletes an entry that holds just these claims.
func (t *Table) remove(key bson.D, claims bson.E) model.Write {
	return t.deleteOne(append(key, claims))
}

func (t *Table) update(filter bson.D, update any) model.Write {
	return t.keyed(commands.UpdateIf(t.entries, filter, update))
}

func (t *Table) deleteOne(filter bson.D) model.Write {
	return t.keyed(commands.DeleteOne(t.entries, filter))
}

func (t *Table) upsertOne(filter bson.D, update any) model.Write {
	return t.keyed(commands.UpsertOne(t.entries, filter, update))
}
