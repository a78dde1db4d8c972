package advise

import (
	"fmt"
	"math"
)

// worst is the greatest and the typical number of documents of the other end.
type worst struct{ typical, p99, most int64 }

func (f *facts) checkCounts() error {
	var counts [2]worst
	for i, e := range f.ends() {
		if e.end.Has == (Count{}) {
			e.end.Has.Max = 1
			f.assume(e.name+".Has.Max", 1)
		}
		var err error
		if counts[i], err = f.count(e.name+".Has", &e.end.Has); err != nil {
			return err
		}
	}
	p, c := counts[0], counts[1]
	f.typical, f.p99, f.n, f.sharing, f.childP99, f.parents = p.typical, p.p99, p.most, c.typical, c.p99, c.most
	switch {
	case p.most > 1 && c.most > 1:
		f.shape = manyToMany
	case p.most > 1 || c.most > 1:
		f.shape = oneToMany
	}
	return nil
}

// count refuses contradicting counts, and fills in the others.
func (f *facts) count(name string, c *Count) (w worst, err error) {
	switch {
	case c.Typical < 0:
		return w, refuse(name+".Typical", c.Typical, "is negative: give 0 or more")
	case c.P99 < 0:
		return w, refuse(name+".P99", c.P99, "is negative: give 0 or more")
	case c.Max < 0:
		return w, refuse(name+".Max", c.Max, "must be at least 1, for else there is no relation")
	case c.Max > 0 && c.Typical > c.Max:
		return w, refuse(name+".Typical", c.Typical, fmt.Sprintf("is more than %s.Max, %d", name, c.Max))
	case c.Max > 0 && c.P99 > c.Max:
		return w, refuse(name+".P99", c.P99, fmt.Sprintf("is more than %s.Max, %d", name, c.Max))
	case c.P99 > 0 && c.P99 < c.Typical:
		return w, refuse(name+".P99", c.P99, fmt.Sprintf("is less than %s.Typical, %d", name, c.Typical))
	case !number(c.PerDay, 1e15):
		return w, refuse(name+".PerDay", c.PerDay, "must be a number of documents, or None")
	case !number(c.PerSecond, 1e15):
		return w, refuse(name+".PerSecond", c.PerSecond, "must be a number of documents, or None")
	case c.Days < 0 || math.IsNaN(c.Days) || c.Days > 1e6:
		return w, refuse(name+".Days", c.Days, "must be from 0 to 1,000,000 days")
	case c.Days > 0 && c.PerDay <= 0:
		return w, refuse(name+".Days", c.Days, "tells nothing without PerDay")
	case c.Unbounded && c.PerDay == None:
		return w, refuse(name+".PerDay", c.PerDay, "says that nothing is added, but the count is unbounded")
	case c.Fixed && c.Max == 0:
		return w, refuse(name+".Fixed", true, "needs Max, at which the application ends their number")
	case c.Fixed && c.AtLeast:
		return w, refuse(name+".Fixed", true, "contradicts AtLeast: a rule of the application is no sample")
	case c.Fixed && (c.Unbounded || c.PerDay > 0):
		return w, refuse(name+".Fixed", true, "contradicts Unbounded and PerDay")
	}
	return f.fillCount(name, c), nil
}

// fillCount fills in missing counts.
func (f *facts) fillCount(name string, c *Count) (w worst) {
	w.most, w.typical, w.p99 = c.Max, c.Typical, c.P99
	if w.most == 0 && !c.Unbounded {
		w.most = max(several(w.typical), w.p99)
		f.assume(name+".Max", float64(w.most))
	}
	if w.typical == 0 {
		w.typical = max(w.p99, w.most)
		if w.p99 > 0 {
			w.typical = w.p99
		}
		if w.typical == 0 {
			w.typical = ManyLimit + 1
		}
		w.typical = min(w.typical, mostCount)
		f.assume(name+".Typical", float64(w.typical))
	}
	if c.PerDay == 0 && !c.Unbounded && !c.Fixed && w.most > 1 {
		f.assume(name+".PerDay", 0)
	}
	today := w.most
	if c.PerDay > 0 {
		if c.Days == 0 {
			c.Days = defaultDays
			f.assume(name+".Days", c.Days)
		}
		w.most = plus(w.most, int64(min(math.Ceil(c.PerDay*c.Days), mostCount)))
	}
	if w.most = min(w.most, mostCount); c.Unbounded {
		w.most = unbounded
	}
	if w.typical = min(w.typical, mostCount); w.p99 == 0 {
		w.p99 = w.most
	}
	c.Max, c.Typical, c.P99 = today, w.typical, min(w.p99, mostCount)
	if c.Max > 0 {
		c.P99 = min(c.P99, c.Max)
	}
	c.PerDay, c.PerSecond = max(0, c.PerDay), max(0, c.PerSecond)
	return w
}

// several is the assumed greatest number for a typical number.
func several(typical int64) int64 { return min(max(1, times(5, typical)), mostCount) }
