package indexes

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// FindNames returns the names of the indexes that a client means, for dropIndexes and collMod: by a name, by a key, by
// a list of names or keys, or all except that on _id by "*". An index that isn't there is IndexNotFound (27). A key
// that several indexes have, with different options, is AmbiguousIndexKeyPattern (181). The index on _id is refused.
func FindNames(c *store.Collection, which any) (names []string, err error) {
	// Listed leaves out indexes that listIndexes doesn't show.
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
	case string: // a name, or "*" for all but the one on _id
		for _, x := range c.ListIndexes() {
			if v == "*" && x.Spec.Name != store.IDIndex && !x.Spec.Clustered || v == x.Spec.Name {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil && v != "*" {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "index not found with name [%s]", v)
		}
	case bson.D: // a key, which several indexes may have
		for _, x := range c.ListIndexes() {
			if isSameKey(x.Spec.Key, v) {
				names = append(names, x.Spec.Name)
			}
		}
		if names == nil {
			return nil, mongoerr.New(mongoerr.IndexNotFound, "can't find index with key: %s", store.Show(v))
		}
		// The name of one of them is needed, because a key alone doesn't say which one is to go.
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
	// A clustered collection has no index on _id apart from its documents.
	for _, name := range names {
		if name == store.IDIndex && c.Clustered == nil {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
	}
	return names, nil
}
