package advise

import (
	"fmt"
	"math"
	"strings"

	"github.com/docmodel/docmodel/model"
)

const (
	defaultDays, defaultBytes, defaultIDBytes                = 3650, 512, 12
	defaultReadsPerAdd, defaultCopyBytes, defaultReads       = 10, 64, 100
	defaultLevels, valueBytes                                = 5, 1024
	unbounded                                                = math.MaxInt64
	mostCount                                                = 1e18 // larger counts are cut to it
	parentEnd, childEnd                                      = "Parent", "Child"
	oneToOne, oneToMany, manyToMany                    shape = 0, 1, 2
)

// A shape is how many documents of each end belong to one of the other.
type shape uint8

// facts are a relation with all defaults filled in, turned so that Parent is the end with
// several of the other.
type facts struct {
	Relation
	filled          Relation // before it was turned
	shape           shape
	turned          bool  // Parent is the end that the relation calls Child
	n, p99, typical int64 // children of one parent: the greatest number, or unbounded
	parents         int64 // greatest number of parents of one child
	sharing         int64 // its typical value
	childP99        int64 // its value for 99 in 100
	assumed         []Assumption
}

// facts refuses invalid values, and fills in defaults.
func (r Relation) facts() (*facts, error) {
	f := &facts{Relation: r}
	if f.Parent.Name == "" {
		f.Parent.Name = "parents"
	}
	if f.Child.Name == "" {
		f.Child.Name = "children"
	}
	if r.Tree != (Tree{}) {
		if err := f.checkTree(r); err != nil {
			return nil, err
		}
		f.filled = f.Relation
		return f, nil
	}
	if f.Parent.Has == (Count{}) && f.Child.Has == (Count{}) {
		return nil, refuse("Parent.Has", nil,
			"how many children a parent has is the first question: give Typical, Max or Unbounded")
	}
	for _, check := range []func() error{f.checkCounts, f.checkSizes, f.checkShown, f.checkAccess} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	f.filled = f.Relation
	f.turn()
	return f, nil
}

func refuse(field string, v any, reason string) error {
	return &model.ValueError{Field: field, Value: v, Reason: reason}
}

// ends returns both ends, with their names in the given relation. Turning comes last.
func (f *facts) ends() [2]struct {
	name       string
	end, other *End
} {
	return [2]struct {
		name       string
		end, other *End
	}{{parentEnd, &f.Parent, &f.Child}, {childEnd, &f.Child, &f.Parent}}
}

