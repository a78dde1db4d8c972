package advise

import (
	"fmt"
	"math"
)

// conclude computes the result.
func (r *surveying) conclude() {
	var counts, parentBytes, childBytes []int64
	var idBytes int64
	for _, f := range r.perParent {
		counts = append(counts, f.n)
	}
	for _, d := range r.parentDocs {
		own := d.Bytes
		if r.spec.Embedded != "" {
			// The array without the 5 bytes of an empty one. Measured arrays have 8 bytes more.
			own -= max(0, d.Array-13)
			if d.Items > 0 {
				childBytes = append(childBytes, d.Most-8)
			}
		}
		parentBytes = append(parentBytes, own)
		if r.spec.Ref != "" {
			idBytes = max(idBytes, int64(len(d.ID.Value)))
		}
	}
	for _, d := range r.childDocs {
		childBytes = append(childBytes, d.Bytes)
		if r.spec.List != "" {
			idBytes = max(idBytes, int64(len(d.ID.Value)))
		}
	}
	p, c, sure := r.result.Parents, r.result.Children, r.spec.Confidence
	r.result.PerParent, r.result.ParentBytes = spreadOf(counts, p.Of, sure), spreadOf(parentBytes, p.Of, sure)
	if r.spec.Embedded != "" {
		r.result.ChildBytes = spreadOf(childBytes, share(int64(len(childBytes)), p), sure)
	} else {
		r.result.ChildBytes = spreadOf(childBytes, c.Of, sure)
		r.result.PerChild = spreadOf(r.perChild, share(int64(len(r.perChild)), c), sure)
	}
	r.fill(idBytes)
}

// share scales a part of the sample to the whole.
func share(n int64, s Share) int64 {
	if s.N == 0 {
		return n
	}
	return max(n, int64(float64(n)/float64(s.N)*float64(s.Of)))
}

// fill fills in the relation.
func (r *surveying) fill(idBytes int64) {
	out := &r.result
	rel := &out.Relation
	switch {
	case r.spec.Embedded != "":
		rel.Now = Embed
	case r.spec.List != "":
		rel.Now = ChildRefs
	default:
		rel.Now = ParentRef
	}
	rel.Parent.Name, rel.Child.Name = r.parents.name, r.children.name
	if r.spec.Embedded != "" {
		rel.Child.Name = r.spec.Embedded
	}
	most := func(s Spread) string {
		if s.isWhole() {
			return "the most of " + s.Share.sampledText()
		}
		return "at least, the most of " + s.Share.sampledText()
	}
	set := func(field string, v int64, how string) {
		if v > 0 {
			*rel.at(field).(*int64) = v
			out.Measured = append(out.Measured, Measure{field, v, how})
		}
	}
	idField := "Child.IDBytes"
	if r.spec.Ref != "" {
		idField = "Parent.IDBytes"
	}
	p99 := max(out.PerParent.P99.Value, out.PerParent.P50.Value)
	if p99 >= out.PerParent.Max {
		p99 = 0 // the greatest value implies it
	}
	set("Parent.Has.Typical", max(min(1, out.PerParent.Max), out.PerParent.P50.Value),
		"p50 of "+out.PerParent.Share.sampledText())
	set("Parent.Has.Max", out.PerParent.Max, most(out.PerParent))
	set("Parent.Has.P99", p99, "p99 of "+out.PerParent.Share.sampledText())
	rel.Parent.Has.AtLeast = !out.PerParent.isWhole()
	rel.Child.Has.AtLeast = out.PerChild.N > 0 && !out.PerChild.isWhole()
	set("Child.Has.Typical", out.PerChild.P50.Value, "p50 of "+out.PerChild.Share.sampledText())
	set("Child.Has.Max", out.PerChild.Max, most(out.PerChild))
	set("Parent.Bytes", out.ParentBytes.P99.Value, "p99 of "+out.ParentBytes.Share.sampledText())
	set("Child.Bytes", out.ChildBytes.P99.Value, "p99 of "+out.ChildBytes.Share.sampledText())
	set(idField, idBytes, "the longest that was read")
	if g := out.Growth; g.PerDay > 0 {
		rel.Parent.Has.PerDay, rel.Parent.Has.Days = g.PerDay, r.ahead()
		out.Measured = append(out.Measured, Measure{"Parent.Has.PerDay", g.PerDay, fmt.Sprintf(
			"%s to %s, by what came to %s parents in the last %s days", ratioText(g.Low), ratioText(g.High),
			countText(g.Parents), ratioText(g.Days))},
			Measure{"Parent.Has.Days", rel.Parent.Has.Days, "as long again as children have been added"})
	}
}

// ahead is the number of days for which growth is expected: as long as children have been
// added so far, at most the default of ten years.
func (r *surveying) ahead() float64 {
	first, last := r.between()
	days := math.Round(float64(last.Sub(*first)) / float64(day))
	return min(max(days, r.result.Growth.Days), defaultDays)
}
