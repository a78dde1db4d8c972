// Package numbered is the core of denorm.Numbered: a list of small documents in numbered fields.
package numbered

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxNumbered leaves some of a collection's 64 indexes to others.
const maxNumbered = 60

// A List is a denorm.Numbered without its types.
type List struct {
	flat.List
	max       int
	separator string
	key       string
	names     map[string]place // of all numbered fields
}

// A place is what a numbered name stands for: a position, from 1, and the index of a column.
type place struct{ position, column int }

// A Spec is a denorm.NumberedSpec without its Fields.
type Spec struct {
	Max            int
	Separator, Key string
}

// Declare declares that a list is stored as numbered fields. It panics with a *model.DeclarationError when it can't be.
func Declare(list flat.List, spec Spec) *List {
	at := core.Place(fmt.Sprintf("NewNumbered of %s.%s", list.Docs.Name(), list.Path))
	if strings.Contains(list.Path, ".") {
		at.Fail(fmt.Sprintf("path %q is in an embedded document", list.Path),
			"move the list to the top level of the document")
	}
	n := &List{flat.Declare(at, list), spec.Max, cmp.Or(spec.Separator, "_"), spec.Key, map[string]place{}}
	switch {
	case spec.Max < 1 || spec.Max > maxNumbered:
		at.Fail(fmt.Sprintf("Max is %d", spec.Max),
			"give 1 to 60: each position has an index, and a collection at most 64")
	case strings.ContainsAny(n.separator, "0123456789$.\x00"):
		at.Fail(fmt.Sprintf("Separator is %q", n.separator), "use a text without digits, dots, dollar signs and NULs")
	case n.key != "" && !slices.Contains(n.ListColumns(), n.key):
		at.Fail(fmt.Sprintf("Key %q isn't one of the Fields of the elements", n.key),
			"name one of Fields or, for plain values, the list itself")
	}
	for i := 1; i <= n.max; i++ {
		for c, column := range n.ListColumns() {
			name := n.name(column, i)
			if f, err := n.Docs.Field(name); name == n.Path || err == nil && !f.Open {
				at.Fail(fmt.Sprintf("the documents have a field %q already", name), "use another Separator")
			}
			n.names[name] = place{i, c}
		}
	}
	n.Docs.Adds(append(n.all(1), n.Path)...)
	return n
}

func (n *List) name(column string, position int) string {
	return column + n.separator + strconv.Itoa(position)
}

// all are the names of all numbered fields from a position on.
func (n *List) all(from int) (out []string) {
	for i := from; i <= n.max; i++ {
		for _, c := range n.ListColumns() {
			out = append(out, n.name(c, i))
		}
	}
	return out
}

// Indexes returns an index for each position.
func (n *List) Indexes() []model.Index {
	out := make([]model.Index, n.max)
	for i := range out {
		out[i] = n.index(i + 1)
	}
	return out
}

func (n *List) index(position int) model.Index {
	var keys bson.D
	for _, c := range n.ListColumns() {
		keys = append(keys, bson.E{Key: n.name(c, position), Value: 1})
	}
	return commands.MakeIndex(n.Docs.Name(),
		fmt.Sprintf("%s by element %d of %s", n.Docs.Name(), position, n.Path), keys...)
}

// Footprints are the paths that are used.
func (n *List) Footprints() []model.Footprint {
	name := n.Docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole, n.Path), model.Owns.In(name, n.all(1)...))
}
