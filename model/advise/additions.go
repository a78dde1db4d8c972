package advise

import "github.com/docmodel/docmodel/model"

// embedded explains additions that embedding makes unnecessary.
func (d *decision) embedded() {
	c, p := d.Child.Name, d.Parent.Name
	if d.Child.Copied.Fields != "" {
		d.explain("Child.Copied", ruleEmbed, "", "%s are in their %s with all of their fields", c, p)
	}
	if d.Parent.Copied.Fields != "" {
		d.explain("Parent.Copied", ruleEmbed, "", "%s are read in their %s, and its fields with them", c, p)
	}
	if d.Child.Newest.N > 0 && !d.bounded {
		d.explain("Child.Newest", ruleEmbed, "", "%s are in their parent: show the newest of them by $slice", c)
	}
	if d.Child.Page > 0 {
		d.explain("Child.Page", ruleEmbed, "", "%s are in one document: show a page of them by $slice", c)
	}
	if d.Child.Total.ReadsPerChange > 0 {
		d.explain("Child.Total", ruleEmbed, "", "a number of %s is computed in the one document that has them all", c)
	}
	if d.LinkBytes > 0 {
		d.explain("LinkBytes", ruleEmbed, "", "the fields of a link are fields of the embedded %s", c)
	}
}

// pages decides whether children that outgrow their parent are stored in pages.
func (d *decision) pages() bool {
	figure := d.mark(d.text("%s × %s", countText(d.Child.Page), bytesText(d.Child.Bytes)), "Child.Bytes")
	without := func(figure, format string, args ...any) {
		d.explain("Child.Page", rulePages, figure, format, args...)
	}
	c, p := d.Child.Name, d.Parent.Name
	switch {
	case d.Child.Page == 0:
		return false
	case d.shape == manyToMany:
		without("", "%s of several %s are on no one's page: read pages by an index and a limit", c, p)
	case d.Child.Alone >= AccessLimit:
		without("", "%s are looked up on their own, not by the page: read pages by an index and a limit", c)
	case d.Child.ReadsPerChange < WriteLimit:
		without(d.text("reads/change %s < 1", ratioText(d.Child.ReadsPerChange)),
			"%s change too often to be written with their whole page", c)
	case !d.large:
		without(d.text("at most %s", d.worstText()), "%s are few enough to be read without pages", c)
	case d.Child.Page > ManyLimit || arrayBytes(d.Child.Page, d.Child.Bytes) > model.MaxDocument/2:
		without(figure, "a page would be too large for a document: make it smaller")
	case d.hot():
		without(d.hotFigure(), "the last page of one of the %s would be written too often", p)
	default:
		d.say(rulePages, figure, "%s are read by the page: a document for each", c)
		return true
	}
	return false
}

// copies decides which fields are copied to where they are shown.
func (d *decision) copies() {
	s := d.choice.Structure()
	if c := d.Child.Copied; c.Fields != "" {
		size := copyBytes(d.Child.IDBytes, c.Bytes+d.LinkBytes)
		switch {
		case s == ParentRef || s == Bucket:
			d.explain("Child.Copied", ruleCopy, "",
				"%s don't list their %s, and have no place for copies: show the newest of them by Newest",
				d.Parent.Name, d.Child.Name)
		case s != Links && !d.listed(d.n, size):
			d.explain("Child.Copied", ruleWorking, d.listFigure(d.n, size),
				"no copy of %s: with them the list would be too large", c.Fields)
		case d.copyPays("Child.Copied", c, d.Parent.Name, d.sharing):
			d.choice |= CopyIntoParent
		}
	}
	if c := d.Parent.Copied; c.Fields != "" {
		switch {
		case s == ChildRefs:
			d.explain("Parent.Copied", ruleCopy, "",
				"%s don't refer to their %s, and have no place for copies: an index on the list finds the parent",
				d.Child.Name, d.Parent.Name)
		case !d.fitsChild(s, c.Bytes):
			d.explain("Parent.Copied", ruleLimit, d.text("%s each", bytesText(c.Bytes)),
				"no copy of %s: with them one of the %s would not fit a document", c.Fields, d.Child.Name)
		case d.copyPays("Parent.Copied", c, d.Child.Name, d.typical):
			d.choice |= CopyIntoChild
		}
	}
	if d.choice.Has(Links | CopyIntoParent | CopyIntoChild) {
		d.say(ruleWide, "1 command each way", "rows by either id, with copied names, are read from both ends")
	}
}

// fitsChild reports whether a child, or a page of children, fits a document with copies
// of so many bytes from each parent.
func (d *decision) fitsChild(s Choice, bytes int64) bool {
	switch {
	case s == Links:
		return true
	case s == Bucket:
		return arrayBytes(d.Child.Page, plus(d.Child.Bytes, bytes)) <= model.MaxDocument
	case s == TwoWay && d.shape == manyToMany:
		return plus(d.Child.Bytes, arrayBytes(d.parents, copyBytes(d.Parent.IDBytes, bytes))) <= model.MaxDocument
	}
	return plus(d.Child.Bytes, copyBytes(d.Parent.IDBytes, bytes)) <= model.MaxDocument
}

