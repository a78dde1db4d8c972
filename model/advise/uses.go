package advise

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Use is one type of this library that an [Advice] recommends.
type Use struct {
	Type    string   // the type's name, such as "parentref.ParentRef"
	Declare string   // Go code for Type, with names from the [Relation]
	Fields  []string // fields that Type needs, such as "comments.post: the _id of one of the posts"
	Indexes []string // indexes, except on _id: "comments {post: 1, _id: -1}"

	// Commands says how many commands (N) each operation sends, such as "add a child",
	// without retries and further batches. If a model.Store writes several documents, N is
	// of a transaction on MongoDB 8.0, with the commit.
	Commands []struct {
		Operation string
		N         int
	}
}

// text describes the use.
func (u Use) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", u.Type, u.Declare)
	for _, f := range u.Fields {
		fmt.Fprintf(&b, "\nfield %s", f)
	}
	for _, x := range u.Indexes {
		fmt.Fprintf(&b, "\nindex %s", x)
	}
	if len(u.Commands) > 0 {
		words := make([]string, len(u.Commands))
		for i, c := range u.Commands {
			words[i] = fmt.Sprintf("%s %d", c.Operation, c.N)
		}
		fmt.Fprintf(&b, "\ncommands: %s", strings.Join(words, ", "))
	}
	return b.String()
}

// words are the names of a relation's ends, for Go and BSON.
type words struct {
	parents, children string // variables: "blogPosts"
	parent, child     string // fields: "blogPost"
}

func (d *decision) words() words {
	w := words{parents: identifier(d.Parent.Name), children: identifier(d.Child.Name)}
	w.parent, w.child = singular(w.parents), singular(w.children)
	return w
}

// identifier converts a name to a Go variable: "imported packages" is importedPackages.
func identifier(name string) string {
	var b strings.Builder
	upper := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && (!unicode.IsDigit(r) || b.Len() == 0):
			upper = b.Len() > 0
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		case b.Len() == 0:
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "documents"
	}
	return b.String()
}

