package model_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// A refusal names the writes, the cause and what to do; the order of the writes doesn't decide which cause it is.
func TestMergeRefusals(t *testing.T) {
	bad := model.Refused("parts", errBad)
	remove := write(&mongo.DeleteOneModel{Filter: d("_id", 1)})
	clash := up("$inc", d("a", 1))
	for _, c := range []struct {
		writes []model.Write
		want   []string
	}{
		{[]model.Write{up("$set", d("a", 1)), clash, bad}, []string{"can't be merged", errBad.Error(), "write "}},
		{[]model.Write{up("$set", d("a", 1)), clash, remove}, []string{"only updates", "step of its own", "write "}},
		{
			writes: []model.Write{up("$set", d("a", 1)), clash, up("$set", d("b", 1))},
			want:   []string{"$set a", "$inc a", "write 1", "RunTx"},
		},
		{
			writes: []model.Write{up("$set", d("a", 1, "b", 1)), up("$inc", d("b", 1)), up("$inc", d("a", 1))},
			want:   []string{"$set a", "$inc a", "RunTx"},
		},
		{[]model.Write{up("$set", d("a", 1)), guarded(up("$inc", d("a", 1)), "v", 1)}, []string{"$set a", "$inc a"}},
	} {
		backwards := []model.Write{c.writes[len(c.writes)-1]}
		for i := len(c.writes) - 2; i >= 0; i-- {
			backwards = append(backwards, c.writes[i])
		}
		for _, writes := range [][]model.Write{c.writes, backwards} {
			got := model.Merge(writes...).Err.Error()
			for _, part := range c.want {
				if part == "write 1" && len(writes) > 0 && &writes[0] != &c.writes[0] {
					part = "write "
				}
				if !strings.Contains(got, part) {
					t.Errorf("%q lacks %q", got, part)
				}
			}
		}
	}
	p := model.MergePlans(model.NewPlan(updateOne(d("_id", 2), d("$set", d("a", 1))), up("$set", d("a", 1))),
		model.NewPlan(up("$set", d("b", 1))), model.NewPlan(clash))
	err := p.Err()
	for _, part := range []string{
		"step 2 of plan 1 with step 1 of plan 2 and step 1 of plan 3",
		"$set a conflicts with $inc a", "RunTx",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
}
