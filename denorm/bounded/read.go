package bounded

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// projectSlice is the projection of the first n elements, or with a negative n of the
// last.
func (b *untypedBounded) projectSlice(n int) (bson.D, error) {
	if n == 0 {
		return nil, b.docs.Refuse("n", n, "is 0: give the number of elements to read")
	}
	return bson.D{{Key: b.field.Path, Value: mql.Op("$slice", n)}}, nil
}
