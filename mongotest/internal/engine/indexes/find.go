package indexes

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func FindNames(c *store.Collection, which any) (names []string, err error) {
	switch v := which.(type) {
	case bson.A:
		for _, one := range v {
			list, err := FindNames(c, one)
			if err != nil {
				return nil, err
			}
			names = append(names, list...)
		}
		return names, nil
	case string:
		for _, x := range c.Listed() {
			if v == "*" && x.Spec.Name != store.IDIndex && !x.Spec.Clustered || v == x.Spec.Name {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil && v != "*" {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", v)
		}
	case bson.D:
		for _, x := range c.Listed() {
			if isSameKey(x.Spec.Key, v) {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "can't find index with key: %s", store.Show(v))
		}
		if len(names) > 1 {
			return nil, mongoerr.New(mongoerr.AmbiguousIndexKeyPattern,
				"%d indexes found for key: %s, identify by name instead. "+
					"Conflicting indexes: %s", len(names), store.Show(v), strings.Join(names, ", "))
		}
	default:
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object, array]'",
			bsonval.TypeName(which))
	}
	for _, name := range names {
		if name == store.IDIndex && c.Clustered == nil {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
	}
	return names, nil
}
