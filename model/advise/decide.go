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
		return d
	}
	d.bounded, d.n, d.large = false, f.n, d.large || f.n > FewLimit
	d.choice = d.refers()
	d.pages()
	d.copies()
	d.newest()
	d.totals()
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
		d.say(ruleShared, d.text("up to %s %s", countText(d.parents), d.Parent), "one of the %s can belong to several: embedded, it would be in each of them, and change in each", d.Child)
	}
	return d.large || d.shared
}

// growth tells how the worst count comes about, if not at once.
func (d *decision) growth() string {
	if c := d.Children; c.PerDay > 0 {
		days := c.Days
		if days == 0 {
			days = defaultDays
		}
		return d.text(": %s today and %.4g a day for %.4g days", countText(c.Max), c.PerDay, days)
	}
	return ""
}

// objections speak against embedding, but for atomicity.
func (d *decision) objections() (out []Reason) {
	if d.Standalone >= AccessLimit {
		out = append(out, Reason{d.text("some %s are looked up on their own", d.Child),
			d.text("%s of reads ≥ %s", percent(d.Standalone), percent(AccessLimit)), ruleStandalone, false})
	}
	if d.ReadsPerWrite < WriteLimit {
		out = append(out, Reason{d.text("%s are written more often than they are read with their %s", d.Child, d.Parent),
			d.text("read/write ratio %s < 1", ratioText(d.ReadsPerWrite)), ruleAppended, false})
	}
	if d.Together < AccessLimit {
		out = append(out, Reason{d.text("%s are seldom read with their %s", d.Parent, d.Child),
			d.text("%s of reads < %s", percent(d.Together), percent(AccessLimit)), ruleTogether, false})
	}
	return out
}

