package advise_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model/advise"
)

// A measured field whose true value may lie on the other side of a limit makes a runner-up, and one whose interval is
// within doesn't.
func TestSurveyRunnersUp(t *testing.T) {
	measured := rel{
		Parent: end{
			Name:  "posts",
			Has:   count{Typical: 20, Max: 100, PerDay: 0.5, Days: 200, AtLeast: true},
			Bytes: 500, Shows: 0.6,
		},
		Child: end{Name: "comments", Bytes: 400, Alone: none},
	}
	result := advise.SurveyResult{
		Relation:  measured,
		PerParent: advise.Spread{P50: advise.Quantile{Value: 20, Low: 18, High: 22}},
		Growth:    advise.Growth{PerDay: 0.5, Low: 0.3, High: 1.2},
	}
	up := result.RunnersUp(measured)
	if len(up) != 1 || up[0].Choice != advise.ParentRef || fmt.Sprint(up[0].Flips) != "[Parent.Has.PerDay 0.5 → 1.2]" {
		t.Errorf("%+v", up)
	}
	result.Growth.High = 0.9
	if up := result.RunnersUp(measured); len(up) != 0 {
		t.Errorf("%+v", up)
	}
	result.PerParent.P50.High = 150 // of which most reads would carry what they don't show
	measured.Parent.Has.Max = 200
	measured.Parent.Has.PerDay, measured.Parent.Has.Days = 0, 0
	if up := result.RunnersUp(measured); len(up) != 1 || fmt.Sprint(up[0].Flips) != "[Parent.Has.Typical 20 → 150]" {
		t.Errorf("%+v", up)
	}
	if up := result.RunnersUp(rel{}); up != nil {
		t.Errorf("%+v", up)
	}
}
