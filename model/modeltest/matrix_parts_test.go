package modeltest

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

func TestParts(t *testing.T) {
	many := func(n int) mongotest.Command {
		list := make(bson.A, n)
		for i := range list {
			list[i] = bson.D{{Key: "q", Value: bson.D{}}, {Key: "multi", Value: n == 1}}
		}
		body, err := bson.Marshal(bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: list}})
		if err != nil {
			t.Fatal(err)
		}
		return mongotest.Command{Name: "update", Body: body}
	}
	for n, want := range map[int][]int{1: {1}, 2: {1}, 3: {1, 2}, 4: {1, 2, 3}, 10: {1, 5, 9}} {
		if got := parts(many(n)); !slices.Equal(got, want) {
			t.Errorf("%d statements are cut after %v, want %v", n, got, want)
		}
	}
}
