package advise

import "github.com/docmodel/docmodel/model"

// embedded says what is not needed where the children are within their parent.
func (d *decision) embedded() {
	if d.IntoParent.Fields != "" {
		d.without("IntoParent", ruleEmbed, "", "%s are in their %s with all of their fields", d.Child, d.Parent)
	}
	if d.IntoChild.Fields != "" {
		d.without("IntoChild", ruleEmbed, "", "%s are read in their %s, and its fields with them", d.Child, d.Parent)
	}
	if d.Newest.N > 0 && !d.bounded {
		d.without("Newest", ruleEmbed, "", "all %s are in their parent: show the newest of them by $slice", d.Child)
	}
	if d.Page > 0 {
		d.without("Page", ruleEmbed, "", "all %s are in one document: show a page of them by $slice", d.Child)
	}
	if d.aTotals > 0 {
		d.without("TotalReadsPerChange", ruleEmbed, "", "a number of %s is computed in the one document that has them all", d.Child)
	}
}

// pages decides whether children that outgrow their parent are stored by the page.
func (d *decision) pages() bool {
	figure := d.text("%s × %s", countText(d.Page), bytesText(d.ChildBytes))
	switch {
	case d.Page == 0:
		return false
	case d.shared:
		d.without("Page", rulePages, "", "%s of several %s are on no one's page: read pages by an index and a limit", d.Child, d.Parent)
	case d.Standalone >= AccessLimit:
		d.without("Page", rulePages, "", "%s are looked up on their own, not by the page: read pages by an index and a limit", d.Child)
	case !d.large:
		d.without("Page", rulePages, d.text("at most %s", countText(d.n)), "%s are few enough to be read without pages", d.Child)
	case d.Page > ManyLimit || times(d.Page, d.ChildBytes+2) > model.MaxDocument/2:
		d.without("Page", rulePages, figure, "a page would be too large for a document: make it smaller")
	default:
		d.say(rulePages, figure, "%s are read by the page: a document for each", d.Child)
		return true
	}
	return false
}

// copies decides which fields are stored where they are shown.
func (d *decision) copies() {
	s := d.choice
	if c := d.IntoParent; c.Fields != "" {
		size := copyBytes(d.IDBytes, c.Bytes)
		switch {
		case s == ParentRef || s == Bucket:
			d.without("IntoParent", ruleCopy, "", "%s don't list their %s, and have no place for copies: show the newest of them by Newest", d.Parent, d.Child)
		case s != Links && !d.fits(d.n, size):
			d.without("IntoParent", ruleLimit, d.sizeFigure(d.n, size), "no copy of %s: with them the list would not fit", c.Fields)
		case d.copyPays("IntoParent", c, d.Parent, d.sharing):
			d.choice |= CopyIntoParent
		}
	}
	if c := d.IntoChild; c.Fields != "" {
		switch {
		case s == ChildRefs:
			d.without("IntoChild", ruleCopy, "", "%s don't refer to their %s, and have no place for copies: an index on the list finds the parent", d.Child, d.Parent)
		case !d.fitsChild(s, c.Bytes):
			d.without("IntoChild", ruleLimit, d.text("%s each", bytesText(c.Bytes)), "no copy of %s: with them one of the %s would not fit a document", c.Fields, d.Child)
		case d.copyPays("IntoChild", c, d.Child, d.typical):
			d.choice |= CopyIntoChild
		}
	}
	if d.choice.Has(Links | CopyIntoParent | CopyIntoChild) {
		d.say(ruleWide, "1 command each way", "rows by either id, with copied names, are read from both ends")
	}
}

// fitsChild reports whether a child, or a page of them, is a document with copies of so many bytes of each of its parents.
func (d *decision) fitsChild(s Choice, bytes int64) bool {
	switch {
	case s == Links:
		return true
	case s == Bucket:
		return times(d.Page, d.ChildBytes+bytes+2) <= model.MaxDocument
	}
	return plus(d.ChildBytes, arrayBytes(d.parents, copyBytes(d.IDBytes, bytes))) <= model.MaxDocument
}