func (f *facts) checkSizes() error {
	if f.LinkBytes < 0 || f.LinkBytes > model.MaxDocument {
		return refuse("LinkBytes", f.LinkBytes, fmt.Sprintf("must be from 0 to %d bytes", model.MaxDocument))
	}
	for _, e := range f.ends() {
		if f.Tree.Nodes > 0 && e.name == childEnd {
			continue
		}
		for _, s := range []struct {
			field     string
			v         *int64
			otherwise int64
		}{{e.name + ".Bytes", &e.end.Bytes, defaultBytes}, {e.name + ".IDBytes", &e.end.IDBytes, defaultIDBytes}} {
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
		switch {
		case e.end.Kinds < 0:
			return refuse(e.name+".Kinds", e.end.Kinds, "must be at least 1")
		case e.end.Days < 0 || math.IsNaN(e.end.Days) || e.end.Days > 1e6:
			return refuse(e.name+".Days", e.end.Days, "must be from 0 to 1,000,000 days")
		case e.end.Value && (e.end.Copied != Copied{} || e.end.Kinds > 1):
			return refuse(e.name+".Value", true, "a plain value has no fields to copy, and no kinds")
		case e.end.Value && e.other.Value:
			return refuse(e.name+".Value", true, "only one of the two can be a plain value")
		case e.end.Value && e.end.Bytes > valueBytes:
			return refuse(e.name+".Bytes", e.end.Bytes, fmt.Sprintf("is more than a plain value has, %d bytes", valueBytes))
		}
	}
	return nil
}

// checkAccess fills in how the ends are read.
func (f *facts) checkAccess() error {
	for i, e := range f.ends() {
		several := [2]bool{f.n > 1, f.parents > 1}[i]
		alone, shows := 0.0, 0.0
		if several {
			alone = 1
		}
		if f.shape == oneToOne && e.name == parentEnd {
			alone = 1
		}
		if several || f.shape == oneToOne || e.other.shown() {
			shows = 1
		}
		if e.end.Shows == None && e.other.shown() {
			return refuse(e.name+".Shows", e.end.Shows, "is none, but something of the other end is shown there")
		}
		for _, s := range []struct {
			field     string
			v         *float64
			most      float64
			otherwise float64
		}{
			{e.name + ".Alone", &e.end.Alone, 1, alone}, {e.name + ".Shows", &e.end.Shows, 1, shows},
			{e.name + ".ReadsPerChange", &e.end.ReadsPerChange, math.Inf(1), defaultReads},
		} {
			if err := f.ratio(s.field, s.v, s.most, s.otherwise); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown reports whether the other end shows something of this end.
func (e *End) shown() bool {
	return e.Copied.Fields != "" || e.Newest.N > 0 || e.Page > 0
}

// ratio checks a share or ratio, and converts None to 0.
func (f *facts) ratio(field string, v *float64, most, otherwise float64) error {
	switch {
	case !number(*v, most):
		if most == 1 {
			return refuse(field, *v, "must be a share, from 0 to 1, or None")
		}
		return refuse(field, *v, "must be a ratio, 0 or more, or None")
	case *v == None:
		*v = 0
	case *v == 0:
		*v = otherwise
		f.assume(field, otherwise)
	}
	return nil
}

// number reports whether v is from 0 to most, or None.
func number(v, most float64) bool { return v == None || v >= 0 && v <= most }

// checkShown fills in what each end shows of the other.
func (f *facts) checkShown() error {
	if err := f.ratio("ReadsPerAdd", &f.ReadsPerAdd, math.Inf(1), defaultReadsPerAdd); err != nil {
		return err
	}
	for i, e := range f.ends() {
		if err := f.checkCopied(e.name+".Copied", &e.end.Copied, [2]int64{f.typical, f.sharing}[i]); err != nil {
			return err
		}
		n, total := &e.end.Newest, &e.end.Total
		switch name := e.name + "."; {
		case n.N < 0:
			return refuse(name+"Newest.N", n.N, "is negative: give 0 or more")
		case n.N == 0 && *n != (Newest{}):
			return refuse(name+"Newest.N", n.N, "is 0, but the rest of Newest describes them")
		case n.Bytes < 0 || n.Bytes > e.end.Bytes:
			return refuse(name+"Newest.Bytes", n.Bytes,
				fmt.Sprintf("must be from 0 to the document's own %d bytes", e.end.Bytes))
		case !number(n.ReadsPerWrite, math.Inf(1)):
			return refuse(name+"Newest.ReadsPerWrite", n.ReadsPerWrite, "must be a ratio, 0 or more, or None")
		case e.end.Page < 0:
			return refuse(name+"Page", e.end.Page, "is negative: give 0 or more")
		case !number(total.ReadsPerChange, math.Inf(1)):
			return refuse(name+"Total.ReadsPerChange", total.ReadsPerChange, "must be a ratio, 0 or more, or None")
		case total.ReadsPerChange == 0 && (total.Distinct || total.Rough):
			return refuse(name+"Total.ReadsPerChange", total.ReadsPerChange, "is 0, but the rest of Total describes it")
		case n.N > 0 && n.ReadsPerWrite == 0:
			n.ReadsPerWrite = f.ReadsPerAdd
			f.assume(name+"Newest.ReadsPerWrite", n.ReadsPerWrite)
		}
		if n.N > 0 && n.Bytes == 0 {
			n.Bytes = e.end.Bytes
			f.assume(e.name+".Newest.Bytes", float64(n.Bytes))
		}
		n.ReadsPerWrite, total.ReadsPerChange = max(0, n.ReadsPerWrite), max(0, total.ReadsPerChange)
	}
	return nil
}

// checkCopied fills in what is copied to the typical number of holders.
func (f *facts) checkCopied(field string, c *Copied, holders int64) error {
	if c.Fields == "" {
		if *c != (Copied{}) {
			return refuse(field+".Fields", nil, "names nothing, but the rest of "+field+" describes it")
		}
		return nil
	}
	switch {
	case c.Bytes < 0 || c.Bytes > model.MaxDocument:
		return refuse(field+".Bytes", c.Bytes, fmt.Sprintf("must be from 0 to %d bytes", model.MaxDocument))
	case c.Bytes == 0:
		c.Bytes = defaultCopyBytes
		f.assume(field+".Bytes", defaultCopyBytes)
	}
	return f.ratio(field+".ReadsPerChange", &c.ReadsPerChange, math.Inf(1), defaultReads*float64(max(1, holders)))
}

func (f *facts) assume(field string, v float64) { f.assumed = append(f.assumed, Assumption{field, v}) }

// isAssumed reports whether a field's value is assumed.
func (f *facts) isAssumed(field string) bool {
	field = f.field(field)
	for _, a := range f.assumed {
		if a.Field == field {
			return true
		}
	}
	return false
}

// field returns the field's name in the given relation.
func (f *facts) field(name string) string {
	if !f.turned {
		return name
	}
	if rest, ok := strings.CutPrefix(name, parentEnd+"."); ok {
		return childEnd + "." + rest
	}
	if rest, ok := strings.CutPrefix(name, childEnd+"."); ok {
		return parentEnd + "." + rest
	}
	return name
}

// turn makes the end with several children the parent. In a one-to-one relation this is
// the end that is read more often on its own. In a many-to-many relation it is the end
// that shows the other more often, or else has fewer documents. Names decide ties.
func (f *facts) turn() {
	if f.Parent.Value || f.Child.Value {
		if f.Parent.Value {
			f.swap()
		}
		return
	}
	less := 0.0 // negative: the child is the better parent
	switch p, c := &f.Parent, &f.Child; f.shape {
	case oneToMany:
		less = float64(f.n) - float64(f.parents)
	case oneToOne:
		if less = p.Alone - c.Alone; less == 0 {
			return // keep the given parent
		}
	case manyToMany:
		less = firstOf(p.Shows-c.Shows, float64(f.parents)-float64(f.n))
	}
	if less == 0 {
		less = float64(strings.Compare(f.Child.Name, f.Parent.Name))
		if f.Parent.Name == "parents" || f.Child.Name == "children" {
			less = 0
		}
	}
	if less < 0 {
		f.swap()
	}
}

func firstOf(a, b float64) float64 {
	if a != 0 {
		return a
	}
	return b
}

func (f *facts) swap() {
	f.turned = !f.turned
	f.Parent, f.Child = f.Child, f.Parent
	f.n, f.parents, f.typical, f.sharing = f.parents, f.n, f.sharing, f.typical
	f.p99, f.childP99 = f.childP99, f.p99
}