// singular removes a plural's ending, or appends Id if there is none.
func singular(name string) string {
	for _, e := range []struct{ many, one string }{
		{"hildren", "hild"}, {"eople", "erson"}, {"ovies", "ovie"}, {"ies", "y"}, {"sses", "ss"}, {"xes", "x"},
		{"ches", "ch"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(name, e.many); ok && stem != "" && !strings.HasSuffix(name, "ss") {
			return stem + e.one
		}
	}
	return name + "Id"
}

// uses returns the types that store the decision, the structure's first.
func (d *decision) uses() (out []Use) {
	if !d.want {
		d.want = true
		defer func() { d.want = false }()
	}
	w := d.words()
	out = append(out, d.structureUse(w))
	for _, add := range []struct {
		part Choice
		use  func(w words) Use
	}{
		{Subset, d.subsetUse}, {CopyIntoParent, d.copyIntoParentUse}, {CopyIntoChild, d.copyIntoChildUse},
		{Fold, d.foldUse}, {Counter, counterUse},
		{CountInChild, func(w words) Use { return counterUse(words{w.children, w.parents, w.child, w.parent}) }},
		{Distinct, distinctUse}, {Approximate, approximateUse}, {Slots, slotsUse}, {Kinds, d.kindsUse},
		{Versions, d.versionsUse}, {Events, d.eventsUse}, {Log, d.logUse}, {Binned, d.binnedUse},
		{SpreadKey, spreadUse}, {Expiry, d.expiryUse},
	} {
		// the structure's type includes the copies
		wide := d.choice.Structure() == Links && add.part&(CopyIntoParent|CopyIntoChild) != 0
		if d.choice&add.part != 0 && !wide {
			out = append(out, add.use(w))
		}
	}
	return out
}

// commands returns the Commands of a Use: a name and a number of each operation, in turn.
func commands(of ...any) []struct {
	Operation string
	N         int
} {
	u := Use{}
	u.Commands = slices.Grow(u.Commands, len(of)/2)[:len(of)/2]
	for i := range u.Commands {
		u.Commands[i].Operation, u.Commands[i].N = of[2*i].(string), of[2*i+1].(int)
	}
	return u.Commands
}

// Operations that several types have.
const (
	opWith   = "parent with its children"
	opParent = "child with its parent"
	opAdd    = "add a child"
	opChange = "change a child"
	opRemove = "remove a child"
)

// structureUse returns the type that stores a structure.
func (d *decision) structureUse(w words) Use {
	switch s := d.choice.Structure(); s {
	case Embed, Values, Outlier:
		return d.embedUse(w)
	case ChildRefs:
		path, elements := d.listOf(w)
		return Use{"childrefs.ChildRefs", fmt.Sprintf("childrefs.New(%s, %q, %s)", w.parents, path, w.children),
			[]string{fmt.Sprintf("%s.%s: an array of %s, omitempty", w.parents, w.children, elements)},
			[]string{fmt.Sprintf("%s {%s: 1}", w.parents, path)},
			commands(opWith, 2, opParent, 2, "insert and list a child", 2, "list a child", 1, "reorder", 1)}
	case ParentRef:
		path := d.refOf(w)
		return Use{
			Type:    "parentref.ParentRef",
			Declare: fmt.Sprintf("parentref.New(%s, %q, %s, parentref.Spec{})", w.children, path, w.parents),

			Fields: []string{fmt.Sprintf("%s.%s: the _id of one of the %s", w.children, path, w.parents)},

			Indexes: []string{fmt.Sprintf("%s {%s: 1, _id: -1}", w.children, path)},

			Commands: commands(opWith, 2, opParent, 2, opAdd, 1, opChange, 1, opRemove, 1),
		}
	case TwoWay:
		return d.twoWayUse(w)
	case Links:
		return d.linksUse(w)
	case Bucket:
		return Use{
			Type: "bucket.Bucket",
			Declare: fmt.Sprintf("bucket.New(%s, bucket.Spec{Max: %d, ElementKey: \"_id\"})",
				w.children, d.Child.Page),

			Fields:  []string{fmt.Sprintf("%s: documents of type bucket.Doc", w.children)},
			Indexes: []string{fmt.Sprintf("%s {key: 1, items._id: 1}", w.children)},

			Commands: commands("page of a parent", 1, opAdd, 2),
		}
	}
	return d.treeUse(w)
}

// listOf returns the path of the ids in a list, and the kind of its elements: documents,
// if they have more than the id.
func (d *decision) listOf(w words) (path, elements string) {
	if d.choice&CopyIntoParent != 0 || d.LinkBytes > 0 && d.shape == manyToMany {
		return w.children + "._id", "documents with the _id of one of the " + w.children
	}
	return w.children, "_ids of " + w.children
}

// refOf returns the path of a parent's id in a child.
func (d *decision) refOf(w words) string {
	if d.choice&CopyIntoChild != 0 {
		return w.parent + "._id"
	}
	return w.parent
}

func (d *decision) embedUse(w words) Use {
	s := d.choice.Structure()
	list := fmt.Sprintf("%s.%s: an array of %s, omitempty", w.parents, w.children, w.children)
	switch {
	case d.choice.Has(Bounded):
		return Use{
			Type: "bounded.Bounded",
			Declare: fmt.Sprintf("bounded.New(%s, %q, bounded.Spec{Max: %d})", w.parents,
				w.children, d.Child.Newest.N),

			Fields: []string{list}, Indexes: nil, Commands: commands(opWith, 1, opAdd, 1),
		}
	case s == Values && d.shape == oneToMany && d.n == 1:
		return Use{"model.Collection", fmt.Sprintf("model.NewIndex(%q, bson.D{{%q, 1}})", w.parents, w.child),
			[]string{fmt.Sprintf("%s.%s: the value", w.parents, w.child)},
			[]string{fmt.Sprintf("%s {%s: 1}", w.parents, w.child)}, commands(opWith, 1, opAdd, 1)}
	case s == Values:
		return Use{"model.Collection", fmt.Sprintf("model.NewIndex(%q, bson.D{{%q, 1}})", w.parents, w.children),
			[]string{list}, []string{fmt.Sprintf("%s {%s: 1}", w.parents, w.children)},
			commands(opWith, 1, opAdd, 1, opRemove, 1)}
	case s == Outlier:
		return Use{
			Type: "outlier.Outlier",
			Declare: fmt.Sprintf("outlier.New(%s, %q, overflow, outlier.Spec{Max: %d, Flag: \"more\"})",
				w.parents, w.children, d.p99),

			Fields:  []string{list, w.parents + ".more: a bool", "overflow: documents of type bucket.Doc"},
			Indexes: nil, Commands: commands(opWith, 1, opAdd, 2),
		}
	case d.shape == oneToOne:
		return Use{
			Type:    "embed.One",
			Declare: fmt.Sprintf("embed.NewOne[%s](%s, %q, embed.OneSpec{})", exported(w.child), w.parents, w.child),

			Fields:  []string{fmt.Sprintf("%s.%s: a document, omitempty", w.parents, w.child)},
			Indexes: nil,

			Commands: commands("parent with its child", 1, "add the child", 1, "change the child", 1, "remove the child", 1),
		}
	}
	return Use{
		Type: "embed.Embedded",
		Declare: fmt.Sprintf("embed.NewEmbedded[%s](%s, %q, embed.EmbeddedSpec{Key: \"_id\", Max: %d})", exported(w.child),
			w.parents, w.children, d.kept),

		Fields:   []string{list},
		Indexes:  []string{fmt.Sprintf("%s {%s._id: 1}", w.parents, w.children)},
		Commands: commands(opWith, 1, opAdd, 1, opChange, 1, opRemove, 1),
	}
}

// exported converts a field's name to a Go type.
func exported(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

func (d *decision) twoWayUse(w words) Use {
	path, elements := d.listOf(w)
	fields := []string{fmt.Sprintf("%s.%s: an array of %s, omitempty", w.parents, w.children, elements)}
	if d.shape == manyToMany {
		back, elements := w.parents, "_ids of "+w.parents
		if d.choice&CopyIntoChild != 0 || d.LinkBytes > 0 {
			back, elements = w.parents+"._id", "documents with the _id of one of the "+w.parents
		}
		fields = append(fields, fmt.Sprintf("%s.%s: an array of %s, omitempty", w.children, w.parents, elements))
		return Use{
			Type: "twosided.ManyToMany",
			Declare: fmt.Sprintf("twosided.NewManyToMany(%s, %q, %s, %q, twosided.ManyToManySpec{})", w.parents,
				path, w.children, back),

			Fields:  fields,
			Indexes: []string{fmt.Sprintf("%s {%s: 1}", w.parents, path), fmt.Sprintf("%s {%s: 1}", w.children, back)},

			Commands: commands(opWith, 2, "child with its parents", 2, "link", 4, "unlink", 4),
		}
	}
	ref := d.refOf(w)
	fields = append(fields, fmt.Sprintf("%s.%s: the _id of one of the %s", w.children, ref, w.parents))
	return Use{
		Type:    "twosided.TwoWay",
		Declare: fmt.Sprintf("twosided.NewTwoWay(%s, %q, %s, %q, twosided.TwoWaySpec{})", w.parents, path, w.children, ref),

		Fields:  fields,
		Indexes: []string{fmt.Sprintf("%s {%s: 1}", w.parents, path), fmt.Sprintf("%s {%s: 1, _id: -1}", w.children, ref)},

		Commands: commands(opWith, 2, opParent, 2, "reassign a child", 4),
	}
}

// rowIndexes returns the indexes of the rows of both sides.
func rowIndexes(collections ...string) (out []string) {
	for _, c := range collections {
		out = append(out, c+" {row: 1, hi: 1}", c+" {cols.id: 1, row: 1}")
	}
	return out
}

func (d *decision) linksUse(w words) Use {
	both := w.parents + exported(w.children)
	if d.choice&(CopyIntoParent|CopyIntoChild) != 0 {
		return Use{
			Type: "widerow.WideRow",
			Declare: fmt.Sprintf("widerow.New(%s, %s, widerow.Spec{LeftRows: %q, RightRows: %q})", w.parents,
				w.children, w.parents+"Rows", w.children+"Rows"),

			Fields:   []string{"two collections of rows, which are its own"},
			Indexes:  rowIndexes(w.parents+"Rows", w.children+"Rows"),
			Commands: commands("page of "+w.children+" of a parent", 1, "page of "+w.parents+" of a child", 1),
		}
	}
	return Use{
		Type: "joincollection.JoinCollection",
		Declare: fmt.Sprintf("joincollection.New(%s, %q, %s, %q, %s, joincollection.Spec{})", both, w.parent,
			w.parents, w.child, w.children),

		Fields: []string{
			fmt.Sprintf("%s.%s: the _id of one of the %s", both, w.parent, w.parents),
			fmt.Sprintf("%s.%s: the _id of one of the %s", both, w.child, w.children),
		},

		Indexes: []string{
			fmt.Sprintf("%s {%s: 1, %s: 1} unique", both, w.parent, w.child),
			fmt.Sprintf("%s {%s: 1, _id: -1}", both, w.parent),
			fmt.Sprintf("%s {%s: 1, _id: -1}", both, w.child),
		},

		Commands: commands("link", 2, "unlink", 1, "links of a parent", 1, "links of a child", 1),
	}
}