// copyPays reports whether copies in that many documents pay.
func (d *decision) copyPays(field string, c Copied, in string, holders int64) bool {
	need := max(CopyLimit, float64(holders))
	ratio := d.mark("reads/change "+ratioText(c.ReadsPerChange), field+".ReadsPerChange")
	switch {
	case c.Strong:
		d.explain(field, ruleTwoWay, "0 ms allowed",
			"no copy of %s: readers would see an old value until a second write", c.Fields)
		return false
	case c.ReadsPerChange < need:
		d.explain(field, ruleRatio, d.text("%s < %s", ratio, ratioText(need)),
			"no copy of %s in %s: they change too often for as many documents", c.Fields, in)
		return false
	}
	d.say(ruleRatio, d.text("%s ≥ %s, copies of one %s", ratio, ratioText(need), countText(holders)),
		"a copy of %s in %s saves their reads a command", c.Fields, in)
	d.but(ruleTwoWay, "2 writes, not atomic", "copies of %s are old for a moment after a change", c.Fields)
	return true
}

// copyBytes is the size of {id, …} in a list.
func copyBytes(id, fields int64) int64 { return 5 + 1 + 3 + id + fields }

// newest decides whether the newest children are also in the parent.
func (d *decision) newest() {
	n := d.Child.Newest.N
	if n == 0 {
		return
	}
	without := func(rule string, figure, format string, args ...any) {
		d.explain("Child.Newest", rule, figure, format, args...)
	}
	figure := d.mark("read/write ratio "+ratioText(d.Child.Newest.ReadsPerWrite), "Child.Newest.ReadsPerWrite")
	c := d.Child.Name
	switch {
	case d.shape == oneToOne:
		without(ruleNewest, "", "there is one of the %s at most", c)
	case d.shape == manyToMany:
		without(ruleNewest, "",
			"%s of several %s would be in each, and change in each: read the newest by an index", c, d.Parent.Name)
	case d.choice.Structure() == ChildRefs || d.choice.Structure() == TwoWay:
		without(ruleNewest, "1 command more",
			"the ids in the parent tell the newest %s, at their end: read those", countText(n))
	case n > ManyLimit:
		without(ruleArrays, beyond(n), "the newest %s are too many for their parent", countText(n))
	case arrayBytes(n, d.Child.Newest.Bytes) > ArrayLimit || !d.fits(n, d.Child.Newest.Bytes):
		without(ruleWorking, d.sizeFigure(n, d.Child.Newest.Bytes, "Child.Newest.Bytes"),
			"the newest %s are too large for their parent: show fewer of their fields, by Newest.Bytes", countText(n))
	case d.hot():
		without(ruleHot, d.hotFigure(),
			"the newest %s are not kept in their parent, which would be written too often", countText(n))
	case d.Child.Newest.ReadsPerWrite < WriteLimit:
		without(ruleNewest, figure+" < 1",
			"the newest %s are not kept in their parent: they change more often than they are looked at", countText(n))
	default:
		d.choice |= Subset
		d.say(ruleNewest, figure+" ≥ 1",
			"the newest %s are in their parent too, and shown with it by 1 command", countText(n))
	}
	if d.Child.Newest.Drop {
		d.explain("Child.Newest.Drop", ruleNewest, "",
			"%s have documents of their own, and none is dropped: let old ones expire", c)
	}
}

// totals decides whether computed numbers are stored.
func (d *decision) totals() {
	d.total("Child.Total", d.Child, d.Parent, Counter)
	if d.shape == manyToMany {
		d.total("Parent.Total", d.Parent, d.Child, CountInChild)
	}
}

// roughStep is the number of changes for one write of an approximate number.
const roughStep = 100

