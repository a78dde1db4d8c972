// Package childrefs keeps lists of ids: what is behind relate.ChildRefs.
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

// ChildRefs is a list of ids of children in the parents.
type ChildRefs struct {
	Parents  *core.Docs
	Children string
	IDs      idref.Held
	elements core.Field // the array
	Path     string     // of the ids
	list     string     // of the array
	key      string     // of the id within an element; "" when the elements are the ids
}

// Declare panics unless the path lists ids.
func Declare(parents *core.Docs, path string, ids core.Field, children *core.Docs) ChildRefs {
	r := ChildRefs{Parents: parents, Children: children.Name(), IDs: idref.NewHeld(parents, path, children), Path: path}
	r.list = cmp.Or(ids.Array, path)
	r.key = strings.TrimPrefix(strings.TrimPrefix(path, r.list), ".")
	r.elements = parents.CheckArray(r.list)
	if !ids.Open && ids.Arrays > 1 {
		core.Place("NewChildRefs of "+parents.Name()).Fail(fmt.Sprintf("path %q crosses %d arrays", path, ids.Arrays),
			"name one array of ids, or one array of documents that each hold an id")
	}
	return r
}

func (r *ChildRefs) Reference() idref.Ref {
	return idref.Ref{From: r.Parents.Name(), Path: r.Path, To: r.Children, List: r.list, Key: r.key}
}

func (r *ChildRefs) Index() model.Index {
	return commands.Index(r.Parents.Name(), stmt.Listing(r.Parents.Name(), r.Children), mql.E(r.Path, 1))
}

func (r *ChildRefs) Indexes() []model.Index { return []model.Index{r.Index()} }

func (r *ChildRefs) Relations() []model.Relation {
	return []model.Relation{{
		From: r.Parents.Name(), FromPath: r.Path, To: r.Children, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "child references",
	}}
}

// Footprints are the paths that are used.
func (r *ChildRefs) Footprints() []model.Footprint {
	return model.Writes.In(r.Parents.Name(), r.list)
}
