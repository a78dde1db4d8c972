package model

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/keyed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What scopes and shard keys made of a write, so that its guarantee and its errors are still
// those of the write before.

// scoped is what the scopes of a database made of a write. Writes share it, so it never
// changes.
type scoped struct {
	plain, covered mongo.WriteModel // the model before and after
	within         bson.D           // the conditions on documents that the write reaches
	tenant         bson.D           // the tenant of the inserted document
	keys           bson.D           // the tenant in the _ids
	unkeyed        bson.D           // the tenant of [Scope.Plan], which isn't in the _ids: the database's model decides
	marks          bool             // the write was a delete
	text           string           // a field of the tenant whose value is a string, or "": see [use]
}

// scoping returns what scopes made of the write, or the zero value.
func (w Write) scoping() scoped {
	if w.under == nil {
		return scoped{}
	}
	return *w.under
}

// unscoped returns the write's model before scopes were applied. Scopes don't change the
// write's guarantee: their filters test whether the document exists, and they set the
// same values each time.
func (w Write) unscoped() mongo.WriteModel {
	if w.isScoped() {
		return w.under.plain
	}
	return w.Model
}

// isScoped reports whether scopes were applied to the write's present model.
func (w Write) isScoped() bool { return w.under != nil && w.under.covered == w.Model }

// stamped returns the fields that scopes added to an inserted document.
func (w Write) stamped() map[string]bool {
	m, ok := w.unscoped().(*mongo.InsertOneModel)
	if !ok || !w.isScoped() {
		return nil
	}
	own, err := (*core.Codec)(nil).Document(m.Document)
	all, isRaw := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	if err != nil || !isRaw {
		return nil
	}
	out := map[string]bool{}
	elems, _ := all.Elements()
	for _, e := range elems {
		if v := own.Lookup(e.Key()); v.Type == 0 || !v.Equal(e.Value()) {
			out[e.Key()] = true
		}
	}
	return out
}

// inserts reports whether a write may store a new document.
func inserts(model mongo.WriteModel) bool {
	if core.IsNilModel(model) {
		return false
	}
	var upsert *bool
	switch m := model.(type) {
	case *mongo.InsertOneModel:
		return true
	case *mongo.UpdateOneModel:
		upsert = m.Upsert
	case *mongo.UpdateManyModel:
		upsert = m.Upsert
	case *mongo.ReplaceOneModel:
		upsert = m.Upsert
	}
	return upsert != nil && *upsert
}

// withFilter returns the write with a filter that reaches no other documents. The write's
// guarantee still depends on its old filter.
func (w Write) withFilter(filter bson.D) Write {
	under := w.scoping()
	under.plain = w.unscoped()
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		c := *m
		c.Filter, w.Model = filter, &c
	case *mongo.UpdateManyModel:
		c := *m
		c.Filter, w.Model = filter, &c
	case *mongo.ReplaceOneModel:
		c := *m
		c.Filter, w.Model = filter, &c
	case *mongo.DeleteOneModel:
		c := *m
		c.Filter, w.Model = filter, &c
	case *mongo.DeleteManyModel:
		c := *m
		c.Filter, w.Model = filter, &c
	}
	under.covered = w.Model
	w.under = &under
	return w
}

// keyedID returns the filter for an _id without the tenant.
func (u scoped) keyedID(id any) bson.D {
	if len(u.keys) == 0 {
		return bson.D{{Key: "_id", Value: id}}
	}
	return bson.D{keyed.Keyer{Tenant: u.keys}.Condition(id)}
}

// A use is a collection in which a command compares a tenant that is a string.
type use struct{ collection, tenant string }
