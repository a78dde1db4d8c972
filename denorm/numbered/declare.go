// Inside package numbered: a list of small
// documents in numbered fields, for databases and search indexes that can't nest. The
// public type passes the List methods to model.Parts. A store can't write the documents,
// because their stored form isn't that of their Go type. Package flat splits the
// elements.
//
// # Stored form
//
// A person with Fields skill and level, the list at skills, and the Separator "_":
//
//	nested  {name: "Ann", skills: [{skill: "Poetry", level: 5}, {skill: "Go"}]}
//	stored  {name: "Ann", skills: 2, skill_1: "Poetry", level_1: 5, skill_2: "Go"}
//
// The count is in the list's place. It says how many elements there are, because the last
// ones can be without fields. A missing list and null are stored as they are. Each
// position has an index over its fields.
//
// # Protocol of appendElement
//
//  1. readEnd reads the count, and with a Key the keys of all positions.
//  2. If a position has the element's key, the append is applied. If the count is Max, it is
//     refused with model.ErrFull.
//  3. One update sets the next position and the count. Its filter requires the count that was
//     read and, with a Key, that no earlier position has the key. Otherwise the plan is stale
//     and begins again at 1.
//
// # Protocol of a query
//
// matchAnyPosition makes a branch of $or for each position, served by the position's
// index. A condition that also matches a missing field needs a count that reaches the
// position.
//
// # What a crash leaves
//
// Every write is one update of one document, so nothing. makeConvertJob stores nested
// lists flat, document by document: a crash leaves both forms, and the next run
// continues.

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

// An untypedNumbered is the Numbered without its Go types.
type untypedNumbered struct {
	flat.List
	max       int
	separator string
	key       string
	// of all numbered fields
	names map[string]place
}

// A place is the meaning of a numbered name: a position, from 1, and the index of a
// column.
type place struct{ position, column int }

// declareNumbered declares that a list is stored as numbered fields. It panics with a
// *model.DeclarationError if the list or the spec doesn't fit the documents.
func declareNumbered(list flat.List, spec Spec) *untypedNumbered {
	at := core.Place(fmt.Sprintf("numbered.New of %s.%s", list.Docs.Name(), list.Path))
	if strings.Contains(list.Path, ".") {
		at.Fail(fmt.Sprintf("path %q is in an embedded document", list.Path),
			"move the list to the top level of the document")
	}
	n := &untypedNumbered{
		List: flat.Declare(at, list), max: spec.Max, separator: cmp.Or(spec.Separator, "_"), key: spec.Key,
		names: map[string]place{},
	}
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
			name := n.fieldName(column, i)
			if f, err := n.Docs.Field(name); name == n.Path || err == nil && !f.Untyped {
				at.Fail(fmt.Sprintf("the documents have a field %q already", name), "use another Separator")
			}
			n.names[name] = place{i, c}
		}
	}
	n.Docs.NoteAddedFields(append(n.listFields(1), n.Path)...)
	return n
}

// fieldName returns the name of a column at a position.
func (n *untypedNumbered) fieldName(column string, position int) string {
	return column + n.separator + strconv.Itoa(position)
}

// listFields returns the names of all numbered fields from a position on.
func (n *untypedNumbered) listFields(from int) (out []string) {
	for i := from; i <= n.max; i++ {
		for _, c := range n.ListColumns() {
			out = append(out, n.fieldName(c, i))
		}
	}
	return out
}

// listIndexes returns an index for each position.
func (n *untypedNumbered) listIndexes() []model.Index {
	out := make([]model.Index, n.max)
	for i := range out {
		out[i] = n.makeIndex(i + 1)
	}
	return out
}

// makeIndex returns the index of a position. Its keys are in the order of the columns.
func (n *untypedNumbered) makeIndex(position int) model.Index {
	var keys bson.D
	for _, c := range n.ListColumns() {
		keys = append(keys, bson.E{Key: n.fieldName(c, position), Value: 1})
	}
	return commands.MakeIndex(n.Docs.Name(),
		fmt.Sprintf("%s by element %d of %s", n.Docs.Name(), position, n.Path), keys...)
}

// listFootprints returns the paths that the technique uses.
func (n *untypedNumbered) listFootprints() []model.Footprint {
	name := n.Docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole, n.Path), model.Owns.In(name, n.listFields(1)...))
}
