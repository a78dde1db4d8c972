// Package keyed puts a tenant into the _ids of a command on a keyed collection, whose _ids are made of keys, and takes
// the tenant off the _ids that expressions read. Under the tenant {tenant: "a"} a document with the _id "lamp" is
// stored as
//
//	{_id: {tenant: "a", of: "lamp"}, …}
//
// see [core.KeyID]. The commands and results of callers have the _id "lamp". So package model passes a command's
// filter, sort, projection, update or document through a [Keyer] before it sends the command:
//
//		{_id: "lamp"}             {_id: {tenant: "a", of: "lamp"}}
//		{_id: {$gt: "l"}}         {_id: {$gt: {tenant: "a", of: "l"}, $lt: {tenant: "a", of: after all strings}}}
//		{_id: /^l/}               {"_id.of": /^l/}
//		{"_id.part": 1}           {"_id.of.part": 1}
//		{$expr: {$eq: ["$_id", "$b"]}}   the path becomes a [core.KeyPath], which is the _id without the tenant
//
//	  - An equality or a list on _id gets the whole stored _id. A comparison is bounded by the type of its value, as a
//	    server does it for an _id that isn't a document. A pattern is compared with the _id's part [Part].
//	  - A path below _id becomes a path below [Part].
//	  - A new document must say its _id, because the server's own would carry no tenant.
//
// A Keyer for a second, inner tenant knows the outer tenant as Before: paths and expressions are then as stored
// already, and only values get the tenant. Package model calls a Keyer for each scope with a tenant
// (model/scope_keys.go), and the tests that run as a tenant call it for their own commands.
//
// The functions never change the filters and documents that they get: they return copies.
package keyed

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	Part  = "_id." + core.KeyOf // the path of the part of a stored _id without the tenant: _id.of
	Below = Part + "."          // the beginning of the paths below it
)

// A Keyer puts a tenant into the _ids of a command on a keyed collection. Tenant has the tenant's fields, one or
// several, as they are in the _id.
type Keyer struct {
	Tenant bson.D
	Before bson.D // the tenant that an outer scope put into them: paths and expressions are as stored
}

// Filter puts the tenant into a filter's conditions on _id. It looks into $and, $or, $nor and $expr. Conditions on
// other fields stay.
func (k Keyer) Filter(filter bson.D) bson.D {
	out := slices.Clone(filter)
	for i, e := range filter {
		switch e.Key {
		case "_id":
			out[i] = k.Condition(e.Value)
		case "$and", "$or", "$nor":
			if list, ok := bsondoc.Pipeline(e.Value); ok {
				parts := make(bson.A, len(list))
				for j, part := range list {
					parts[j] = k.Filter(part)
				}
				out[i].Value = parts
			}
		case "$expr":
			if bound, ok := k.convertComparison(e.Value); ok {
				out[i] = bson.E{Key: "$and", Value: bson.A{bound}}
			} else if k.Before == nil {
				out[i].Value = WithoutTenant(e.Value)
			}
		default:
			out[i].Key = k.path(e.Key)
		}
	}
	return out
}

// path returns a path as it is stored. With Before it is stored so already.
func (k Keyer) path(path string) string {
	if rest, ok := strings.CutPrefix(path, "_id."); ok && k.Before == nil {
		return Below + rest
	}
	return path
}

// Paths returns the keys of a sort or an index as they are stored. The _id itself stays: stored _ids of one tenant have
// the order of the _ids without the tenant.
func (k Keyer) Paths(d bson.D) bson.D {
	out := slices.Clone(d)
	for i := range out {
		out[i].Key = k.path(out[i].Key)
	}
	return out
}

// Condition puts the tenant into the condition on _id. A pattern is compared with the
// _id's part without the tenant.
func (k Keyer) Condition(v any) bson.E {
	if bsondoc.IsEquality(v) {
		if d, ok := asOperators(v); ok {
			return bson.E{Key: "_id", Value: bson.D{{Key: "$eq", Value: k.id(d[0].Value)}}}
		}
		return bson.E{Key: "_id", Value: k.id(v)}
	}
	d, ok := asOperators(v)
	if !ok {
		return bson.E{Key: Part, Value: v} // a regular expression
	}
	out := slices.Clone(d)
	var first, last any // the values of $gt or $gte, and of $lt or $lte
	for i, e := range d {
		switch e.Key {
		case "$eq", "$ne":
			out[i].Value = k.id(e.Value)
		case "$gt", "$gte":
			out[i].Value, first = k.id(e.Value), e.Value
		case "$lt", "$lte":
			out[i].Value, last = k.id(e.Value), e.Value
		case "$in", "$nin":
			list, ok := k.ids(e.Value)
			if !ok { // a pattern in a list can only be compared with the part without the tenant
				return bson.E{Key: Part, Value: v}
			}
			out[i].Value = list
		case "$exists":
		// $type, $regex and others are about the _id that the caller knows.
		default:
			return bson.E{Key: Part, Value: v}
		}
	}
	return bson.E{Key: "_id", Value: k.boundByType(out, first, last)}
}

