package advise

import "math"

// RunnersUp returns up to three other answers that a larger sample might lead to. It runs
// [Choose] for each end of each measured field's confidence interval. Pass r.Relation
// after you set the fields that only the application knows.
func (r SurveyResult) RunnersUp(relation Relation) []RunnerUp {
	chosen, ok := relation.answer()
	if !ok {
		return nil
	}
	var flips []found
	for _, end := range r.ends(relation) {
		if there, err := end.apply(relation); err == nil {
			if a, ok := there.answer(); ok && a != chosen {
				flips = append(flips, found{flip: Flip{end}, answer: a})
			}
		}
	}
	return runnersUp(relation, flips)
}

// ends are the ends of the measured intervals.
func (r SurveyResult) ends(relation Relation) (out []Change) {
	for _, m := range []struct {
		field string
		q     Quantile
	}{
		{"Parent.Has.Typical", r.PerParent.P50}, {"Parent.Has.P99", r.PerParent.P99}, {"Child.Has.Typical", r.PerChild.P50},
		{"Parent.Bytes", r.ParentBytes.P99}, {"Child.Bytes", r.ChildBytes.P99},
	} {
		from := *relation.at(m.field).(*int64)
		for _, to := range []int64{m.q.Low, m.q.High} {
			if to > 0 && to < math.MaxInt64 && to != from && from > 0 {
				out = append(out, Change{m.field, from, to})
			}
		}
	}
	if from := relation.Parent.Has.PerDay; from > 0 {
		for _, to := range []float64{r.Growth.Low, r.Growth.High} {
			if to != from && to > 0 {
				out = append(out, Change{"Parent.Has.PerDay", from, to})
			}
		}
	}
	return out
}
