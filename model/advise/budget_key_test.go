package advise_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// Where only the length of a map's keys has no bound, the room is theirs.
func TestBudgetRoomOfKeys(t *testing.T) {
	bounds := func(key int64) (out []advise.Bound) {
		for _, b := range budgetBounds {
			if b.Path == "counts" {
				b.Items, b.Key = 10, key
			}
			out = append(out, b)
		}
		return out
	}
	open := advise.NewBudget(budgetDocs, bounds(0)...).Worst().Open
	if len(open) != 1 || open[0].Path != "counts" || !strings.Contains(open[0].Why, "without Key") {
		t.Fatalf("%+v", open)
	}
	room := open[0].Room
	if fits, over := advise.NewBudget(budgetDocs, bounds(room)...).Worst(),
		advise.NewBudget(budgetDocs, bounds(room+1)...).Worst(); !fits.Fits ||
		fits.Bytes > model.MaxDocument || over.Fits {
		t.Errorf("room %d: %s, %s", room, fits, over)
	}
}
