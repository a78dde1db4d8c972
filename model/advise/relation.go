package advise

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/model"
)

// None says that a number of a [Relation] is known, and is none: no child is read on its own, nothing is added. The zero of a
// field says that it is not known; then [Choose] assumes what the field's comment says, and lists it in [Advice.Assumed].
const None = -1

// A Relation describes how the documents of two kinds belong together: a parent has children. Only Children is required. It holds
// plain values: two of them can be compared, and a copy shares nothing.
//
// Shares are of 1: 0.3 is three reads in ten. Ratios are counts of the same time; one of something that never changes is
// math.Inf(1).
type Relation struct {
	Parent, Child string // names for the text, in the plural: "people", "addresses"; by default "parents" and "children"

	Children Count // children of one parent
	Parents  Count // parents of one child; by default one. More make the relation many-to-many, its children shared

	ParentBytes int64 // a parent's document without its children, in BSON ([Size]); by default 1024
	ChildBytes  int64 // a child as a document; by default 256
	IDBytes     int64 // an _id as a value, without type and name; by default 12, an ObjectID's

	Together   float64 // the share of a parent's reads that show its children; by default 1
	Standalone float64 // the share of a child's reads that don't come from its parent: by its own fields; by default none
	ToParent   float64 // the share of a child's reads that ask for its parent; by default none, or 1 with IntoChild

	// ReadsPerWrite is how often a parent is read with its children for each time that one of those is added or changed; by
	// default 10.
	ReadsPerWrite float64

	// Atomic says that a parent and its children, or the two ends of a link, have to change in one step, without a transaction.
	Atomic bool

	IntoParent Copied // fields of the children that are shown with the parent; by default none
	IntoChild  Copied // fields of the parent that are shown with each child; by default none

	Newest Newest // what of the children is shown with the parent, if it isn't all of them
	Page   int64  // children are read in their order, this many at a time, and seldom changed; by default they aren't

	// TotalReadsPerChange is how often a parent is read with a number made of its children (how many, their sum) for each change
	// of that number; by default there is none.
	TotalReadsPerChange float64
}

// A Count says how many documents one document of the other side has.
type Count struct {
	Typical int64 // by default Max
	Max     int64 // of the one that has most, today; by default ten times Typical

	Unbounded bool    // nothing in the application's rules ends their number; Max is then what was seen so far
	PerDay    float64 // how many the one that has most gains in a day; by default none
	Days      float64 // how long it goes on; by default 3650, ten years. Only with PerDay
}

// Copied names fields that are stored a second time where they are shown.
type Copied struct {
	Fields         string  // their names, for the text: "name, thumbnail"; "" means that nothing is to be copied
	Bytes          int64   // of their values and names in one copy; by default 64
	ReadsPerChange float64 // reads that show them for each change of one of them at its source; by default 100
	Strong         bool    // readers must never see an old value
	Whole          bool    // they are all that is kept of the source
}

// Newest says that the first few children by some order are shown with their parent.
type Newest struct {
	N             int64   // how many; 0 means that this isn't so
	ReadsPerWrite float64 // reads of a parent with them for each child that is added; by default that of the relation
	Drop          bool    // a child that is no longer among them may be lost
}

// Limits of the rules. The texts say "a few hundred" and "a few thousand"; a few is three here.
const (
	FewLimit  = 300  // children that may be embedded: "more than a few hundred documents on the many side: don't embed" (004 rule 3)
	ManyLimit = 3000 // ids in an array: "more than a few thousand: don't use an array of ObjectID references" (004 rule 3)

	AccessLimit = 0.1 // the share of reads from which on a way of access counts: one read in ten
	WriteLimit  = 1.0 // reads per write below which data doesn't belong into what it is read with (000, 002 §3, 004 part 2)
	CopyLimit   = 10. // reads per change from which on a copy pays, if few documents hold it: "much more often" (004 rule 5)
)

const (
	defaultDays, defaultParentBytes, defaultChildBytes, defaultIDBytes = 3650, 1024, 256, 12
	defaultReadsPerWrite, defaultCopyBytes, defaultReadsPerChange      = 10, 64, 100
	unbounded                                                          = math.MaxInt64
	mostCount                                                          = 1e18 // more is taken for as many
)

// An Assumption is what [Choose] took a field for that the relation doesn't give.
type Assumption struct {
	Field string  // as in [Change]
	Value float64 // in the field's unit
}

