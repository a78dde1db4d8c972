package core

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A list of ids is encoded as the driver does, with indexes of any length. Whatever byte is changed, onlyIDs accepts no
// more than what is well formed, and only ids.
func TestIDLists(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 10_001} {
		ids := make([]bson.ObjectID, n)
		for i := range ids {
			ids[i] = bson.NewObjectID()
		}
		want, err := bson.Marshal(bson.D{{Key: "ids", Value: ids}})
		if err != nil {
			t.Fatal(err)
		}
		got := EndDocument(appendIDs(make([]byte, 4), "ids", ids), 0)
		if !bytes.Equal(got, want) {
			t.Errorf("%d ids: encoded otherwise than by the driver", n)
		}
		list := bson.Raw(want).Lookup("ids")
		if onlyIDs(list.Value) != (n > 0) {
			t.Errorf("%d ids: onlyIDs says %v", n, n == 0)
		}
		if n == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(1, uint64(n)))
		for range 2000 {
			at := random.IntN(len(list.Value))
			if n < 12 && random.IntN(2) == 0 {
				at = random.IntN(min(len(list.Value), 24))
			}
			was := list.Value[at]
			list.Value[at] = byte(random.IntN(256))
			if onlyIDs(list.Value) {
				values, err := list.Array().Values()
				for _, v := range values {
					if v.Type != bson.TypeObjectID {
						t.Fatalf("%d ids, byte %d: a %s is taken for an id", n, at, v.Type)
					}
				}
				if err != nil || !bsonval.WellFormed(list) || len(values) != n {
					t.Fatalf("%d ids, byte %d: %d values, %v", n, at, len(values), err)
				}
			}
			list.Value[at] = was
		}
	}
}