// total decides whether a number made of some documents is stored in their owner.
func (d *decision) total(field string, of, in End, kept Choice) {
	t := of.Total
	figure := d.text("reads/change %s", ratioText(t.ReadsPerChange))
	switch {
	case t.ReadsPerChange == 0:
	case kept == Counter && t.Rough && t.ReadsPerChange*roughStep >= CopyLimit &&
		(t.ReadsPerChange < CopyLimit || in.Has.PerSecond > HotLimit):
		d.choice |= Approximate
		d.say(ruleRough, figure, "a number of %s that may be rough is written once in %d changes", of.Name, roughStep)
	case t.ReadsPerChange < CopyLimit:
		d.explain(field, ruleComputed, figure+" < 10", "no number of %s is kept: it changes too often", of.Name)
	case t.ByTime && kept == Counter && d.choice.Structure() == ParentRef:
		d.choice |= Binned
		d.say(ruleComputed, figure+" ≥ 10", "numbers of %s are rolled up by hour, day and month", of.Name)
	case t.Distinct && kept == Counter:
		d.choice |= Distinct
		d.say(ruleComputed, figure+" ≥ 10", "each different member of %s is one document, and counted once", of.Name)
	case in.Has.PerSecond > HotLimit && kept == Counter:
		d.choice |= Slots
		d.say(ruleHot, d.text("%s writes a second > %d", ratioText(in.Has.PerSecond), HotLimit),
			"an exact number of %s is kept in several documents", of.Name)
	case in.Has.PerSecond > HotLimit:
		d.explain(field, ruleHot, d.text("%s writes a second > %d", ratioText(in.Has.PerSecond), HotLimit),
			"no exact number of %s is kept in one document: count by an index, or keep it by the day", of.Name)
	default:
		d.choice |= kept
		d.say(ruleComputed, figure+" ≥ 10",
			"a number made of the %s is kept in their %s: computed when written, not when read", of.Name, in.Name)
	}
}

// folds decides whether parents that are copied whole need their own documents.
func (d *decision) folds() {
	if d.Child.Copied.Whole && d.choice&CopyIntoParent != 0 {
		d.explain("Child.Copied.Whole", ruleFold, "", "%s keep their documents: several %s refer to each",
			d.Child.Name, d.Parent.Name)
	}
	if !d.Parent.Copied.Whole || d.choice&CopyIntoChild == 0 {
		return // the reason is already given for the copies
	}
	switch {
	case d.choice&(Subset|Counter|Approximate|Distinct|Slots|Binned) != 0:
		d.explain("Parent.Copied.Whole", ruleFold, "",
			"%s keep their documents, which hold what is shown with them", d.Parent.Name)
	case d.choice.Structure() != ParentRef:
		d.explain("Parent.Copied.Whole", ruleFold, "",
			"%s keep their documents: more refers to them than one id in each of the %s", d.Parent.Name, d.Child.Name)
	default:
		d.choice |= Fold
		d.say(ruleFold, "1 collection less", "%s are all that is kept of the %s: they need no documents",
			d.Parent.Copied.Fields, d.Parent.Name)
	}
}

// kinds adds types for children of several kinds.
func (d *decision) kinds() {
	if d.Child.Kinds > 1 {
		d.choice |= Kinds
		d.say(ruleKinds, d.text("%s kinds", countText(d.Child.Kinds)),
			"%s of all kinds are stored together, as they are read together", d.Child.Name)
	}
	if d.Parent.Kinds > 1 {
		d.explain("Parent.Kinds", ruleKinds, "", "the kinds of %s don't matter to their %s: declare them by embed.Kinds",
			d.Parent.Name, d.Child.Name)
	}
}

// remembered decides whether versions and events of documents are kept. It needs
// documents that aren't parts of others.
func (d *decision) remembered() {
	inside := d.choice.embeds() || d.choice.Structure() == Bucket
	for _, e := range []struct {
		name  string
		end   End
		other End
		part  bool
	}{{parentEnd, d.Parent, d.Child, d.choice&Fold != 0}, {childEnd, d.Child, d.Parent, inside}} {
		if e.end.Versions && e.part {
			d.explain(e.name+".Versions", ruleVersions, "",
				"%s are stored within other documents: versions are kept of their %s", e.end.Name, e.other.Name)
		} else if e.end.Versions {
			d.choice |= Versions
			d.say(ruleVersions, "2 writes a change", "every version of %s is kept in a collection beside them", e.end.Name)
		}
		if e.end.Log && e.part {
			d.explain(e.name+".Log", ruleLog, "", "%s are stored within other documents: keep the events of their %s",
				e.end.Name, e.other.Name)
		} else if e.end.Log {
			d.choice |= Log
			d.say(ruleLog, "1 write an append", "events of %s are appended, and their states are made of them", e.end.Name)
		}
		if e.end.Events && e.part {
			d.explain(e.name+".Events", ruleEvents, "", "%s are stored within other documents: events wait in their %s",
				e.end.Name, e.other.Name)
		} else if e.end.Events {
			d.choice |= Events
			d.say(ruleEvents, "1 write", "an event waits in one of the %s, stored by the change's own write", e.end.Name)
		}
	}
}

