package advise

import (
	"fmt"
	"math"
	"slices"

	"github.com/docmodel/docmodel/model"
)

// decision is a choice in the making. Without want, it writes no reasons.
type decision struct {
	*facts
	want    bool
	reasons []Reason

	bounded bool  // only the newest are kept
	kept    int64 // the greatest number of children of a parent
	large   bool  // too many children for their parent
	choice  Choice
}

// An answer is the result of a decision. Equal answers store the same documents.
type answer struct {
	choice Choice
	turned bool // the parent is the end that the relation calls Child
}

// decide chooses whether to embed, then where the references are, then the additions.
func (f *facts) decide(want bool) *decision {
	turning := *f // the decision may turn the ends
	f = &turning
	d := &decision{facts: f, want: want, kept: f.n}
	if f.Tree.Nodes > 0 {
		d.tree()
		return d
	}
	if f.Child.Newest.Drop && f.Child.Newest.N < d.kept {
		d.bounded, d.kept = true, f.Child.Newest.N
	}
	switch {
	case f.Child.Value && d.values():
		d.choice = Values
	case d.embeds():
		d.choice = Embed
	case d.outlier():
		d.choice = Outlier
	}
	if d.choice != 0 && d.bounded {
		d.choice |= Bounded
	}
	if d.choice == 0 {
		d.bounded, d.kept, d.large = false, f.n, d.large || f.n > FewLimit
		if d.choice = Bucket; !d.pages() {
			d.choice = d.refers()
		}
		d.copies()
		d.newest()
		d.canonical()
		d.totals()
		d.folds()
	} else {
		d.embedded()
	}
	d.kinds()
	d.remembered()
	d.spreads()
	d.expires()
	d.parentsShown()
	return d
}

func (d *decision) answer() answer { return answer{d.choice, d.turned} }

// canonical makes the end with the first name the parent, if both ends store the same.
func (d *decision) canonical() {
	if s := d.choice.Structure(); d.shape != manyToMany || s != TwoWay && s != Links {
		return
	}
	first, second := d.Parent.Name, d.Child.Name
	if d.turned {
		first, second = second, first
	}
	wanted := first > second && first != "parents" && second != "children"
	if d.turned != wanted {
		d.swap()
		d.choice = d.choice.turned()
	}
}

