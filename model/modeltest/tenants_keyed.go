package modeltest

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/keyed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Tests store and read documents of keyed collections with the _ids that a technique
// generates. Here the tenant is put into them.

var ownTenant = bson.D{{Key: tenantField, Value: "mine"}}

// ofKeyed puts the tenant into conditions on _id.
func ofKeyed(own func(bson.D) bson.D) func(bson.D) bson.D {
	return func(filter bson.D) bson.D { return own(keyed.Keyer{Tenant: ownTenant}.Filter(filter)) }
}

// withKeyID puts the tenant into the _id of a document.
func withKeyID(owned func(bson.D) bson.D) func(bson.D) bson.D {
	return func(doc bson.D) bson.D {
		doc = slices.Clone(doc)
		for i, e := range doc {
			if e.Key == "_id" {
				doc[i].Value = keyID(e.Value, ownTenant)
			}
		}
		return owned(doc)
	}
}

// keyID returns a tenant's _id. The _id can have the tenant of a test's own scope.
func keyID(id any, tenant bson.D) core.KeyID {
	d, ok := id.(bson.D)
	if last := len(d) - 1; ok && last > 0 && d[last].Key == core.KeyOf {
		return core.NewKeyID(core.NewKeyID(d[last].Value, d[:last]), tenant)
	}
	return core.NewKeyID(id, tenant)
}

// splitKeyID returns the _id without the tenant of all tests, or false.
func splitKeyID(id any) (any, bool) {
	d, ok := id.(bson.D)
	if !ok || len(d) < 2 || !has(d, tenantField) || d[len(d)-1].Key != core.KeyOf {
		return nil, false
	}
	rest := slices.DeleteFunc(slices.Clone(d), func(e bson.E) bool { return e.Key == tenantField })
	if len(rest) > 1 {
		return rest, true
	}
	return rest[0].Value, true
}

// keyedStages puts the tenant into conditions on _id of the first stages, and takes it off
// the documents after them.
func keyedStages(stages bson.A) bson.A {
	out := slices.Clone(stages)
	for i, v := range stages {
		stage, ok := v.(bson.D)
		if !ok || len(stage) != 1 {
			return out
		}
		switch stage[0].Key {
		case "$match":
			if filter, ok := stage[0].Value.(bson.D); ok {
				out[i] = bson.D{{Key: "$match", Value: keyed.Keyer{Tenant: ownTenant}.Filter(filter)}}
			}
		case "$sort", "$limit", "$skip":
		default:
			return slices.Insert(out, i, any(withoutTenant))
		}
	}
	return append(out, withoutTenant)
}

var withoutTenant = bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: core.KeyPath{}}}}}
