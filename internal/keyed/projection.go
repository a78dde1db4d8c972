package keyed

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Projection returns a projection of stored documents. Results keep the tenant in the _id,
// by which it is taken off.
func (k Keyer) Projection(p bson.D) bson.D {
	if k.Before != nil {
		if bsondoc.HasKey(p, "_id."+k.Before[0].Key) {
			p = append(slices.Clip(p), k.projectTenant()...)
		}
		return p
	}
	out, partial := bson.D{}, false
	for _, e := range p {
		part, isPart := bsondoc.Document(e.Value)
		nested := e.Key == "_id" && isPart && len(part) > 0 && !strings.HasPrefix(part[0].Key, "$")
		path := k.path(e.Key)
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

// projectTenant returns the tenant's fields of a projection.
func (k Keyer) projectTenant() (out bson.D) {
	for _, e := range k.Tenant {
		if !bsondoc.HasKey(k.Before, e.Key) {
			out = append(out, bson.E{Key: "_id." + e.Key, Value: 1})
		}
	}
	return out
}