// refers decides which side holds the reference: the one whose array stays bounded, and that is asked.
func (d *decision) refers() Choice {
	list := d.n <= ManyLimit && d.fits(d.n, d.IDBytes)
	back := d.parents <= ManyLimit && ArrayBytes(d.parents, d.IDBytes)+d.ChildBytes <= model.MaxDocument
	asked, listed := d.ToParent >= AccessLimit, d.Together >= AccessLimit
	d.say(ruleJoins, "1 command more", "a join by id and index costs little more than one on the server would")
	switch {
	case !list && d.shared && !back:
		d.say(ruleWhere, d.text("%s and %s > %s", countText(d.n), countText(d.parents), countText(ManyLimit)),
			"ids would outgrow both sides: each link is a document")
		return Links
	case !list:
		d.say(ruleWhere, d.listFigure(), "ids of %s would outgrow one of the %s, so one of the %s holds the id", d.Child, d.Parent, d.Child)
		return ParentRef
	case d.shared && !back:
		d.sayList()
		d.say(ruleWhere, d.text("%s > %s", countText(d.parents), countText(ManyLimit)),
			"ids of %s would outgrow one of the %s; an index on the list finds them", d.Parent, d.Child)
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

// pages decides whether children that outgrow their parent are stored by the page.
func (d *decision) pages() {
	if d.Page == 0 || d.shared || !d.large || d.Standalone >= AccessLimit {
		return
	}
	if d.Page > ManyLimit || d.Page*(d.ChildBytes+2) > model.MaxDocument/2 {
		d.but(rulePages, d.pageFigure(), "a page would be too large for a document")
		return
	}
	d.choice = Bucket
	d.say(rulePages, d.pageFigure(), "%s are read by the page: a document for each", d.Child)
}

func (d *decision) pageFigure() string {
	return d.text("%s × %s", countText(d.Page), bytesText(d.ChildBytes))
}

// copies decides which fields are stored where they are shown.
func (d *decision) copies() {
	s := d.choice
	if c := d.IntoParent; c.Fields != "" && (s == ChildRefs || s == TwoWay || s == Links) {
		fits := s == Links || d.fits(d.n, copyBytes(d.IDBytes, c.Bytes))
		if d.copyPays(c, d.Parent, d.sharing) && d.sayFits(fits, c) {
			d.choice |= CopyIntoParent
		}
	}
	if c := d.IntoChild; c.Fields != "" && s != ChildRefs {
		if d.copyPays(c, d.Child, d.typical) {
			d.choice |= CopyIntoChild
			if c.Whole && s == ParentRef && !d.shared {
				d.choice |= Fold
				d.say(ruleFold, "1 collection less", "%s are all that is kept of the %s: they need no documents", c.Fields, d.Parent)
			}
		}
	}
	if d.choice.Has(Links | CopyIntoParent | CopyIntoChild) {
		d.say(ruleWide, "1 command each way", "rows by either id, with copied names, are read from both ends")
	}
}

// copyPays says whether copies are worth it that many documents hold.
func (d *decision) copyPays(c Copied, in string, holders int64) bool {
	need := max(CopyLimit, float64(holders))
	switch {
	case c.Strong:
		d.say(ruleTwoWay, "0 ms allowed", "no copy of %s: readers would see an old value until a second write", c.Fields)
		return false
	case c.ReadsPerChange < need:
		d.say(ruleRatio, d.text("reads/change %s < %s", ratioText(c.ReadsPerChange), ratioText(need)),
			"no copy of %s in %s: they change too often for as many documents", c.Fields, in)
		return false
	}
	d.say(ruleRatio, d.text("reads/change %s ≥ %s, copies of one %s", ratioText(c.ReadsPerChange), ratioText(need), countText(holders)),
		"a copy of %s in %s saves their reads a command", c.Fields, in)
	d.but(ruleTwoWay, "2 writes, not atomic", "copies of %s are old for a moment after a change", c.Fields)
	return true
}

func (d *decision) sayFits(fits bool, c Copied) bool {
	if !fits {
		d.say(ruleLimit, d.sizeFigure(d.n, copyBytes(d.IDBytes, c.Bytes)), "no copy of %s: with them the list would not fit", c.Fields)
	}
	return fits
}

// copyBytes is the size of {id, …} in a list.
func copyBytes(id, fields int64) int64 { return 5 + 1 + 3 + id + fields }

// newest decides whether the newest children are in the parent as well.
func (d *decision) newest() {
	n := d.Newest.N
	if n == 0 || d.shared || d.choice.Structure() == ChildRefs {
		return
	}
	figure := d.text("read/write ratio %s", ratioText(d.newestRatio))
	switch {
	case n > ManyLimit || !d.fits(n, d.ChildBytes):
		d.say(ruleArrays, d.sizeFigure(n, d.ChildBytes), "the newest %s are too many for their parent", countText(n))
	case d.newestRatio < WriteLimit:
		d.say(ruleNewest, figure+" < 1", "the newest %s are not kept in their parent: they change more often than they are looked at", countText(n))
	default:
		d.choice |= Subset
		d.say(ruleNewest, figure+" ≥ 1", "the newest %s are in their parent too, and shown with it by 1 command", countText(n))
	}
}

// totals decides whether a number is kept that could be computed.
func (d *decision) totals() {
	switch figure := d.text("reads/change %s", ratioText(d.aTotals)); {
	case d.aTotals == 0:
	case d.aTotals < CopyLimit:
		d.say(ruleComputed, figure+" < 10", "no number of %s is kept: it changes too often", d.Child)
	default:
		d.choice |= Counter
		d.say(ruleComputed, figure+" ≥ 10", "a number made of the %s is kept in their parent: computed when written, not when read", d.Child)
	}
}

// fits reports whether a parent with n elements of that size is a document.
func (d *decision) fits(n, each int64) bool {
	return n != unbounded && d.ParentBytes+ArrayBytes(n, each) <= model.MaxDocument
}

func (d *decision) sizeFigure(n, each int64) string {
	if !d.want {
		return ""
	}
	what := countText(n) + " " + d.Child + " × " + bytesText(each)
	array := ArrayBytes(n, each)
	if n == unbounded || array > math.MaxInt64-d.ParentBytes {
		return what + ", far beyond 16 MB"
	}
	return fmt.Sprintf("%s = %s, with the parent %s of 16 MB", what, bytesText(n*each), bytesText(array+d.ParentBytes))
}

func (d *decision) listFigure() string {
	switch {
	case !d.want:
		return ""
	case d.n == unbounded:
		return "unbounded"
	case d.n > ManyLimit:
		return d.text("%s > %s", countText(d.n), countText(ManyLimit))
	}
	return d.text("%s ≤ %s; %s", countText(d.n), countText(ManyLimit), d.sizeFigure(d.n, d.IDBytes))
}

func percent(v float64) string { return fmt.Sprintf("%.3g %%", v*100) }

func ratioText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v >= 1000 && v < 1e15:
		return countText(int64(v))
	}
	return fmt.Sprintf("%.3g", v)
}
