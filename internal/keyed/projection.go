package keyed

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Projection returns a projection of stored documents. A result keeps the tenant in its _id, because package model
// takes the tenant off by it. So a projection of a part of the _id gets the tenant's fields too.
func (k Keyer) Projection(p bson.D) bson.D {
	if k.Before != nil {
		// The first Keyer has added its tenant, so this one adds the fields that are missing.
		if bsondoc.HasKey(p, "_id."+k.Before[0].Key) {
			p = append(slices.Clip(p), k.projectTenant()...)
		}
		return p
	}
	out, partial := bson.D{}, false // whether a result has a part of the _id only
	for _, e := range p {
		part, isPart := bsondoc.Document(e.Value)
		nested := e.Key == "_id" && isPart && len(part) > 0 && !strings.HasPrefix(part[0].Key, "$")
		path := k.path(e.Key)
		// {_id: {a: 1}} includes the part a of the _id.
		if nested {
			path = Part
		}
		partial = partial || path != e.Key && !bsondoc.IsZero(e.Value)
		v := e.Value
		if _, isPath := bsondoc.String(v); isPath || isPart && !nested {
			v = WithoutTenant(v)
		}
		out = append(out, bson.E{Key: path, Value: v})
	}
	if partial {
		out = append(out, k.projectTenant()...)
	}
	return out
}

// projectTenant returns the fields of a projection that include the tenant: {"_id.tenant": 1}. Fields that an outer
// scope's tenant has too are included already.
func (k Keyer) projectTenant() (out bson.D) {
	for _, e := range k.Tenant {
		if !bsondoc.HasKey(k.Before, e.Key) {
			out = append(out, bson.E{Key: "_id." + e.Key, Value: 1})
		}
	}
	return out
}