// boundByType keeps a comparison within the type of its value, as a server does for an _id that isn't a document.
// Without the bound, {$gt: "l"} would also find the _ids of the next tenant. first and last are the values without the
// tenant, or nil. Two bounds of different types match nothing.
func (k Keyer) boundByType(d bson.D, first, last any) bson.D {
	low, high := anyBounds(first), anyBounds(last)
	switch {
	// A second tenant's values are documents already, which the first Keyer has bounded.
	case first == nil && last == nil || k.Before != nil:
		return d
	case last == nil:
		return append(d, bson.E{Key: low.before, Value: k.id(low.after)})
	case first == nil:
		return append(d, bson.E{Key: "$gte", Value: k.id(high.first)})
	// No value is both above a string and below a number, say.
	case low.typed && high.typed && !bsondoc.SameValue(low.first, high.first):
		return append(d, bson.E{Key: "$in", Value: bson.A{}})
	}
	return d
}

// keyBounds are the bounds of a type of values: first is the least value of the type, after what all of them are below.
type keyBounds struct {
	first, after any
	before       string // the operator that compares with after: $lt, or $lte for all values
	typed        bool   // the bounds are those of a type
}

// anyBounds returns the bounds of a value's type, or those of all values if the type has none.
func anyBounds(v any) keyBounds {
	if id, ok := v.(core.KeyID); ok {
		v = id.Key()
	}
	if raw, err := bsondoc.Encode(v); v != nil && err == nil {
		if first, after, ok := core.KeyBounds(raw); ok {
			return keyBounds{first, after, "$lt", true}
		}
	}
	return keyBounds{bson.MinKey{}, bson.MaxKey{}, "$lte", false}
}

// convertComparison returns the condition on _id that is the same as an expression which compares the _id with a
// constant: {$gt: ["$_id", {$literal: x}]}. The index on _id serves it. Package model pages by such expressions.
func (k Keyer) convertComparison(expr any) (bson.D, bool) {
	d, ok := expr.(bson.D)
	if !ok || len(d) != 1 || d[0].Key != "$gt" || k.Before != nil {
		return nil, false
	}
	args, ok := d[0].Value.(bson.A)
	if !ok || len(args) != 2 || args[0] != "$_id" {
		return nil, false
	}
	literal, ok := args[1].(bson.D)
	if !ok || len(literal) != 1 || literal[0].Key != "$literal" {
		return nil, false
	}
	after, last := k.id(literal[0].Value), k.id(bson.MaxKey{})
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}, {Key: "$lte", Value: last}}}}, true
}

// asOperators returns a condition of operators, such as {$gt: 1}, as a document. false means a value or a pattern.
func asOperators(v any) (bson.D, bool) {
	switch v.(type) {
	case core.KeyID:
		return nil, false
	case bson.D, bson.Raw, bson.RawValue, bson.M:
		d, ok := bsondoc.Document(v)
		return d, ok && len(d) > 0 && strings.HasPrefix(d[0].Key, "$")
	}
	return nil, false
}

// id returns the stored _id of a value.
func (k Keyer) id(v any) any { return core.NewKeyID(v, k.Tenant) }

// ids is id for each value of a list, which may be encoded or of any Go type. It returns false for a list with a
// pattern.
func (k Keyer) ids(list any) (any, bool) {
	var values []any
	switch list := list.(type) {
	case bson.RawValue:
		arr, _ := list.ArrayOK()
		raws, _ := arr.Values()
		for _, v := range raws {
			values = append(values, v)
		}
	default:
		v := reflect.ValueOf(list)
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			return list, true // the server refuses it
		}
		for i := range v.Len() {
			values = append(values, v.Index(i).Interface())
		}
	}
	out := make(bson.A, len(values))
	for i, v := range values {
		if raw, ok := v.(bson.RawValue); ok && raw.Type == bson.TypeRegex {
			return nil, false
		}
		if _, isPattern := v.(bson.Regex); isPattern {
			return nil, false
		}
		out[i] = k.id(v)
	}
	return out, true
}

