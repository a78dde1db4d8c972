package advise

import (
	"fmt"
	"math"
)

// growth explains a worst count that is reached over time.
func (d *decision) growth() string {
	c := d.Parent.Has
	if c.PerDay <= 0 || d.bounded {
		return ""
	}
	rate := ratioText(c.PerDay)
	if c.PerDay < 1000 {
		rate = d.text("%.4g", c.PerDay) // it is multiplied by thousands
	}
	return d.text(": %s today and %s a day for %s days", countText(c.Max), rate,
		d.mark(ratioText(c.Days), "Parent.Has.Days"))
}

// worstText is the greatest number of children of a parent.
func (d *decision) worstText() string {
	if d.bounded {
		return countText(d.kept)
	}
	if d.Parent.Has.AtLeast {
		return "at least " + countText(d.kept) + " (sampled)"
	}
	return d.mark(countText(d.kept), "Parent.Has.Max")
}

func (d *decision) countFigure(limit int64) string {
	if d.Parent.Has.AtLeast {
		return d.text("%s ≤ %s", d.worstText(), countText(limit))
	}
	return d.text("at most %s ≤ %s", d.worstText(), countText(limit))
}

// arrayFigure compares the children's array with its limit.
func (d *decision) arrayFigure() string {
	what := d.mark(d.text("%s × %s", d.worstText(), bytesText(d.Child.Bytes)), "Child.Bytes")
	return d.text("%s = %s > %s", what, bytesText(arrayBytes(d.kept, d.Child.Bytes)), bytesText(ArrayLimit))
}

// upTo returns "up to 60 products".
func (d *decision) upTo(n int64, what string) string {
	if n == unbounded {
		return d.text("any number of %s", what)
	}
	return d.text("up to %s %s", countText(n), what)
}

// sizeFigure compares n elements of that size with a document's limit.
func (d *decision) sizeFigure(n, each int64, from ...string) string {
	if !d.want {
		return ""
	}
	count := countText(n)
	if n == d.kept {
		count = d.worstText()
	}
	what := d.mark(count+" "+d.Child.Name+" × "+bytesText(each), from...)
	document := plus(d.Parent.Bytes, arrayBytes(n, each))
	if n == unbounded || document == math.MaxInt64 {
		return what + ", far beyond 16 MB"
	}
	return fmt.Sprintf("%s = %s, with the parent %s of 16 MB", what, bytesText(times(n, each)),
		d.mark(bytesText(document), "Parent.Bytes"))
}

// listFigure compares a list of ids in one end with its limit.
func (d *decision) listFigure(n, each int64) string {
	switch {
	case !d.want:
		return ""
	case n > ManyLimit:
		return beyond(n)
	case arrayBytes(n, each) > ArrayLimit:
		return fmt.Sprintf("%s × %s = %s > %s", countText(n), bytesText(each),
			bytesText(arrayBytes(n, each)), bytesText(ArrayLimit))
	}
	return fmt.Sprintf("%s × %s = %s; %s ≤ %s", countText(n), bytesText(each), bytesText(arrayBytes(n, each)),
		countText(n), countText(ManyLimit))
}

// beyond returns "3,830 > 3,000", or "unbounded".
func beyond(n int64) string {
	if n == unbounded {
		return "unbounded"
	}
	return countText(n) + " > " + countText(ManyLimit)
}
