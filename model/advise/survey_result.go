package advise

import (
	"time"
)

const day = 24 * time.Hour

// conclude makes the result of what was read.
func (r *surveying) conclude() {
	var counts, parentBytes, childBytes []int64
	var idBytes int64
	for _, f := range r.perParent {
		counts = append(counts, f.n)
	}
	for _, d := range r.parentDocs {
		own := d.Bytes
		if r.spec.Embedded != "" {
			own -= max(0, d.Array-13) // the array without the 5 bytes that it has when it is empty
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

// share is of how many a part of the sample is the sample.
func share(n int64, s Sampled) int64 {
	if s.N == 0 {
		return n
	}
	return max(n, int64(float64(n)/float64(s.N)*float64(s.Of)))
}

// fill fills in the relation.
func (r *surveying) fill(idBytes int64) {
	out := &r.result
	rel := &out.Relation
	rel.Parent, rel.Child = r.parents.name, r.children.name
	if r.spec.Embedded != "" {
		rel.Child = r.spec.Embedded
	}
	most := func(s Spread) string {
		if s.Whole() {
			return "the most of " + s.Sampled.String()
		}
		return "at least, the most of " + s.Sampled.String()
	}
	set := func(field string, v int64, how string) {
		if v > 0 {
			*rel.at(field).(*int64) = v
			out.Measured = append(out.Measured, Measure{field, v, how})
		}
	}
	set("Children.Typical", max(min(1, out.PerParent.Max), out.PerParent.P50.Value), "p50 of "+out.PerParent.Sampled.String())
	set("Children.Max", out.PerParent.Max, most(out.PerParent))
	set("Parents.Typical", out.PerChild.P50.Value, "p50 of "+out.PerChild.Sampled.String())
	set("Parents.Max", out.PerChild.Max, most(out.PerChild))
	set("ParentBytes", out.ParentBytes.P99.Value, "p99 of "+out.ParentBytes.Sampled.String())
	set("ChildBytes", out.ChildBytes.P99.Value, "p99 of "+out.ChildBytes.Sampled.String())
	set("IDBytes", idBytes, "the longest that was read")
	r.growth()
}

// growth is told by the times of the children: how many a day are added in all, and to the parent that gains most.
func (r *surveying) growth() {
	out := &r.result
	var first, last *time.Time
	within := func(a, b *time.Time) {
		if a != nil && (first == nil || a.Before(*first)) {
			first = a
		}
		if b != nil && (last == nil || b.After(*last)) {
			last = b
		}
	}
	for _, f := range r.perParent {
		within(f.first, f.last)
	}
	if r.spec.Embedded == "" {
		first, last = nil, nil // what lists ids tells when the children were made, as the children themselves do
		for _, d := range r.childDocs {
			within(d.At, d.At)
		}
	}
	if first == nil || last.Sub(*first) < day {
		return // made at once, as by an import: nothing tells
	}
	out.Daily = float64(out.Children.Of) / (float64(last.Sub(*first)) / float64(day))
	most, told := 0.0, 0
	for _, f := range r.perParent {
		if f.first == nil || f.last == nil || f.last.Sub(*f.first) < day {
			continue
		}
		told++
		until := *f.last
		if last.After(until) {
			until = *last
		}
		most = max(most, float64(f.n-1)/(float64(until.Sub(*f.first))/float64(day)))
	}
	if told == 0 {
		return
	}
	out.Relation.Children.PerDay = most
	out.Measured = append(out.Measured, Measure{"Children.PerDay", most,
		"by the times of the children of " + countText(int64(told)) + " parents, from the first to the latest of all"})
}
