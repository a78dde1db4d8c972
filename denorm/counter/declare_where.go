package counter

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A condition is one part of Spec.Where. matchValue decides in Go as the server decides
// for the filter, because reactions and checks must count the same children.
type condition struct {
	path, op string
	// One value, or several for $in.
	values []bson.RawValue
}

// declareWhere parses the conditions, and makes the filter of the children that count.
// The filter also leaves out children that a store is deleting outside a transaction:
// they count nowhere from the moment at which the deletion begins.
func (c *untypedCounter) declareWhere(where bson.D) {
	for _, e := range where {
		c.checkChildField(e.Key)
		v, err := c.docs.Raw(e.Value)
		if err != nil {
			c.place.Fail(fmt.Sprintf("the condition on %q: %v", e.Key, err), "give a scalar")
		}
		doc, isDoc := v.DocumentOK()
		if !isDoc {
			c.addCondition(e.Key, "$eq", v)
			continue
		}
		elems, _ := doc.Elements()
		if len(elems) == 0 {
			c.place.Fail(fmt.Sprintf("the condition on %q is an empty document", e.Key),
				"give a scalar, or {operator: scalar}")
		}
		for _, x := range elems {
			c.addCondition(e.Key, x.Key(), x.Value())
		}
	}
	for _, w := range c.where {
		var v any = w.values
		if w.op != "$in" {
			v = w.values[0]
		}
		c.filter = bsondoc.JoinFilters(c.filter, bson.D{{Key: w.path, Value: bson.D{{Key: w.op, Value: v}}}})
	}
	c.filter = bsondoc.JoinFilters(c.filter, bson.D{{
		Key: c.docs.StoreField().Deletes(), Value: bson.D{{Key: "$ne", Value: true}},
	}})
}

// addCondition accepts only operators and types for which matchValue agrees with the
// server.
func (c *untypedCounter) addCondition(path, op string, v bson.RawValue) {
	w := condition{path, op, []bson.RawValue{bsonval.Clone(v)}}
	fail := func(what string) {
		c.place.Fail(fmt.Sprintf("the condition on %q, {%s: %s}, %s", path, op, model.Shell(v), what),
			"use $eq, $ne, $gt, $gte, $lt, $lte, $exists or $in with a number, string, date, boolean or ObjectID; "+
				"null only with $eq, $ne and $in")
	}
	ok := isScalar
	switch op {
	case "$eq", "$ne":
		ok = func(v bson.RawValue) bool { return v.Type == bson.TypeNull || isScalar(v) }
	case "$gt", "$gte", "$lt", "$lte":
	case "$exists":
		ok = func(v bson.RawValue) bool { return v.Type == bson.TypeBoolean }
	case "$in":
		list, isList := v.ArrayOK()
		if !isList {
			fail("needs a list")
		}
		w.values, _ = list.Values()
		for i := range w.values {
			w.values[i] = bsonval.Clone(w.values[i])
		}
		ok = func(v bson.RawValue) bool { return v.Type == bson.TypeNull || isScalar(v) }
	default:
		fail("has an unsupported operator")
	}
	for _, v := range w.values {
		if !ok(v) {
			fail("needs a scalar")
		}
	}
	c.where = append(c.where, w)
}

// isScalar reports whether a value is a scalar that has an order: NaN and infinities are
// refused.
func isScalar(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeDouble:
		return !math.IsNaN(v.Double()) && !math.IsInf(v.Double(), 0)
	case bson.TypeDecimal128:
		return !v.Decimal128().IsNaN() && v.Decimal128().IsInf() == 0
	case bson.TypeInt32, bson.TypeInt64, bson.TypeString, bson.TypeDateTime, bson.TypeBoolean, bson.TypeObjectID:
		return true
	}
	return false
}

// matchValue decides the condition for the value that a child has at the path; type 0 is
// a missing field. As in a query, a missing field equals null.
func (w condition) matchValue(v bson.RawValue) bool {
	equal := func() bool {
		for _, x := range w.values {
			none := v.Type == 0 || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
			if none && x.Type == bson.TypeNull || !none && bsonval.EqualRaw(x, v) {
				return true
			}
		}
		return false
	}
	switch w.op {
	case "$eq", "$in":
		return equal()
	case "$ne":
		return !equal()
	case "$exists":
		return w.values[0].Boolean() == (v.Type != 0)
	}
	n, ok := compareScalars(v, w.values[0])
	switch w.op {
	case "$gt":
		return ok && n > 0
	case "$gte":
		return ok && n >= 0
	case "$lt":
		return ok && n < 0
	}
	return ok && n <= 0
}

// compareScalars orders two scalars of one kind as a query does, by type bracketing. For
// different kinds it returns false.
func compareScalars(a, b bson.RawValue) (int, bool) {
	switch {
	case bsonval.RawNaN(a) || bsonval.RawNaN(b):
		return 0, bsonval.EqualRaw(a, b)
	case bsonval.IsNumberType(a.Type):
		return bsonval.CompareRaw(a, b), bsonval.IsNumberType(b.Type)
	}
	switch a.Type {
	case bson.TypeString, bson.TypeDateTime, bson.TypeObjectID, bson.TypeBoolean:
		return bsonval.CompareRaw(a, b), a.Type == b.Type
	}
	return 0, false
}
