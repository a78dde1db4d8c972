package model_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// endless are values that contain themselves, by each kind of Go value.
func endless() map[string]any {
	list, doc, stages, table, next := bson.A{nil}, bson.D{{Key: "$and", Value: nil}},
		mongo.Pipeline{{{Key: "$facet", Value: nil}}}, bson.M{}, &ring{ID: "x"}
	list[0], doc[0].Value, stages[0][0].Value, table["$and"], next.Next = list, bson.A{doc}, stages, table, next
	ands := bson.A{nil}
	ands[0] = bson.D{{Key: "$and", Value: ands}}
	twice := bson.A{nil, nil}
	twice[0], twice[1] = bson.D{{Key: "$and", Value: twice}}, bson.D{{Key: "$and", Value: twice}}
	var slot any
	slot = &slot
	return map[string]any{
		"a bson.A": list, "a bson.D": doc, "a pipeline": stages, "a map": table, "a pointer": next, "a list of $and": ands,
		"two branches": twice, "an interface": slot,
	}
}

// hostileWrites are writes by hand with the value in each position.
func hostileWrites(v any) map[string]model.Write {
	doc := bson.D{{Key: "_id", Value: 1}, {Key: "$and", Value: v}}
	filter, set := bson.D{{Key: "$and", Value: v}}, bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: v}}}}
	one := d("_id", 1)
	withDone, withReason := updateOne(one, d("$set", d("a", 1))), updateOne(one, d("$set", d("a", 1)))
	withDone.Done, withReason.Reasons = filter, []model.Reason{{If: filter, Err: errBad}}
	return map[string]model.Write{
		"an insert": insertDoc(doc), "an update's filter": updateOne(filter, d("$set", d("a", 1))),
		"an _id": updateOne(bson.D{{Key: "_id", Value: v}}, d("$set", d("a", 1))), "an update": updateOne(one, set),
		"operators": updateOne(one, bson.D{{Key: "$set", Value: v}}), "an update of many": updateMany(filter, set),
		"a pipeline":       updateMany(one, mongo.Pipeline{set}),
		"a list of stages": write(&mongo.UpdateOneModel{Filter: one, Update: v}),
		"array filters": write(&mongo.UpdateOneModel{
			Filter: one, Update: d("$set", d("a.$[x]", 1)), ArrayFilters: []any{filter},
		}),
		"a replacement":          write(&mongo.ReplaceOneModel{Filter: one, Replacement: doc}),
		"a replacement's filter": write(&mongo.ReplaceOneModel{Filter: filter, Replacement: one}),
		"a delete":               write(&mongo.DeleteOneModel{Filter: filter}),
		"a delete of many":       write(&mongo.DeleteManyModel{Filter: filter}),
		"a filter":               write(&mongo.DeleteOneModel{Filter: v}), "Done": withDone, "a reason": withReason,
	}
}

// nilWrites are writes whose model is nil, or a nil pointer.
func nilWrites() []model.Write {
	return []model.Write{
		write(nil), write((*mongo.InsertOneModel)(nil)), write((*mongo.UpdateOneModel)(nil)),
		write((*mongo.UpdateManyModel)(nil)), write((*mongo.ReplaceOneModel)(nil)), write((*mongo.DeleteOneModel)(nil)),
		write((*mongo.DeleteManyModel)(nil)),
	}
}

// walkWrite does all that can be done with a write before it is sent. Each returned error is of a run.
func walkWrite(t *testing.T, client *mongo.Client, w model.Write) map[string]error {
	shard := keys.NewShard(model.NewCollection[bson.D, int32]("parts"), d("region", 1), keys.ShardSpec{})
	db, errs := client.Database("x"), map[string]error{}
	sharded := model.New("test", shard)
	s := model.Scope{Tenant: d("tenant", "a"), Set: d("at", 1), Delete: d("gone", true)}
	for name, p := range map[string]model.Plan{
		"alone":         model.NewPlan(w),
		"after another": model.NewPlan(parts.Delete(7), w),
		"under a scope": s.Plan(model.NewPlan(w)),
	} {
		p.Options.AllowPartial = true
		_, _, _, _ = p.Guarantee(), p.Repeatable(), p.Cost(), p.CostTx()
		_ = p.String()
		_ = model.MergePlans(p, p).String()
		_ = model.Merge(w, w).String()
		_ = keys.Targets(sharded, w)
		_, _ = model.StoredPlan(p)
		for on, handle := range map[string]model.DB{
			"the database": db, "a scope": s.On(db), "a shard key": sharded.On(db),
			"all": s.On(sharded.On(model.Observer{}.On(db))),
		} {
			_, errs[name+", on "+on] = p.Run(t.Context(), handle)
		}
	}
	return errs
}

// A write by hand with a value without an end is refused on each kind of handle, as is a write without a model.
func TestHostileWrites(t *testing.T) {
	client := mongotest.NewClient(t)
	for name, v := range endless() {
		for where, w := range hostileWrites(v) {
			for on, err := range walkWrite(t, client, w) {
				if err == nil && where != "a reason" && where != "Done" { // not read
					t.Errorf("%s as %s, %s: is accepted", name, where, on)
				}
			}
		}
	}
	for _, w := range nilWrites() {
		for on, err := range walkWrite(t, client, w) {
			if err == nil || !errors.As(err, new(*model.ValueError)) ||
				!strings.Contains(err.Error(), "give one of the driver's") {
				t.Errorf("%T, %s: %v", w.Model, on, err)
			}
		}
	}
}

// Each method of a nil model says how to make one.
func TestNilModel(t *testing.T) {
	nothing := reflect.ValueOf((*model.Model)(nil))
	for i := range nothing.NumMethod() {
		name := nothing.Type().Method(i).Name
		m := nothing.Method(i)
		args := make([]reflect.Value, m.Type().NumIn())
		for j := range args {
			args[j] = reflect.Zero(m.Type().In(j))
		}
		func() {
			defer func() {
				var e *model.DeclarationError
				if err, ok := recover().(error); !ok || !errors.As(err, &e) || !strings.Contains(fmt.Sprint(e), "Model."+name) {
					t.Errorf("%s panics with %v", name, err)
				}
			}()
			m.Call(args)
		}()
	}
}