// copyPays says whether copies are worth it that many documents hold.
func (d *decision) copyPays(field string, c Copied, in string, holders int64) bool {
	need := max(CopyLimit, float64(holders))
	switch {
	case c.Strong:
		d.without(field, ruleTwoWay, "0 ms allowed", "no copy of %s: readers would see an old value until a second write", c.Fields)
		return false
	case c.ReadsPerChange < need:
		d.without(field, ruleRatio, d.text("reads/change %s < %s", ratioText(c.ReadsPerChange), ratioText(need)),
			"no copy of %s in %s: they change too often for as many documents", c.Fields, in)
		return false
	}
	d.say(ruleRatio, d.text("reads/change %s ≥ %s, copies of one %s", ratioText(c.ReadsPerChange), ratioText(need), countText(holders)),
		"a copy of %s in %s saves their reads a command", c.Fields, in)
	d.but(ruleTwoWay, "2 writes, not atomic", "copies of %s are old for a moment after a change", c.Fields)
	return true
}

// copyBytes is the size of {id, …} in a list.
func copyBytes(id, fields int64) int64 { return 5 + 1 + 3 + id + fields }

// newest decides whether the newest children are in the parent as well.
func (d *decision) newest() {
	n := d.Newest.N
	if n == 0 {
		return
	}
	figure := d.text("read/write ratio %s", ratioText(d.newestRatio))
	switch {
	case d.shared:
		d.without("Newest", ruleNewest, "", "%s of several %s would be in each, and change in each: read the newest by an index", d.Child, d.Parent)
	case d.choice.Structure() == ChildRefs:
		d.without("Newest", ruleNewest, "1 command more", "the ids in the parent tell the newest %s, at their end: read those", countText(n))
	case n > ManyLimit:
		d.without("Newest", ruleArrays, beyond(n), "the newest %s are too many for their parent", countText(n))
	case !d.fits(n, d.ChildBytes):
		d.without("Newest", ruleLimit, d.sizeFigure(n, d.ChildBytes), "the newest %s are too large for their parent", countText(n))
	case d.newestRatio < WriteLimit:
		d.without("Newest", ruleNewest, figure+" < 1", "the newest %s are not kept in their parent: they change more often than they are looked at", countText(n))
	default:
		d.choice |= Subset
		d.say(ruleNewest, figure+" ≥ 1", "the newest %s are in their parent too, and shown with it by 1 command", countText(n))
	}
	if d.Newest.Drop {
		d.without("Newest.Drop", ruleNewest, "", "%s have documents of their own, and none is dropped: let old ones expire", d.Child)
	}
}

// totals decides whether a number is kept that could be computed.
func (d *decision) totals() {
	switch figure := d.text("reads/change %s", ratioText(d.aTotals)); {
	case d.aTotals == 0:
	case d.aTotals < CopyLimit:
		d.without("TotalReadsPerChange", ruleComputed, figure+" < 10", "no number of %s is kept: it changes too often", d.Child)
	default:
		d.choice |= Counter
		d.say(ruleComputed, figure+" ≥ 10", "a number made of the %s is kept in their parent: computed when written, not when read", d.Child)
	}
}

// folds decides whether parents of which all is copied need documents of their own.
func (d *decision) folds() {
	if !d.IntoChild.Whole || d.choice&CopyIntoChild == 0 {
		return // without copies, the reason is theirs
	}
	switch {
	case d.choice&(Subset|Counter) != 0:
		d.without("IntoChild.Whole", ruleFold, "", "%s keep their documents, which hold what is shown with them", d.Parent)
	case d.choice.Structure() != ParentRef || d.shared:
		d.without("IntoChild.Whole", ruleFold, "", "%s keep their documents: more refers to them than one id in each of the %s", d.Parent, d.Child)
	default:
		d.choice |= Fold
		d.say(ruleFold, "1 collection less", "%s are all that is kept of the %s: they need no documents", d.IntoChild.Fields, d.Parent)
	}
}
