package advise

// refers decides which end has the reference.
func (d *decision) refers() Choice {
	d.say(ruleJoins, "1 command more", "a join by id and index costs little more than one on the server would")
	switch d.shape {
	case oneToOne:
		d.say(ruleWhere, "1 unique index", "one of the %s holds the id of its only parent", d.Child.Name)
		return ParentRef
	case oneToMany:
		return d.refersToOne()
	}
	return d.refersToMany()
}

// refersToOne decides where a reference between one parent and many children is: in the
// child, unless there is a reason for a list.
func (d *decision) refersToOne() Choice {
	asked, shown := d.Child.Shows >= AccessLimit, d.Parent.Shows >= AccessLimit
	size := d.elementBytes(d.Child.IDBytes)
	why := d.Child.Ordered || d.Parent.Has.Fixed && shown
	switch {
	case !why:
		d.say(ruleOwned, "1 write to add, 1 index", "each of the %s belongs to one of the %s, and holds its id",
			d.Child.Name, d.Parent.Name)
		if asked {
			d.sayAsked()
		}
		return ParentRef
	case !d.listed(d.n, size):
		if d.Child.Ordered {
			d.explain("Child.Ordered", ruleWhere, d.listFigure(d.n, size),
				"a list of ids would outgrow one of the %s: keep the order by a number in each of the %s",
				d.Parent.Name, d.Child.Name)
		} else {
			d.say(ruleWhere, d.listFigure(d.n, size), "ids of %s would outgrow one of the %s", d.Child.Name, d.Parent.Name)
		}
		return ParentRef
	case d.hot():
		d.sayHot()
		if d.Child.Ordered {
			d.explain("Child.Ordered", ruleHot, d.hotFigure(),
				"a list of ids would be written too often: keep the order by a number in each of the %s", d.Child.Name)
		}
		return ParentRef
	}
	if d.Child.Ordered {
		d.say(ruleOrdered, d.listFigure(d.n, size), "a list of ids in each of the %s keeps the order of its %s",
			d.Parent.Name, d.Child.Name)
	} else {
		d.say(ruleBound, d.listFigure(d.n, size),
			"a list of ids in each of the %s stays bounded, and one write keeps the bound", d.Parent.Name)
	}
	if !asked {
		return ChildRefs
	}
	d.sayAsked()
	if d.Atomic {
		d.say(ruleTwoWay, "1 atomic write",
			"a link changes in one step if one side holds it; an index serves the other direction")
		return ChildRefs
	}
	d.sayTwice()
	return TwoWay
}

// refersToMany decides where references between shared children and their parents are.
// The parent shows its children at least as often as the child its parents.
func (d *decision) refersToMany() Choice {
	forth, back := d.listed(d.n, d.elementBytes(d.Child.IDBytes)), d.listed(d.parents, d.elementBytes(d.Parent.IDBytes))
	if d.Parent.Has.PerSecond > HotLimit {
		forth = false
		d.sayHot()
	}
	if d.Child.Has.PerSecond > HotLimit {
		back = false
		d.say(ruleHot, d.text("%s writes a second > %d", ratioText(d.Child.Has.PerSecond), HotLimit),
			"one of the %s would be written too often", d.Child.Name)
	}
	both := d.Child.Shows >= AccessLimit && d.Parent.Shows >= AccessLimit
	switch {
	case !forth && !back:
		d.say(ruleWhere,
			d.text("%s: %s; %s: %s", d.Child.Name, d.listFigure(d.n, d.Child.IDBytes), d.Parent.Name,
				d.listFigure(d.parents, d.Parent.IDBytes)),
			"neither side has room for a list of ids: each link is a document")
		d.sayUnordered(childEnd, d.Child)
		d.sayUnordered(parentEnd, d.Parent)
		return Links
	case d.LinkBytes > 0 && both:
		d.say(ruleLinks, bytesText(d.LinkBytes)+" a link",
			"both sides ask for the links' own fields, which a document for each link holds once")
		d.sayUnordered(childEnd, d.Child)
		d.sayUnordered(parentEnd, d.Parent)
		return Links
	case forth && back && both && !d.Atomic:
		d.sayList()
		d.sayAsked()
		d.sayTwice()
		d.say(ruleNoJoin, "1 command less each way", "both sides list the other: no documents that only join")
		return TwoWay
	}
	// A list in one end: the end that orders or shows it, or else the end with the
	// shorter list.
	if !forth || back && d.listsBack() {
		d.swap()
	}
	d.sayList()
	if d.Child.Shows >= AccessLimit {
		d.say(ruleAccess, "1 index", "an index on the list finds the %s of one of the %s", d.Parent.Name, d.Child.Name)
	}
	if d.Atomic {
		d.say(ruleTwoWay, "1 atomic write", "a link changes in one step if one side holds it")
	}
	d.sayUnordered(parentEnd, d.Parent)
	return ChildRefs
}

// listsBack reports whether the child is the better end for a list.
func (d *decision) listsBack() bool {
	switch {
	case d.Child.Ordered != d.Parent.Ordered:
		return d.Parent.Ordered // by the child
	case d.Parent.Shows >= AccessLimit && d.Child.Shows < AccessLimit:
		return false
	case d.parents != d.n:
		return d.parents < d.n
	}
	return false
}

// sayUnordered says that no list keeps the order of an end's documents.
func (d *decision) sayUnordered(end string, e End) {
	if e.Ordered {
		d.explain(end+".Ordered", ruleWhere, "",
			"no list of ids keeps the order of %s: keep it by a number in each link", e.Name)
	}
}

// elementBytes is the size of a list's element: an id, or a document with the id and the
// link's fields.
func (d *decision) elementBytes(id int64) int64 {
	if d.LinkBytes == 0 {
		return id
	}
	return copyBytes(id, d.LinkBytes)
}

func (d *decision) sayList() {
	if d.want {
		d.say(ruleWhere, d.listFigure(d.n, d.elementBytes(d.Child.IDBytes)),
			"a list of ids in each of the %s stays bounded, and shows them in order", d.Parent.Name)
	}
}

func (d *decision) sayAsked() {
	d.say(ruleAccess, d.mark(percent(d.Child.Shows)+" of reads", "Child.Shows")+" ≥ "+percent(AccessLimit),
		"%s are asked for their %s", d.Child.Name, d.Parent.Name)
}

func (d *decision) sayTwice() {
	d.but(ruleTwoWay, "2 writes, not atomic", "a link is stored twice; a check and a repair belong to it")
}