// spreads decides whether the children of one parent go to several shards.
func (d *decision) spreads() {
	if d.Parent.Sharded {
		d.explain("Parent.Sharded", ruleHot, "", "%s don't follow one of their %s: divide them by their own _id",
			d.Parent.Name, d.Child.Name)
	}
	perSecond := d.Parent.Has.PerSecond
	switch {
	case !d.Child.Sharded:
	case d.choice.Structure() != ParentRef:
		d.explain("Child.Sharded", ruleHot, "", "%s don't refer to one of the %s: divide what holds them by its own _id",
			d.Child.Name, d.Parent.Name)
	case perSecond <= HotLimit:
		d.explain("Child.Sharded", ruleHot, d.text("%s writes a second ≤ %d", ratioText(max(perSecond, 0)), HotLimit),
			"the %s of one of the %s stay on one shard, which reads find them on", d.Child.Name, d.Parent.Name)
	default:
		d.choice |= SpreadKey
		d.say(ruleHot, d.text("%s writes a second > %d", ratioText(perSecond), HotLimit),
			"the %s of one of the %s are spread over several shards", d.Child.Name, d.Parent.Name)
	}
}

// expires decides whether the server deletes children after their time.
func (d *decision) expires() {
	if d.Parent.Days > 0 {
		d.explain("Parent.Days", ruleExpiry, "",
			"what refers to %s must be gone before them: let schema.Expiry delete them by their own time", d.Parent.Name)
	}
	switch {
	case d.Child.Days == 0:
	case d.choice&Fold != 0 || d.choice.Structure() == ParentRef || d.choice.Structure() == Bucket:
		d.choice |= Expiry
		d.say(ruleExpiry, d.text("%s days", ratioText(d.Child.Days)),
			"the server deletes old %s by an index on their time", d.Child.Name)
	case d.choice.Structure() == Embed || d.choice.Structure() == Values || d.choice.Structure() == Outlier:
		d.explain("Child.Days", ruleExpiry, "",
			"the server expires documents, not parts of them: remove old %s by $pull when the parent is written", d.Child.Name)
	default:
		d.explain("Child.Days", ruleExpiry, "", "lists refer to %s: remove their ids first, by ondelete.OnDelete", d.Child.Name)
	}
}

// parentsShown explains which fields of either end can't be used, such as a parent's
// page, newest or order.
func (d *decision) parentsShown() {
	p, c := d.Parent, d.Child
	for _, s := range []struct {
		field string
		given bool
	}{
		{"Newest", p.Newest.N > 0}, {"Page", p.Page > 0},
		{"Total", p.Total.ReadsPerChange > 0 && (d.shape != manyToMany || d.choice.embeds())},
	} {
		switch {
		case !s.given:
		case d.shape == manyToMany:
			d.explain("Parent."+s.field, ruleNewest, "",
				"%s of several %s would be in each, and change in each: read them by an index", p.Name, c.Name)
		default:
			d.explain("Parent."+s.field, ruleNewest, "", "one of the %s has one of the %s at most", c.Name, p.Name)
		}
	}
	if c.Newest.N > 0 && d.shape == manyToMany && !d.choice.embeds() {
		d.explain("Child.Newest", ruleNewest, "",
			"%s of several %s would be in each, and change in each: read the newest by an index", c.Name, p.Name)
	}
	if c.Newest.Drop && d.shape == manyToMany && !d.choice.embeds() {
		d.explain("Child.Newest.Drop", ruleNewest, "",
			"%s have documents of their own, and none is dropped: let old ones expire", c.Name)
	}
	if c.Page > 0 && d.shape == manyToMany && !d.choice.embeds() {
		d.explain("Child.Page", rulePages, "",
			"%s of several %s are on no one's page: read pages by an index and a limit", c.Name, p.Name)
	}
	switch s := d.choice.Structure(); {
	case !c.Ordered || d.choice.embeds():
	case d.shape == oneToOne:
		d.explain("Child.Ordered", ruleWhere, "", "one of the %s has one of the %s at most", p.Name, c.Name)
	case s == Bucket:
		d.explain("Child.Ordered", rulePages, "",
			"pages are in the order of appending: keep another order by a number in each of the %s", c.Name)
	}
	if p.Ordered && d.shape == manyToMany && d.choice.embeds() {
		d.explain("Parent.Ordered", ruleWhere, "", "no list of ids keeps the order of %s", p.Name)
	}
	if p.Ordered && d.shape != manyToMany {
		d.explain("Parent.Ordered", ruleWhere, "", "one of the %s has one of the %s at most", c.Name, p.Name)
	}
	if c.Copied.Whole && d.choice&CopyIntoParent == 0 && d.choice.embeds() {
		d.explain("Child.Copied.Whole", ruleEmbed, "",
			"%s are in their %s, and have no documents of their own", c.Name, p.Name)
	}
	if d.LinkBytes > 0 && d.shape != manyToMany && !d.choice.embeds() {
		d.explain("LinkBytes", ruleWhere, "", "each of the %s has one link, whose fields are its own", c.Name)
	}
}

// embeds reports whether the children are within their parent.
func (c Choice) embeds() bool {
	s := c.Structure()
	return s == Embed || s == Values || s == Outlier
}