// text is fmt.Sprintf, or "" without want.
func (d *decision) text(format string, args ...any) string {
	if !d.want {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (d *decision) say(rule string, figure, format string, args ...any) {
	if d.want {
		d.reasons = append(d.reasons, Reason{Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule})
	}
}

func (d *decision) but(rule string, figure, format string, args ...any) {
	if d.want {
		d.reasons = append(d.reasons, Reason{Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule, Against: true})
	}
}

// explain gives the reason why a field of the relation isn't used, and an alternative.
// Only the first reason for a field counts.
func (d *decision) explain(field, rule, figure, format string, args ...any) {
	told := func(r Reason) bool { return r.Unused == d.field(field) }
	if d.want && !slices.ContainsFunc(d.reasons, told) {
		d.reasons = append(d.reasons, Reason{
			Text: fmt.Sprintf(format, args...), Figure: figure, Rule: rule, Unused: d.field(field),
		})
	}
}

// mark marks a figure's text if one of its fields is assumed.
func (d *decision) mark(text string, fields ...string) string {
	if !d.want {
		return ""
	}
	for _, field := range fields {
		if d.isAssumed(field) {
			return text + " (assumed)"
		}
	}
	return text
}

// values decides whether plain values are an array in their parent.
func (d *decision) values() bool {
	limit := int64(ManyLimit)
	switch {
	case d.kept > limit:
		d.large = true
		d.say(ruleArrays, beyond(d.kept), "too many %s for an array%s", d.Child.Name, d.growth())
		return false
	case arrayBytes(d.kept, d.Child.Bytes) > ArrayLimit:
		d.large = true
		d.say(ruleWorking, d.arrayFigure(), "an array of %s would be read with every read of one of the %s",
			d.Child.Name, d.Parent.Name)
		return false
	case d.hot() && d.kept > 1 && !d.Atomic:
		d.large = true
		d.sayHot()
		return false
	}
	d.say(ruleValues, d.countFigure(limit),
		"%s are values without an identity, and stay in the document that they describe", d.Child.Name)
	if d.Child.Alone >= AccessLimit || d.Child.Shows >= AccessLimit {
		d.say(ruleAccess, "1 index", "an index on the array finds %s by a value", d.Parent.Name)
	}
	return true
}

// embeds decides whether the children are within their parent. They are, without an
// objection.
func (d *decision) embeds() bool {
	if d.Child.Value {
		return false // too many for their parent
	}
	hard := d.cannotEmbed()
	objections := d.objections()
	if hard || len(objections) > 0 && !d.Atomic {
		for _, o := range objections {
			d.say(o.Rule, o.Figure, "%s", o.Text)
		}
		if d.Atomic {
			d.but(ruleAtomic, "", "parent and children can't change in one step: use a transaction")
		}
		return false
	}
	rule := ruleEmbed
	if d.shape == oneToOne {
		rule = ruleOneToOne
	}
	d.say(rule, "1 command", "%s are read with their %s, and nothing compels to part them", d.Child.Name, d.Parent.Name)
	if d.ReadsPerAdd >= WriteLimit {
		d.say(ruleChange, d.mark("read/write ratio "+ratioText(d.ReadsPerAdd), "ReadsPerAdd")+" ≥ 1",
			"%s are not written more often than read", d.Child.Name)
	}
	switch {
	case d.bounded:
		d.say(ruleArrays, d.text("at most %s ≤ %d", countText(d.kept), FewLimit),
			"only the newest %s are kept, and the others dropped", d.Child.Name)
	case d.kept > FewLimit:
		d.say(ruleArrays, d.text("%s × %s ≤ %s", countText(d.kept), bytesText(d.Child.Bytes), bytesText(WasteLimit)),
			"a parent has no more %s than a rule allows, and all are small", d.Child.Name)
	case d.shape == oneToMany:
		d.say(ruleArrays, d.countFigure(FewLimit), "a parent has few %s, and no more than these", d.Child.Name)
	}
	d.say(ruleLimit, d.sizeFigure(d.kept, d.Child.Bytes, "Child.Bytes"),
		"the largest of the %s stays small", d.Parent.Name)
	if d.Atomic {
		d.say(ruleAtomic, "1 atomic write", "parent and children change in one step")
	}
	for _, o := range objections {
		d.but(o.Rule, o.Figure, "%s", o.Text)
	}
	return true
}

// cannotEmbed reports whether embedding is impossible, or wrong in any case, and says
// why.
func (d *decision) cannotEmbed() bool {
	switch {
	case d.kept == unbounded:
		d.large = true
		d.say(ruleArrays, "unbounded",
			"nothing ends the number of %s, and an array should not grow without bound", d.Child.Name)
	case d.kept > FewLimit && !d.small():
		d.large = true
		d.say(ruleArrays, d.text("%s > %d", d.worstText(), FewLimit), "too many %s to embed%s", d.Child.Name, d.growth())
	case d.shape != oneToOne && arrayBytes(d.kept, d.Child.Bytes) > ArrayLimit:
		d.large = true
		d.say(ruleWorking, d.arrayFigure(), "embedded, %s would be read with every read of one of the %s",
			d.Child.Name, d.Parent.Name)
	}
	if d.kept != unbounded && !d.fits(d.kept, d.Child.Bytes) {
		d.large = true
		d.say(ruleLimit, d.sizeFigure(d.kept, d.Child.Bytes, "Child.Bytes"),
			"embedded, %s would not fit a document", d.Child.Name)
	}
	if d.shape == manyToMany {
		d.say(ruleShared, d.upTo(d.parents, d.Parent.Name),
			"one of the %s can belong to several: embedded, it would be in each of them, and change in each", d.Child.Name)
	}
	return d.large || d.shape == manyToMany
}

// small reports whether the children have few bytes together, and a fixed bound.
func (d *decision) small() bool {
	return d.Parent.Has.Fixed && d.kept <= ManyLimit && arrayBytes(d.kept, d.Child.Bytes) <= WasteLimit
}

// objections returns the reasons against embedding, except atomicity.
func (d *decision) objections() (out []Reason) {
	object := func(rule string, figure, format string, args ...any) {
		out = append(out, Reason{Text: d.text(format, args...), Figure: figure, Rule: rule})
	}
	p, c := d.Parent.Name, d.Child.Name
	if d.Child.Alone >= AccessLimit {
		object(ruleStandalone, d.mark(percent(d.Child.Alone)+" of reads", "Child.Alone")+" ≥ "+percent(AccessLimit),
			"some %s are looked up on their own", c)
	}
	if d.ReadsPerAdd < WriteLimit {
		object(ruleAppended, d.mark("read/write ratio "+ratioText(d.ReadsPerAdd), "ReadsPerAdd")+" < 1",
			"%s are added more often than they are read with their %s", c, p)
	}
	if d.Child.ReadsPerChange < WriteLimit {
		object(ruleChange, d.mark("reads/change "+ratioText(d.Child.ReadsPerChange), "Child.ReadsPerChange")+" < 1",
			"%s change more often than they are read", c)
	}
	if d.Parent.Shows < AccessLimit {
		object(ruleTogether, d.mark(percent(d.Parent.Shows)+" of reads", "Parent.Shows")+" < "+percent(AccessLimit),
			"%s are seldom read with their %s", p, c)
	} else if waste := (1 - d.Parent.Shows) * float64(arrayBytes(min(d.typical, d.kept),
		d.Child.Bytes)); waste > WasteLimit {
		object(ruleWorking,
			d.mark(bytesText(int64(waste))+" a read", "Parent.Shows", "Child.Bytes", "Parent.Has.Typical")+
				" > "+bytesText(WasteLimit),
			"most reads of %s would carry %s that they don't show", p, c)
	}
	if d.hot() {
		object(ruleHot, d.hotFigure(), "one of the %s would be written too often", p)
	}
	return out
}

// hot reports whether a parent gains children too fast for one document.
func (d *decision) hot() bool { return d.Parent.Has.PerSecond > HotLimit }

func (d *decision) hotFigure() string {
	return d.text("%s writes a second > %d", ratioText(d.Parent.Has.PerSecond), HotLimit)
}

func (d *decision) sayHot() {
	d.say(ruleHot, d.hotFigure(), "one of the %s would be written too often", d.Parent.Name)
}

// outlier decides whether only the few largest parents have overflow documents.
func (d *decision) outlier() bool {
	if d.shape != oneToMany || d.Atomic || d.Child.Value || d.bounded || !d.large ||
		d.p99 > FewLimit || d.Child.Page > 0 ||
		arrayBytes(d.p99, d.Child.Bytes) > ArrayLimit || !d.fits(d.p99, d.Child.Bytes) || len(d.objections()) > 0 {
		return false
	}
	d.say(ruleOutlier, d.text("99 in 100 have at most %s ≤ %d", countText(d.p99), FewLimit),
		"only few of the %s outgrow their document: the rest of those overflows", d.Parent.Name)
	return true
}

// fits reports whether a parent with n elements of that size fits a document.
func (d *decision) fits(n, each int64) bool {
	return n != unbounded && plus(d.Parent.Bytes, arrayBytes(n, each)) <= model.MaxDocument
}

// listed reports whether a list of n ids stays small.
func (d *decision) listed(n, each int64) bool {
	return n <= ManyLimit && d.fits(n, each) && arrayBytes(n, each) <= ArrayLimit
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
