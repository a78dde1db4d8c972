package advise

import (
	"fmt"
	"strings"
)

func (d *decision) subsetUse(w words) Use {
	if d.choice.Structure() == Bucket {
		return Use{
			Type:    "subsetpages.SubsetPages",
			Declare: fmt.Sprintf("subsetpages.New(%s, \"newest\", pages, subsetpages.Spec{Max: %d, By: bson.D{{\"_id\", -1}}})", w.parents, d.Child.Newest.N),

			Fields: []string{fmt.Sprintf("%s.newest: an array of %s, omitempty", w.parents, w.children)},

			Indexes:  []string{fmt.Sprintf("%s {key: 1, items._id: 1}", w.children)},
			Commands: commands("parent with the newest", 1, opAdd, 4),
		}
	}
	fields := ""
	if d.Child.Newest.Bytes < d.Child.Bytes {
		fields = ", Fields: []string{…}"
	}
	return Use{
		Type:    "subset.Subset",
		Declare: fmt.Sprintf("subset.New(%s, %q, %s, \"newest\", subset.Spec{Max: %d, By: bson.D{{\"_id\", -1}}%s})", w.children, d.refOf(w), w.parents, d.Child.Newest.N, fields),

		Fields: []string{fmt.Sprintf("%s.newest: an array of %s, omitempty", w.parents, w.children)},

		Indexes:  []string{fmt.Sprintf("%s {%s: 1, _id: -1}", w.children, d.refOf(w))},
		Commands: commands("parent with the newest", 1, opAdd, 2),
	}
}

// names returns the copied fields in Go.
func (c Copied) names() string {
	var out []string
	for _, f := range strings.FieldsFunc(c.Fields, func(r rune) bool { return r == ',' || r == ' ' }) {
		out = append(out, fmt.Sprintf("{From: %q}", f))
	}
	return "[]copies.Field{" + strings.Join(out, ", ") + "}"
}

func (d *decision) copyIntoParentUse(w words) Use {
	return Use{
		Type: "copies.Copy",
		Declare: fmt.Sprintf("copies.New(%s, %s, copies.Spec{KeyPath: %q, Fields: %s})", w.children, w.parents,
			w.children+"._id", d.Child.Copied.names()),

		Fields: []string{
			fmt.Sprintf("%s.%s: %s beside the _id in each element", w.parents, w.children, d.Child.Copied.Fields),
		},

		Indexes:  []string{fmt.Sprintf("%s {%s._id: 1}", w.parents, w.children)},
		Commands: commands(opWith, 1, "change a copied field", 3),
	}
}

func (d *decision) copyIntoChildUse(w words) Use {
	at := w.parent
	if d.shape == manyToMany {
		at = w.parents
	}
	key := at + "._id"
	return Use{
		Type: "copies.Copy",
		Declare: fmt.Sprintf("copies.New(%s, %s, copies.Spec{KeyPath: %q, Fields: %s})", w.parents, w.children, key,
			d.Parent.Copied.names()),

		Fields: []string{fmt.Sprintf("%s.%s: %s beside the _id", w.children, at, d.Parent.Copied.Fields)},

		Indexes:  []string{fmt.Sprintf("%s {%s: 1}", w.children, key)},
		Commands: commands(opParent, 1, "change a copied field", 3),
	}
}

func (d *decision) foldUse(w words) Use {
	return Use{Type: "copies.Copy.Fold", Declare: "Fold() of the copy, a job that deletes the " + w.parents}
}

func counterUse(w words) Use {
	return Use{
		Type: "counter.Counter",
		Declare: fmt.Sprintf("counter.New(%s, %q, %s, counter.Spec{Count: %q})", w.children, w.parent,
			w.parents, w.children+"Count"),

		Fields: []string{fmt.Sprintf("%s.%sCount: a whole number", w.parents, w.children)},

		Indexes: nil, Commands: commands("show the number", 1, opAdd, 2),
	}
}

func distinctUse(w words) Use {
	return Use{"uniquecount.UniqueCount", fmt.Sprintf("uniquecount.New(%sSeen, uniquecount.Spec{})", w.children),
		[]string{w.children + "Seen: documents of type uniquecount.Doc"}, nil,
		commands("count a member", 1, "show the number", 1)}
}

func approximateUse(w words) Use {
	return Use{"approximate.Approximate", fmt.Sprintf("approximate.New(%s, %q, 100)", w.parents, w.children+"Count"),
		[]string{fmt.Sprintf("%s.%sCount: a number", w.parents, w.children)}, nil,
		commands("count an event, once in 100", 1, "show the number", 1)}
}

func slotsUse(w words) Use {
	return Use{"slots.Slots", fmt.Sprintf("slots.New(%sCount, slots.Spec{})", w.children),
		[]string{w.children + "Count: documents of type slots.Doc"}, nil,
		commands("change the number", 1, "show the number", 1)}
}

