// Inside package childrefs: a parent stores the list of its children's _ids.
//
// # Stored form
//
//	parents  {_id: "g", screws: ["a", "b"]}                       // ids
//	parents  {_id: "g", parts: [{screw: "a", n: 4}, …]}           // documents: the key is screw
//	children {_id: "a", …}
//
// The order of the list is the caller's. An id occurs at most once.
//
// # Protocol
//
// Each write changes one parent, and says in its filter what must hold:
//
//  1. addIDs of ids uses $addToSet. AddElement and insertID push an element if no element has
//     the id; if the id is there, the write counts as applied.
//  2. removeIDs pulls. It matches whether the ids are there or not.
//  3. reorderIDs replaces the whole list if it is as the caller read it.
//  4. removeFromAll is one update of all parents that list a child, found by the index.
//
// # What a crash leaves
//
// Writes of one parent are atomic. removeFromAll can be cut: run it again. An id without
// a document can stay in a list: dangling.Dangling finds it.

package childrefs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// An untypedChildRefs is the ChildRefs without its Go types.
type untypedChildRefs struct {
	Parents  *core.Docs
	Children string
	IDs      idref.Held
	elements core.Field // the array
	Path     string     // of the ids
	list     string     // of the array
	key      string     // of the id within an element; "" when the elements are the ids
}

// declareChildRefs panics unless the path is a list of ids, or of documents with an id
// each.
func declareChildRefs(parents *core.Docs, path string, ids core.Field, children *core.Docs) untypedChildRefs {
	r := untypedChildRefs{
		Parents: parents, Children: children.Name(), IDs: idref.NewHeld(parents, path, children), Path: path,
	}
	r.list = cmp.Or(ids.Array, path)
	r.key = strings.TrimPrefix(strings.TrimPrefix(path, r.list), ".")
	r.elements = parents.CheckArray(r.list)
	if !ids.Untyped && ids.Arrays > 1 {
		core.Place("childrefs.New of "+parents.Name()).Fail(fmt.Sprintf("path %q crosses %d arrays", path, ids.Arrays),
			"name one array of ids, or one array of documents that each hold an id")
	}
	return r
}

// makeReference returns the reference, for other techniques.
func (r *untypedChildRefs) makeReference() idref.Ref {
	return idref.Ref{From: r.Parents.Name(), Path: r.Path, To: r.Children, List: r.list, Key: r.key}
}

// makeIndex returns the index that finds the parents of a child.
func (r *untypedChildRefs) makeIndex() model.Index {
	return commands.MakeIndex(r.Parents.Name(), stmt.DescribeListIndex(r.Parents.Name(), r.Children), mql.E(r.Path, 1))
}

// listIndexes returns the one index.
func (r *untypedChildRefs) listIndexes() []model.Index { return []model.Index{r.makeIndex()} }

// listRelations returns the relation for diagrams.
func (r *untypedChildRefs) listRelations() []model.Relation {
	return []model.Relation{{
		From: r.Parents.Name(), FromPath: r.Path, To: r.Children, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "child references",
	}}
}

// listFootprints returns the paths that the technique uses.
func (r *untypedChildRefs) listFootprints() []model.Footprint {
	return model.Writes.In(r.Parents.Name(), r.list)
}