// String is "ReadsPerWrite 10", or "Standalone none".
func (a Assumption) String() string {
	if a.Value == 0 {
		return a.Field + " none"
	}
	return a.Field + " " + ratioText(a.Value)
}

// facts are a relation with everything known.
type facts struct {
	Relation
	n, parents           int64 // the worst counts; unbounded
	typical, sharing     int64 // the typical ones
	newestRatio, aTotals float64
	assumed              []Assumption
}

// facts refuses what can't be, and fills in what isn't known.
func (r Relation) facts() (*facts, error) {
	f := &facts{Relation: r}
	if f.Parent == "" {
		f.Parent = "parents"
	}
	if f.Child == "" {
		f.Child = "children"
	}
	for _, check := range []func() error{f.checkCounts, f.checkSizes, f.checkAccess, f.checkCopies, f.checkNewest} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func refuse(field string, v any, reason string) error {
	return &model.ValueError{Field: field, Value: v, Reason: reason}
}

func (f *facts) checkCounts() (err error) {
	if c := f.Children; c.Max == 0 && c.Typical == 0 && !c.Unbounded {
		return refuse("Children", nil, "how many children a parent has is the first question: give Typical, Max or Unbounded")
	}
	if f.typical, f.n, err = f.count("Children", f.Children); err != nil {
		return err
	}
	if f.Parents == (Count{}) {
		f.Parents.Max = 1
		f.assume("Parents.Max", 1)
	}
	f.sharing, f.parents, err = f.count("Parents", f.Parents)
	return err
}

// count returns the typical and the worst count.
func (f *facts) count(name string, c Count) (typical, worst int64, err error) {
	switch {
	case c.Typical < 0:
		return 0, 0, refuse(name+".Typical", c.Typical, "must not be negative")
	case c.Max < 0:
		return 0, 0, refuse(name+".Max", c.Max, "must be at least 1, for else there is no relation")
	case c.Max > 0 && c.Typical > c.Max:
		return 0, 0, refuse(name+".Typical", c.Typical, fmt.Sprintf("is more than %s.Max, %d", name, c.Max))
	case !number(c.PerDay, 1e15):
		return 0, 0, refuse(name+".PerDay", c.PerDay, "must be a number of documents, or None")
	case c.Days < 0 || math.IsNaN(c.Days) || c.Days > 1e6:
		return 0, 0, refuse(name+".Days", c.Days, "must be from 0 to 1,000,000 days")
	case c.Days > 0 && c.PerDay <= 0:
		return 0, 0, refuse(name+".Days", c.Days, "tells nothing without PerDay")
	case c.Unbounded && c.PerDay == None:
		return 0, 0, refuse(name+".PerDay", c.PerDay, "says that nothing is added, but the count is unbounded")
	}
	typical, worst = c.Typical, c.Max
	if worst == 0 && !c.Unbounded {
		worst = tenTimes(typical)
		f.assume(name+".Max", float64(worst))
	}
	if typical == 0 {
		typical = worst
		if worst == 0 {
			typical = ManyLimit + 1
		}
		f.assume(name+".Typical", float64(typical))
	}
	if c.PerDay == 0 && !c.Unbounded && worst > 1 {
		f.assume(name+".PerDay", 0)
	}
	if c.PerDay > 0 {
		if c.Days == 0 {
			c.Days = defaultDays
			f.assume(name+".Days", c.Days)
		}
		worst = plus(worst, int64(min(math.Ceil(c.PerDay*c.Days), mostCount)))
	}
	if worst = min(worst, mostCount); c.Unbounded {
		worst = unbounded
	}
	return min(typical, mostCount), worst, nil
}

// tenTimes is the most that one has where others typically have so many.
func tenTimes(typical int64) int64 { return min(max(1, times(10, typical)), mostCount) }

func (f *facts) checkSizes() error {
	for _, s := range []struct {
		field     string
		v         *int64
		otherwise int64
	}{
		{"ParentBytes", &f.ParentBytes, defaultParentBytes}, {"ChildBytes", &f.ChildBytes, defaultChildBytes},
		{"IDBytes", &f.IDBytes, defaultIDBytes},
	} {
		switch {
		case *s.v < 0:
			return refuse(s.field, *s.v, "a size is positive")
		case *s.v > model.MaxDocument:
			return refuse(s.field, *s.v, fmt.Sprintf("no document has more than %d bytes", model.MaxDocument))
		case *s.v == 0:
			*s.v = s.otherwise
			f.assume(s.field, float64(s.otherwise))
		}
	}
	return nil
}

func (f *facts) checkAccess() error {
	toParent := 0.0
	if f.IntoChild.Fields != "" {
		toParent = 1
		if f.ToParent == None {
			return refuse("ToParent", f.ToParent, "is none, but IntoChild shows fields of the parent with each child")
		}
	}
	if f.Together == None && (f.IntoParent.Fields != "" || f.Newest.N > 0) {
		return refuse("Together", f.Together, "is none, but IntoParent or Newest shows children with their parent")
	}
	for _, s := range []struct {
		field     string
		v         *float64
		most      float64
		otherwise float64
	}{
		{"Together", &f.Together, 1, 1}, {"Standalone", &f.Standalone, 1, 0}, {"ToParent", &f.ToParent, 1, toParent},
		{"ReadsPerWrite", &f.ReadsPerWrite, math.Inf(1), defaultReadsPerWrite},
	} {
		if err := f.ratio(s.field, s.v, s.most, s.otherwise); err != nil {
			return err
		}
	}
	f.aTotals = max(0, f.TotalReadsPerChange)
	return f.ratio("TotalReadsPerChange", &f.TotalReadsPerChange, math.Inf(1), None)
}

// ratio checks a share or a ratio, and makes None 0. If none is to be assumed nothing is, without a word.
func (f *facts) ratio(field string, v *float64, most, otherwise float64) error {
	switch {
	case !number(*v, most):
		if most == 1 {
			return refuse(field, *v, "must be a share, from 0 to 1, or None")
		}
		return refuse(field, *v, "must be a ratio, 0 or more, or None")
	case *v == None:
		*v = 0
	case *v == 0 && otherwise != None:
		*v = otherwise
		f.assume(field, otherwise)
	}
	return nil
}

// number reports whether v is from 0 to most, or None.
func number(v, most float64) bool { return v == None || v >= 0 && v <= most }

func (f *facts) checkCopies() error {
	for _, s := range []struct {
		field string
		c     *Copied
	}{{"IntoParent", &f.IntoParent}, {"IntoChild", &f.IntoChild}} {
		c := s.c
		if c.Fields == "" {
			if *c != (Copied{}) {
				return refuse(s.field+".Fields", nil, "names nothing, but the rest of "+s.field+" describes it")
			}
			continue
		}
		switch {
		case c.Bytes < 0 || c.Bytes > model.MaxDocument:
			return refuse(s.field+".Bytes", c.Bytes, fmt.Sprintf("must be from 0 to %d bytes", model.MaxDocument))
		case c.Bytes == 0:
			c.Bytes = defaultCopyBytes
			f.assume(s.field+".Bytes", defaultCopyBytes)
		}
		if err := f.ratio(s.field+".ReadsPerChange", &c.ReadsPerChange, math.Inf(1), defaultReadsPerChange); err != nil {
			return err
		}
	}
	if f.IntoParent.Whole {
		return refuse("IntoParent.Whole", true, "a child of which all is kept in its parent is embedded: leave IntoParent empty")
	}
	return nil
}

func (f *facts) checkNewest() error {
	switch n := f.Newest; {
	case n.N < 0:
		return refuse("Newest.N", n.N, "must not be negative")
	case n.N == 0 && n != (Newest{}):
		return refuse("Newest.N", n.N, "is 0, but the rest of Newest describes them")
	case !number(n.ReadsPerWrite, math.Inf(1)):
		return refuse("Newest.ReadsPerWrite", n.ReadsPerWrite, "must be a ratio, 0 or more, or None")
	case f.Page < 0:
		return refuse("Page", f.Page, "must not be negative")
	}
	f.newestRatio = max(0, f.Newest.ReadsPerWrite)
	if f.Newest.N > 0 && f.Newest.ReadsPerWrite == 0 {
		f.newestRatio = f.ReadsPerWrite
		f.assume("Newest.ReadsPerWrite", f.newestRatio)
	}
	return nil
}

func (f *facts) assume(field string, v float64) { f.assumed = append(f.assumed, Assumption{field, v}) }
