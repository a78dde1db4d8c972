package core

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An _id that a technique derives from a key is the same for the same key of two tenants.
// So under scopes with tenants it is stored as the document
//
//	{tenant's fields in the order of their names, of: the _id without a scope}
//
// The ids of a tenant are one range, in the order of the ids without a scope. The form
// doesn't depend on the number and order of the scopes. For example the _id "lamp" of a
// counter is, for the tenant a of the region eu:
//
//	{_id: {region: "eu", tenant: "a", of: "lamp"}, n: 3}
//
// A technique never sees this form. Package internal/keyed and model/scope_keys.go put it into
// commands and take it off results. They look for the types KeyID, KeyExpr and KeyPath in
// commands that another scope has changed already, so the values are only encoded by the
// driver, when the command is sent.

// KeyOf is the field of a tenant's _id that has the _id without a scope.
const KeyOf = "of"

// A KeyID is an _id with the fields of the tenants, in a new document or as a value that is
// compared with _ids.
type KeyID struct {
	tenant bson.D // in the order of the names
	key    any    // the _id without a scope
}

// NewKeyID returns an _id with the fields of one more tenant. id is a KeyID if another scope put
// its tenant in already, else the caller's value.
func NewKeyID(id any, tenant bson.D) KeyID {
	k, ok := id.(KeyID)
	if !ok {
		k = KeyID{key: id}
	}
	k.tenant = JoinTenants(k.tenant, tenant)
	return k
}

// Key returns the _id without a scope.
func (k KeyID) Key() any { return k.key }

// Fields returns the _id as it is stored.
func (k KeyID) Fields() bson.D {
	return append(slices.Clip(k.tenant), bson.E{Key: KeyOf, Value: k.key})
}

// MarshalBSONValue encodes the _id as it is stored.
func (k KeyID) MarshalBSONValue() (byte, []byte, error) {
	raw, err := (*Codec)(nil).Document(k.Fields())
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// A KeyExpr is the expression of a tenant's _id in a pipeline, for a $set before a $lookup by
// _id or before a $merge. The server computes the stored _id from the _id without a scope.
type KeyExpr struct {
	tenant bson.D
	from   string // the path of the _id without a scope, with its $
}

// NewKeyExpr returns the expression for the _id at a path.
func NewKeyExpr(from string, tenant bson.D) KeyExpr { return KeyExpr{from: from}.WithTenant(tenant) }

// WithTenant returns the expression with the fields of one more tenant.
func (e KeyExpr) WithTenant(tenant bson.D) KeyExpr {
	e.tenant = JoinTenants(e.tenant, tenant)
	return e
}

// MarshalBSONValue encodes the expression. A local field of a $lookup can be an array, or a
// path through arrays: then each element becomes an _id. Each dot of the path can add one
// level of arrays, so the list is flattened once for each dot.
func (e KeyExpr) MarshalBSONValue() (byte, []byte, error) {
	var v any = e.idExpr(e.from)
	if e.from != "$_id" {
		list := any(e.from)
		for range strings.Count(e.from, ".") {
			list = flattenArray(list)
		}
		v = bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$isArray", Value: bson.A{e.from}}},
			bson.D{{Key: "$map", Value: bson.D{
				{Key: "input", Value: list}, {Key: "in", Value: e.idExpr("$$this")},
			}}}, v,
		}}}
	}
	raw, err := (*Codec)(nil).Document(v)
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// idExpr returns the expression of the _id for a key.
func (e KeyExpr) idExpr(key string) bson.D {
	d := make(bson.D, len(e.tenant), len(e.tenant)+1)
	for i, f := range e.tenant {
		d[i] = bson.E{Key: f.Key, Value: bson.D{{Key: "$literal", Value: f.Value}}}
	}
	return append(d, bson.E{Key: KeyOf, Value: key})
}

// flattenArray returns the expression of an array with the elements of its inner arrays.
func flattenArray(list any) bson.D {
	inner := bson.D{{
		Key:   "$cond",
		Value: bson.A{bson.D{{Key: "$isArray", Value: bson.A{"$$this"}}}, "$$this", bson.A{"$$this"}},
	}}
	return bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: list}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: bson.D{{Key: "$concatArrays", Value: bson.A{"$$value", inner}}}},
	}}}
}