func (d *decision) kindsUse(w words) Use {
	if d.choice.embeds() || d.choice.Structure() == Bucket {
		return Use{
			Type:    "embed.Union",
			Declare: fmt.Sprintf("embed.NewUnion[%s](\"kind\", embed.Case[…](\"…\"), …)", exported(w.child)),

			Fields:  []string{w.children + ".kind: the tag that tells the type"},
			Indexes: nil, Commands: nil,
		}
	}
	return Use{
		Type:    "embed.Kinds",
		Declare: fmt.Sprintf("embed.NewKinds(%s, union, embed.KindsSpec{})", w.children),
		Fields:  []string{w.children + ".kind: the tag that tells the type"},
		Indexes: nil, Commands: nil,
	}
}

// keeper returns the names of the end with kept documents: the parent, unless only the
// child's are kept.
func keeper(w words, parent bool) (documents, document string) {
	if parent {
		return w.parents, w.parent
	}
	return w.children, w.child
}

func (d *decision) versionsUse(w words) Use {
	docs, doc := keeper(w, d.Parent.Versions && d.choice&Fold == 0)
	return Use{"history.History", fmt.Sprintf("history.New(%s, %sRevisions, history.Spec{})", docs, doc),
		[]string{
			docs + ".version: an int64", docs + ".revised: a *history.Revised, omitempty",
			doc + "Revisions: documents of type history.Revision",
		},
		[]string{fmt.Sprintf("%sRevisions {_id.id: 1, at: -1}", doc), fmt.Sprintf("%sRevisions {token: 1}", doc)},
		commands("change a document", 3, "read a version", 1)}
}

func (d *decision) eventsUse(w words) Use {
	docs, doc := keeper(w, d.Parent.Events && d.choice&Fold == 0)
	return Use{
		Type:    "outbox.Outbox",
		Declare: fmt.Sprintf("outbox.New[%sEvent](%s, \"outbox\", outbox.Spec{})", exported(doc), docs),

		Fields:  []string{docs + ".outbox: an outbox.Outgoing, omitempty"},
		Indexes: []string{docs + " {outbox.hash: 1} partial", docs + " {outbox.parked.id: 1} partial"},

		Commands: commands("publish an event", 1),
	}
}

func (d *decision) logUse(w words) Use {
	docs, doc := keeper(w, d.Parent.Log && d.choice&Fold == 0)
	return Use{
		Type: "eventlog.EventLog",
		Declare: fmt.Sprintf("eventlog.New(%sEvents, eventlog.Spec[string, %sEvent, %s]{Fold: …})", doc,
			exported(doc), exported(doc)),

		Fields: []string{fmt.Sprintf("%sEvents: documents of type eventlog.Commit, in the place of %s", doc, docs)},

		Indexes:  []string{fmt.Sprintf("%sEvents {key: 1, token: 1} unique", doc)},
		Commands: commands("append events", 2, "load a state", 1),
	}
}

func (d *decision) binnedUse(w words) Use {
	return Use{
		Type:    "rollup.Rollup",
		Declare: fmt.Sprintf("rollup.New(%s, %sTotals, rollup.Spec{Time: \"at\", By: []string{%q}, Bins: []denorm.Period{denorm.Hourly, denorm.Daily, denorm.Monthly}, Mark: \"mark\"})", w.children, w.child, d.refOf(w)),

		Fields: []string{
			w.children + ".at: a time",
			w.children + ".mark: a *rollup.Mark, omitempty",
			w.child + "Totals: documents of type rollup.Doc",
		},

		Indexes: []string{
			w.children + " {mark.batch: 1, _id: 1} partial", w.children + " {at: 1}", w.child + "Totals {unit: 1, start: 1}",
		},

		Commands: commands("show the number", 1),
	}
}

func spreadUse(w words) Use {
	return Use{
		Type:    "keys.Spread",
		Declare: fmt.Sprintf("keys.NewSpread(%s, \"spread\", keys.SpreadSpec{Parts: 16, By: \"_id\"})", w.children),

		Fields:  []string{w.children + ".spread: a string, the shard key"},
		Indexes: []string{w.children + " {spread: 1, _id: 1}"}, Commands: commands(opAdd, 1, "children in order", 1),
	}
}

func (d *decision) expiryUse(w words) Use {
	of := w.children
	return Use{
		Type: "schema.Expiry",
		Declare: fmt.Sprintf("schema.NewExpiry(%s, \"at\", schema.ExpirySpec{After: %s * 24 * time.Hour})", of,
			ratioText(d.Child.Days)),

		Fields: []string{of + ".at: a time"}, Indexes: []string{of + " {at: 1} expireAfterSeconds"}, Commands: nil,
	}
}

