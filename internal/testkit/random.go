package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RandomValue returns a value of any type, with documents nested up to a depth.
func RandomValue(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "é\U0001f9e9", "$gt", "a.b", "NUL\x00", "|,%/_#", "1"}
	switch r.IntN(18) {
	case 0:
		return nil
	case 1:
		return r.Float64()
	case 2:
		return math.Inf(-1)
	case 3:
		return r.Int64() - r.Int64()
	case 4:
		return int32(r.Int32())
	case 5:
		return bson.ObjectID{byte(r.IntN(256)), 11: 1}
	case 6:
		return bson.DateTime(r.Int64N(1e15))
	case 7:
		return bson.Binary{Subtype: byte(r.IntN(2)) * 4, Data: []byte{1, 2, 3}}
	case 8:
		return bson.Regex{Pattern: "^.*", Options: "i"}
	case 9:
		return bson.Timestamp{T: 1, I: r.Uint32()}
	case 10:
		d, _ := bson.ParseDecimal128("1.50")
		return d
	case 11:
		return []any{bson.MinKey{}, bson.MaxKey{}, bson.Undefined{}, bson.JavaScript("x"), bson.Symbol("s")}[r.IntN(5)]
	case 12:
		return r.IntN(2) == 0
	case 13:
		return math.NaN()
	case 14, 15:
		if depth > 0 {
			d := bson.D{}
			for i := range r.IntN(4) {
				d = append(d, E(texts[1+r.IntN(2)]+fmt.Sprint(i), RandomValue(r, depth-1)))
			}
			return d
		}
	}
	return texts[r.IntN(len(texts))]
}