// A KeyPath is the expression of an _id without its tenant, or of a field in it, in a
// pipeline. If the document has no tenant in its _id, it is the _id itself:
//
//	{$ifNull: ["$_id.of", "$_id"]}
type KeyPath struct {
	Doc   string // the document with the _id, such as "$$this.", or "" for the stage's input
	Below string // the path in the _id, such as ".state", or ""
}

// MarshalBSONValue encodes the expression.
func (k KeyPath) MarshalBSONValue() (byte, []byte, error) {
	of := cmp.Or(k.Doc, "$")
	raw, err := bson.Marshal(bson.D{{Key: "$ifNull", Value: bson.A{
		of + "_id." + KeyOf + k.Below, of + "_id" + k.Below,
	}}})
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// KeyBounds returns the first value of a value's type, and the first value after the type,
// in the order of a server
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/). Comparisons of a
// filter are within a type, but comparisons of documents aren't: {$gt: "l"} on _id must not
// become a comparison that a document or an ObjectID in "of" passes too. It returns false for a
// type that has no such bounds.
func KeyBounds(v bson.RawValue) (first, after any, ok bool) {
	switch v.Type {
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return math.Inf(-1), "", true
	case bson.TypeString, bson.TypeSymbol:
		return "", bson.D{}, true
	case bson.TypeEmbeddedDocument:
		return bson.D{}, bson.A{}, true
	case bson.TypeBinary:
		return bson.Binary{}, bson.ObjectID{}, true
	case bson.TypeObjectID:
		return bson.ObjectID{}, false, true
	case bson.TypeBoolean:
		return false, bson.DateTime(math.MinInt64), true
	case bson.TypeDateTime:
		return bson.DateTime(math.MinInt64), bson.Timestamp{}, true
	case bson.TypeTimestamp:
		return bson.Timestamp{}, bson.Regex{}, true
	}
	return nil, nil, false
}

// JoinTenants returns the fields of two tenants, in the order of their names. A field that both
// have comes from a.
func JoinTenants(a, b bson.D) bson.D {
	out := slices.Clone(a)
	for _, e := range b {
		if bsonval.Index(out, e.Key) < 0 {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// SplitKeyID returns the _id without the tenant, or false for an _id of another form, such as
// that of another tenant, or of a document from before the collection was keyed.
func SplitKeyID(id bson.RawValue, tenant bson.D) (bson.RawValue, bool) {
	doc, ok := id.DocumentOK()
	if !ok || len(tenant) == 0 {
		return id, false
	}
	elems, err := doc.Elements()
	if err != nil || len(elems) != len(tenant)+1 || elems[len(tenant)].Key() != KeyOf {
		return id, false
	}
	for i, f := range JoinTenants(nil, tenant) {
		v, err := RawValue(f.Value)
		if err != nil || elems[i].Key() != f.Key || bsonval.Key(v) != bsonval.Key(elems[i].Value()) {
			return id, false
		}
	}
	return elems[len(tenant)].Value(), true
}

// WithoutTenant returns a document under the _id without the tenant, as callers see it. A
// document whose _id has another form is returned as it is.
func WithoutTenant(doc bson.Raw, tenant bson.D) bson.Raw {
	if id, ok := SplitKeyID(doc.Lookup("_id"), tenant); ok {
		return withID(doc, id)
	}
	return doc
}

// WithKeyID returns a document under another _id, in the place of its own. The order of the
// fields stays. A document without an _id gets none.
func WithKeyID(doc bson.Raw, id any) (bson.Raw, error) {
	v, err := RawValue(id)
	if err != nil {
		return nil, err
	}
	return withID(doc, v), nil
}

// withID returns a copy of a document in which the value of _id is id.
func withID(doc bson.Raw, id bson.RawValue) bson.Raw {
	elems, _ := doc.Elements()
	out := make([]byte, 4, len(doc)+len(id.Value))
	for _, e := range elems {
		if e.Key() != "_id" {
			out = append(out, e...)
			continue
		}
		out = append(append(append(out, byte(id.Type)), "_id\x00"...), id.Value...)
	}
	return EndDocument(out, 0)
}