// treeUse returns the type that stores a tree.
func (d *decision) treeUse(w words) Use {
	nodes := w.parents
	below := "nodes below one"
	var u Use
	switch d.choice.Structure() {
	case DocumentTree:
		return Use{
			Type: "paths.DocumentTree",
			Declare: fmt.Sprintf("paths.NewDocumentTree[%s, %sID](owners, %q, paths.DocumentTreeSpec{})", exported(w.parent),
				exported(w.parent), nodes),

			Fields:  []string{fmt.Sprintf("owners.%s: an array of %s", nodes, nodes)},
			Indexes: nil, Commands: commands("whole tree", 1, "add a node", 1),
		}
	case ParentTree:
		u = Use{
			Type:    "paths.NewParentTree",
			Declare: fmt.Sprintf("paths.NewParentTree(%s, paths.TreeSpec{})", nodes),
			Fields:  nil, Indexes: nil, Commands: commands("children", 1, below, 1),
		}
	case ChildTree:
		u = Use{
			Type:    "paths.NewChildTree",
			Declare: fmt.Sprintf("paths.NewChildTree(%s, paths.ChildTreeSpec{})", nodes),
			Fields:  []string{nodes + ".children: an array of _ids"}, Indexes: nil, Commands: commands("children", 1),
		}
	case AncestorArray:
		u = Use{
			Type:    "paths.NewAncestorArray",
			Declare: fmt.Sprintf("paths.NewAncestorArray(%s, paths.AncestorArraySpec{})", nodes),
			Fields:  []string{nodes + ".ancestors: an array of _ids"}, Indexes: []string{nodes + " {ancestors: 1}"},
			Commands: commands("nodes above one", 1, below, 1),
		}
	case MaterializedPath:
		u = Use{
			Type:    "paths.NewMaterializedPath",
			Declare: fmt.Sprintf("paths.NewMaterializedPath(%s, paths.MaterializedPathSpec{})", nodes),
			Fields:  []string{nodes + ".path: a string"}, Indexes: []string{nodes + " {path: 1} unique"},
			Commands: commands(below, 1),
		}
	case NestedSet:
		u = Use{
			Type:     "paths.NewNestedSet",
			Declare:  fmt.Sprintf("paths.NewNestedSet(%s, paths.NestedSetSpec{})", nodes),
			Fields:   []string{nodes + ".left, .right and .depth: whole numbers"},
			Indexes:  []string{nodes + " {left: 1} unique", nodes + " {right: 1, left: 1}"},
			Commands: commands(below, 1),
		}
	}
	u.Indexes = append([]string{nodes + " {parent: 1, order: 1}"}, u.Indexes...)
	u.Fields = append([]string{
		nodes + ".parent: the _id of the parent, or null",
		nodes + ".order: a string", nodes + ".change: an int64",
	}, u.Fields...)
	return u
}

// migration says how to get from the present storage to the choice.
func (d *decision) migration(r Relation) string {
	now, to := r.Now.Structure(), d.choice.Structure()
	if d.turned {
		now = now.turned()
	}
	trees := func(c Choice) bool { return c > DocumentTree && c <= NestedSet }
	switch w := d.words(); {
	case now == 0:
		return ""
	case now == to:
		return d.added(r)
	case now == ChildRefs && to == ParentRef:
		return fmt.Sprintf("migrate.NewInvert(%s, %q, %s, %q, migrate.InvertSpec{})", w.parents,
			w.children, w.children, w.parent)
	case now == ParentRef && to == ChildRefs:
		return fmt.Sprintf("migrate.NewInvert(%s, %q, %s, %q, migrate.InvertSpec{ToLists: true})", w.parents,
			w.children, w.children, w.parent)
	case to == TwoWay && (now == ChildRefs || now == ParentRef):
		return "declare twosided.TwoWay or twosided.ManyToMany: the job of its check fills the other side"
	case now == TwoWay && (to == ChildRefs || to == ParentRef):
		return "stop writing the other side, then remove its field by a model.Job"
	case (now == Embed || now == Outlier) && (to == ParentRef || to == ChildRefs):
		return fmt.Sprintf("migrate.NewExtract(%s, %q, %s, migrate.ExtractSpec{…})", w.parents, w.children, w.children)
	case to == Embed && (now == ParentRef || now == ChildRefs):
		return fmt.Sprintf("migrate.NewAbsorb(%s, %q, %s, migrate.AbsorbSpec{…})", w.parents, w.children, w.children)
	case now == Embed && to == Outlier:
		return "outlier.Outlier.Split, a job that moves what is too much"
	case trees(now) && trees(to):
		return "paths.ConvertInto, or paths.Convert for a small tree"
	case now == DocumentTree && trees(to):
		return "paths.Extract"
	case trees(now) && to == DocumentTree:
		return "paths.Absorb"
	}
	return "a model.Job of your own, which reads the documents of today's form and writes those of the new one"
}

// added lists the additions that a relation lacks today, or no longer needs.
func (d *decision) added(r Relation) string {
	now := r.Now
	if d.turned {
		now = now.turned()
	}
	lack, more := d.choice&^now, now&^d.choice
	out := "keep"
	for _, a := range additions {
		if lack&a.c != 0 {
			out += ", and add " + a.name
		}
	}
	for _, a := range additions {
		if more&a.c != 0 {
			out += ", and give up " + a.name
		}
	}
	return out
}
