package indexes

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// isWildcard reports whether a field of an index's key stands for all fields, or for all of a path.
func isWildcard(name string) bool { return name == "$**" || strings.HasSuffix(name, ".$**") }

// everyField alone is a wildcard index. With the value "text" it is the name of a text index's field that stands for
// all texts.
const everyField = "$**"

// readKind reads the kind of one field of a key, and whether it is descending. A text is a kind's name, a number the
// direction of an ordered field. The size of the number doesn't matter.
func readKind(e bson.E) (kind store.Kind, desc bool, err error) {
	switch v := e.Value.(type) {
	case string:
		switch v {
		case "hashed":
			return store.Hashed, false, nil
		case "2dsphere":
			return store.Sphere, false, nil
		case "2d":
			return store.Plane, false, nil
		case "text":
			return store.Text, false, nil
		}
		return 0, false, mongoerr.New(mongoerr.CannotCreateIndex, "Unknown index plugin '%s'", v)
	case int32, int64, float64: // a Decimal128 is refused, as by MongoDB
		c := bsonval.Compare(v, int32(0))
		if c == 0 || bsonval.IsNaN(v) {
			return 0, false, mongoerr.New(mongoerr.CannotCreateIndex, "Values in the index key pattern cannot be 0.")
		}
		return store.Ordered, c < 0, nil
	}
	return 0, false, mongoerr.New(mongoerr.CannotCreateIndex,
		"Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, and strings are allowed.",
		bsonval.TypeName(e.Value))
}

// MakeName makes the name of an index that has none: a_1_b_-1. Drivers make the same names before they send the
// command.
func MakeName(key bson.D) string {
	parts := make([]string, 0, 2*len(key))
	for _, e := range key {
		if n, ok := args.ReadWhole(e.Value); ok {
			parts = append(parts, e.Key, fmt.Sprint(n))
			continue
		}
		parts = append(parts, e.Key, fmt.Sprint(e.Value))
	}
	return strings.Join(parts, "_")
}

// newIndexError returns an error CannotCreateIndex (67), the code of most refusals.
func newIndexError(format string, args ...any) error {
	return mongoerr.New(mongoerr.CannotCreateIndex, format, args...)
}
