package advise

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/model"
)

// decision is a choice in the making. Without want, nobody reads the reasons, and none are written.
type decision struct {
	*facts
	want    bool
	reasons []Reason

	bounded bool  // only the newest are kept
	n       int64 // how many children a parent would hold at most
	shared  bool  // a child has several parents
	large   bool  // there are too many children for their parent
	choice  Choice
}

// decide chooses: first whether the children are within their parent, then where the references are, then what is added.
func (f *facts) decide(want bool) *decision {
	d := &decision{facts: f, want: want, n: f.n, shared: f.parents > 1}
	if f.Newest.Drop && f.Newest.N < d.n {
		d.bounded, d.n = true, f.Newest.N
	}
	if d.embeds() {
		d.choice = Embed
		if d.bounded {
			d.choice |= Bounded
		}
		d.embedded()
		return d
	}
	d.bounded, d.n, d.large = false, f.n, d.large || f.n > FewLimit
	if d.pages() {
		d.choice = Bucket
	} else {
		d.choice = d.refers()
	}
	d.copies()
	d.newest()
	d.totals()
	d.folds()
	return d
}

// text is fmt.Sprintf, if anybody reads it.
func (d *decision) text(format string, args ...any) string {
	if !d.want {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (d *decision) say(rule Rule, figure, format string, args ...any) {
	if d.want {
		d.reasons = append(d.reasons, Reason{Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule})
	}
}

func (d *decision) but(rule Rule, figure, format string, args ...any) {
	if d.want {
		d.reasons = append(d.reasons, Reason{Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule, Against: true})
	}
}

// without says that the choice makes no use of a field of the relation, why, and what to do instead.
func (d *decision) without(field string, rule Rule, figure, format string, args ...any) {
	if d.want {
		d.reasons = append(d.reasons, Reason{Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule, Unused: field})
	}
}

// embeds decides whether the children are within their parent: unless something speaks against it.
func (d *decision) embeds() bool {
	hard := d.cannotEmbed()
	objections := d.objections()
	switch {
	case hard:
		for _, o := range objections {
			d.say(o.Rule, o.Figure, "%s", o.Text)
		}
		if d.Atomic {
			d.but(ruleAtomic, "", "parent and children can't change in one step: use a transaction")
		}
		return false
	case len(objections) > 0 && !d.Atomic:
		for _, o := range objections {
			d.say(o.Rule, o.Figure, "%s", o.Text)
		}
		return false
	}
	d.say(ruleEmbed, "1 command", "%s are read with their %s, and nothing compels to part them", d.Child, d.Parent)
	if d.ReadsPerWrite >= WriteLimit {
		d.say(ruleChange, d.text("read/write ratio %s ≥ 1", ratioText(d.ReadsPerWrite)), "they are not written more often than read")
	}
	what := "a parent has few %s, and no more than these"
	if d.bounded {
		what = "only the newest %s are kept, and the others dropped"
	}
	d.say(ruleArrays, d.text("at most %s ≤ %d", countText(d.n), FewLimit), what, d.Child)
	d.say(ruleLimit, d.sizeFigure(d.n, d.ChildBytes), "the largest of the %s fits a document", d.Parent)
	if d.Atomic {
		d.say(ruleAtomic, "1 atomic write", "parent and children change in one step")
	}
	for _, o := range objections {
		d.but(o.Rule, o.Figure, "%s", o.Text)
	}
	return true
}

// cannotEmbed says what makes embedding impossible or a mistake whatever else is wanted.
func (d *decision) cannotEmbed() bool {
	switch {
	case d.n == unbounded:
		d.large = true
		d.say(ruleArrays, "unbounded", "nothing ends the number of %s, and an array should not grow without bound", d.Child)
	case d.n > FewLimit:
		d.large = true
		d.say(ruleArrays, d.text("%s > %d", countText(d.n), FewLimit), "too many %s to embed%s", d.Child, d.growth())
	}
	if d.n != unbounded && !d.fits(d.n, d.ChildBytes) {
		d.large = true
		d.say(ruleLimit, d.sizeFigure(d.n, d.ChildBytes), "embedded, %s would not fit a document", d.Child)
	}
	if d.shared {
		d.say(ruleShared, d.upTo(d.parents, d.Parent), "one of the %s can belong to several: embedded, it would be in each of them, and change in each", d.Child)
	}
	return d.large || d.shared
}

// growth tells how the worst count comes about, if not at once.
func (d *decision) growth() string {
	c := d.Children
	if c.PerDay <= 0 || d.bounded {
		return ""
	}
	if c.Max == 0 {
		c.Max = tenTimes(c.Typical)
	}
	if c.Days == 0 {
		c.Days = defaultDays
	}
	rate := ratioText(c.PerDay)
	if c.PerDay < 1000 {
		rate = d.text("%.4g", c.PerDay) // it is multiplied by thousands
	}
	return d.text(": %s today and %s a day for %s days", countText(c.Max), rate, ratioText(c.Days))
}

// upTo is "up to 60 products".
func (d *decision) upTo(n int64, what string) string {
	if n == unbounded {
		return d.text("any number of %s", what)
	}
	return d.text("up to %s %s", countText(n), what)
}

// objections speak against embedding, but for atomicity.
func (d *decision) objections() (out []Reason) {
	if d.Standalone >= AccessLimit {
		out = append(out, Reason{d.text("some %s are looked up on their own", d.Child),
			d.text("%s of reads ≥ %s", percent(d.Standalone), percent(AccessLimit)), ruleStandalone, false, ""})
	}
	if d.ReadsPerWrite < WriteLimit {
		out = append(out, Reason{d.text("%s are written more often than they are read with their %s", d.Child, d.Parent),
			d.text("read/write ratio %s < 1", ratioText(d.ReadsPerWrite)), ruleAppended, false, ""})
	}
	if d.Together < AccessLimit {
		out = append(out, Reason{d.text("%s are seldom read with their %s", d.Parent, d.Child),
			d.text("%s of reads < %s", percent(d.Together), percent(AccessLimit)), ruleTogether, false, ""})
	}
	return out
}

// refers decides which side holds the reference: the one whose array stays bounded, and that is asked.
func (d *decision) refers() Choice {
	list := d.n <= ManyLimit && d.fits(d.n, d.IDBytes)
	back := d.parents <= ManyLimit && plus(arrayBytes(d.parents, d.IDBytes), d.ChildBytes) <= model.MaxDocument
	asked, listed := d.ToParent >= AccessLimit, d.Together >= AccessLimit
	d.say(ruleJoins, "1 command more", "a join by id and index costs little more than one on the server would")
	switch {
	case !list && d.shared && !back:
		d.say(ruleWhere, d.text("%s: %s; %s: %s", d.Child, d.listFigure(), d.Parent, d.backFigure()),
			"ids would outgrow both sides: each link is a document")
		return Links
	case !list:
		d.say(ruleWhere, d.listFigure(), "ids of %s would outgrow one of the %s, so one of the %s holds the id", d.Child, d.Parent, d.Child)
		return ParentRef
	case d.shared && !back:
		d.sayList()
		d.say(ruleWhere, d.backFigure(), "ids of %s would outgrow one of the %s; an index on the list finds them", d.Parent, d.Child)
		return ChildRefs
	case asked && listed && !d.Atomic:
		d.sayList()
		d.sayAsked()
		d.but(ruleTwoWay, "2 writes, not atomic", "a link is stored twice; a check and a repair belong to it")
		if d.shared {
			d.say(ruleNoJoin, "1 command less each way", "both sides list the other: no documents that only join")
		}
		return TwoWay
	case asked && (!listed || d.Atomic && (!d.shared || d.parents < d.n)):
		d.sayAsked()
		d.sayOneStep(listed)
		return ParentRef
	}
	d.sayList()
	if asked {
		d.sayOneStep(true)
	}
	return ChildRefs
}

func (d *decision) sayList() {
	if d.want {
		d.say(ruleWhere, d.listFigure(), "a list of ids in each of the %s stays bounded, and shows them in order", d.Parent)
	}
}

func (d *decision) sayAsked() {
	d.say(ruleAccess, d.text("%s of reads ≥ %s", percent(d.ToParent), percent(AccessLimit)), "%s are asked for their %s", d.Child, d.Parent)
}

func (d *decision) sayOneStep(both bool) {
	if d.Atomic && both {
		d.say(ruleTwoWay, "1 atomic write", "a link changes in one step if one side holds it; an index serves the other direction")
	}
}

// fits reports whether a parent with n elements of that size is a document.
func (d *decision) fits(n, each int64) bool {
	return n != unbounded && plus(d.ParentBytes, arrayBytes(n, each)) <= model.MaxDocument
}

func (d *decision) sizeFigure(n, each int64) string {
	if !d.want {
		return ""
	}
	what := countText(n) + " " + d.Child + " × " + bytesText(each)
	document := plus(d.ParentBytes, arrayBytes(n, each))
	if n == unbounded || document == math.MaxInt64 {
		return what + ", far beyond 16 MB"
	}
	return fmt.Sprintf("%s = %s, with the parent %s of 16 MB", what, bytesText(times(n, each)), bytesText(document))
}

// listFigure compares the list of children's ids with what a parent has room for.
func (d *decision) listFigure() string {
	switch {
	case !d.want:
		return ""
	case d.n > ManyLimit:
		return beyond(d.n)
	case !d.fits(d.n, d.IDBytes):
		return d.sizeFigure(d.n, d.IDBytes)
	}
	return d.text("%s ≤ %s; %s", countText(d.n), countText(ManyLimit), d.sizeFigure(d.n, d.IDBytes))
}

// backFigure says why the list of parents' ids outgrows a child.
func (d *decision) backFigure() string {
	if d.parents > ManyLimit {
		return beyond(d.parents)
	}
	return d.text("%s × %s, with the child more than 16 MB", countText(d.parents), bytesText(d.IDBytes))
}

// beyond is "3,830 > 3,000", or "unbounded".
func beyond(n int64) string {
	if n == unbounded {
		return "unbounded"
	}
	return countText(n) + " > " + countText(ManyLimit)
}

func percent(v float64) string { return fmt.Sprintf("%.3g %%", v*100) }

func ratioText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v >= 999.5 && v < 1e15:
		return countText(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.3g", v)
}