// Model puts the tenant into the _ids of a write's model. collection is its name, for errors. A filter that is no
// document is left as it is: package model refuses it later.
func (k Keyer) Model(collection string, model mongo.WriteModel) (out mongo.WriteModel, err error) {
	// The filters of write models can be bson.D or bson.Raw.
	filter := func(f any) any {
		d, ok := f.(bson.D)
		if raw, isRaw := f.(bson.Raw); isRaw && raw != nil {
			d, ok = bsondoc.Document(raw)
		}
		if !ok || d == nil {
			return f // refused later
		}
		if err == nil {
			err = core.CheckDepth(d)
		}
		if err != nil {
			return f
		}
		return k.Filter(d)
	}
	switch m := model.(type) {
	case *mongo.InsertOneModel:
		c := *m
		c.Document, err = k.document(collection, m.Document, true)
		out = &c
	case *mongo.ReplaceOneModel:
		c := *m
		if c.Filter = filter(m.Filter); err == nil {
			c.Replacement, err = k.document(collection, m.Replacement, upserts(m.Upsert) && !hasEqualID(m.Filter))
		}
		out = &c
	case *mongo.UpdateOneModel:
		c := *m
		c.Filter, c.Update = filter(m.Filter), k.Update(m.Update)
		err = cmp.Or(err, CheckUpsertID(collection, m.Filter, m.Update, upserts(m.Upsert)))
		out = &c
	case *mongo.UpdateManyModel:
		c := *m
		c.Filter, c.Update = filter(m.Filter), k.Update(m.Update)
		err = cmp.Or(err, CheckUpsertID(collection, m.Filter, m.Update, upserts(m.Upsert)))
		out = &c
	case *mongo.DeleteOneModel:
		c := *m
		c.Filter = filter(m.Filter)
		out = &c
	case *mongo.DeleteManyModel:
		c := *m
		c.Filter = filter(m.Filter)
		out = &c
	default:
		return model, nil
	}
	return out, err
}

// document puts the tenant into the _id of a document. If needed is true, the document must have an _id.
func (k Keyer) document(collection string, doc any, needed bool) (any, error) {
	if core.IsNilDocument(doc) {
		return doc, nil // refused later
	}
	raw, err := (*core.Codec)(nil).Document(doc)
	if err != nil {
		return nil, err
	}
	// A document without an _id is as it is, if an upsert's filter gives the _id or a replacement keeps the stored one.
	id := raw.Lookup("_id")
	switch {
	case id.Type == 0 && needed:
		return nil, errNoKey(collection)
	case id.Type == 0:
		return raw, nil
	}
	// An outer scope may have put its tenant into the _id. The new _id has both.
	if own, ok := core.SplitKeyID(id, k.Before); ok {
		id = own
	}
	return core.WithKeyID(raw, core.NewKeyID(core.NewKeyID(id, k.Before), k.Tenant))
}

// errNoKey is the error of a write that lets the server make the _id, which would not carry the tenant.
func errNoKey(collection string) error {
	return core.ValueError(collection, "_id", nil,
		"is missing: a new document's _id carries the tenant, so the write must say it")
}

// upserts reports whether a write's option Upsert is true.
func upserts(upsert *bool) bool { return upsert != nil && *upsert }

// hasEqualID reports whether a filter gives an upsert's new document its _id, by an equality that the server copies
// into the document.
func hasEqualID(filter any) bool {
	d, ok := bsondoc.Document(filter)
	if !ok {
		return false
	}
	_, pinned := bsondoc.IDOf(d)
	return pinned
}

// CheckUpsertID refuses an upsert that doesn't say the _id of the new document, by its filter or by $setOnInsert.
func CheckUpsertID(collection string, filter, update any, upsert bool) error {
	if !upsert || core.IsNilDocument(filter) || hasEqualID(filter) {
		return nil
	}
	// A pipeline can't be searched for it, so it needs the filter.
	ops, _ := update.(bson.D)
	for _, op := range ops {
		if fields, ok := bsondoc.Document(op.Value); ok && op.Key == "$setOnInsert" && bsondoc.HasKey(fields, "_id") {
			return nil
		}
	}
	return errNoKey(collection)
}

// Update puts the tenant into the _id that an upsert stores, and takes it off the _ids that an update's expressions
// read. Operators only set an _id by $set and $setOnInsert.
func (k Keyer) Update(update any) any {
	switch u := update.(type) {
	case bson.Raw:
		if ops, ok := bsondoc.Operators(u); ok {
			return k.Update(ops)
		}
	case bson.D:
		out := slices.Clone(u)
		for i, op := range u {
			fields, ok := bsondoc.Document(op.Value)
			if at := bsonval.Index(fields, "_id"); ok && (op.Key == "$set" || op.Key == "$setOnInsert") && at >= 0 {
				out[i].Value = bsondoc.SetField(fields, "_id", k.id(fields[at].Value))
			}
		}
		return out
	case mongo.Pipeline:
		if k.Before == nil {
			return Update(u, roots...)
		}
	}
	return update
}
