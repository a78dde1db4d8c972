package embed

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// withToken returns the last tokens, and op after them.
func (v *versioning) withToken(before []bson.RawValue, op bson.ObjectID) bson.A {
	list := bson.A{}
	for _, t := range before[max(0, len(before)+1-v.keep):] {
		list = append(list, bsonval.Clone(t))
	}
	return append(list, op)
}

func (v *versioning) update(id any, version int64, update bson.D, op bson.ObjectID) model.Write {
	u, err := v.counting(update, bson.E{Key: "$set", Value: bson.D{{Key: v.version, Value: version + 1}}}, op)
	if err == nil {
		err = v.checkVersion(version)
	}
	if err != nil {
		return model.Refused(v.docs.Name(), err)
	}
	return v.updating(id, v.at(version), op, ErrVersion, u)
}

// updating is an update of a document that matches cond. otherwise is the error if the
// document exists but doesn't match.
func (v *versioning) updating(id any, cond bson.D, op bson.ObjectID, otherwise error, update any) model.Write {
	byID, err := v.docs.ByID(id)
	if err == nil {
		err = v.checkOp(op)
	}
	if err != nil {
		return model.Refused(v.docs.Name(), err)
	}
	w := model.Write{
		Collection: v.docs.Name(), Expect: model.One, Index: model.IDIndex,
		Reasons: []model.Reason{{If: byID, Err: otherwise}},
	}
	filter := bsondoc.JoinFilters(byID, cond)
	if v.ops != "" {
		filter = bsondoc.JoinFilters(filter, bson.D{{Key: v.ops, Value: bson.D{{Key: "$ne", Value: op}}}})
		w.Done, w.Idempotent = bsondoc.JoinFilters(byID, bson.D{{Key: v.ops, Value: op}}), true
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update}
	return w
}

func (v *versioning) guarded(id any, guard, update bson.D, op bson.ObjectID) model.Write {
	refused := func(err error) model.Write { return model.Refused(v.docs.Name(), err) }
	cond, err := v.docs.CheckGuard(guard)
	if err != nil {
		return refused(err)
	}
	next := bson.E{Key: "$inc", Value: bson.D{{Key: v.version, Value: int64(1)}}}
	if update == nil {
		return v.updating(id, cond, op, model.ErrGuard, v.own(next, op))
	}
	u, err := v.counting(update, next, op)
	if err != nil {
		return refused(err)
	}
	return v.updating(id, cond, op, model.ErrGuard, u)
}

func (v *versioning) take(id any, path string, n int64, op bson.ObjectID) model.Write {
	if err := v.checkAmount(path, n); err != nil {
		return model.Refused(v.docs.Name(), err)
	}
	return v.guarded(id, bson.D{{Key: path, Value: bson.D{{Key: "$gte", Value: n}}}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: path, Value: -n}}}}, op)
}

// checkAmount refuses an n or a path that Take can't use.
func (v *versioning) checkAmount(path string, n int64) error {
	f, err := v.docs.Lookup(path)
	switch {
	case err != nil:
		return v.docs.Refuse(path, nil, err.Error())
	case f.Arrays > 0:
		return v.docs.Refuse(path, nil, "is an array, or is in one")
	case !f.Untyped && !isNumber(f.Type):
		return v.docs.Refuse(path, nil, fmt.Sprintf("is of type %s, not a number", f.Type))
	case n < 1:
		return v.docs.Refuse(path, n, "must be greater than 0")
	}
	return nil
}

// isNumber reports whether values of the type are stored as numbers.
func isNumber(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[bson.DateTime]():
		return false
	case reflect.TypeFor[bson.Decimal128](), reflect.TypeFor[json.Number]():
		return true
	}
	v := reflect.Zero(t)
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

// counting returns the update extended by the operators that increase the version and
// store the token. The result is a bson.Raw, or a bson.D if the driver must encode a
// value.
func (v *versioning) counting(update bson.D, count bson.E, op bson.ObjectID) (any, error) {
	if err := v.kept(update); err == nil {
		if raw := v.docs.UpdateWith(make([]byte, 0, 128), update, v.own(count, op)...); raw != nil {
			return raw, v.docs.CheckOwnUpdate(update)
		}
	}
	u, err := v.docs.Operators(update)
	if err == nil {
		err = v.docs.CheckUpdate(u)
	}
	if err == nil {
		err = v.kept(u)
	}
	if err != nil {
		return nil, err
	}
	for i, e := range u {
		u[i].Value = append(bson.D(nil), e.Value.(bson.D)...)
	}
	for _, e := range v.own(count, op) {
		u = merged(u, e)
	}
	return u, nil
}

// kept refuses an update that writes the version, the tokens or the _id, and an operator
// without fields.
func (v *versioning) kept(update bson.D) error {
	for i, e := range update {
		fields, ok := e.Value.(bson.D)
		if !ok || has(update[:i], e.Key) {
			return v.docs.Refuse(e.Key, nil, "must be given once, with a bson.D of fields")
		}
		for _, f := range fields {
			to, _ := f.Value.(string)
			if v.holds(f.Key) || e.Key == "$rename" && v.holds(to) {
				return v.docs.Refuse(strings.TrimPrefix(f.Key, "$"), nil, "can't be written: the technique writes it")
			}
		}
	}
	return nil
}

// own are the operators that increase the version and store the token.
func (v *versioning) own(count bson.E, op bson.ObjectID) bson.D {
	own := bson.D{count}
	if v.ops != "" {
		own = append(own, bson.E{Key: "$push", Value: bson.D{{Key: v.ops, Value: bson.D{
			{Key: "$each", Value: bson.A{op}}, {Key: "$slice", Value: -v.keep},
		}}}})
	}
	return own
}

// touch is the update that only increases the version.
func (v *versioning) touch(id any, version int64, op bson.ObjectID) model.Write {
	if err := v.checkVersion(version); err != nil {
		return model.Refused(v.docs.Name(), err)
	}
	u := v.own(bson.E{Key: "$set", Value: bson.D{{Key: v.version, Value: version + 1}}}, op)
	return v.updating(id, v.at(version), op, ErrVersion, u)
}

// holds reports whether path overlaps the version, the tokens or the _id.
func (v *versioning) holds(path string) bool {
	return core.Overlap(path, v.version) || v.ops != "" && core.Overlap(path, v.ops) || core.Overlap(path, "_id")
}

// merged returns an update with the fields of one more operator.
func merged(u bson.D, op bson.E) bson.D {
	for i := range u {
		if u[i].Key == op.Key {
			u[i].Value = append(u[i].Value.(bson.D), op.Value.(bson.D)...)
			return u
		}
	}
	return append(u, op)
}

func (v *versioning) footprints() []model.Footprint {
	name := v.docs.Name()
	return slices.Concat(
		model.Writes.In(name, model.Whole), model.Guards.In(name, v.version), model.Owns.In(name, v.ops),
		model.Spares.In(name, v.spared...),
	)
}
