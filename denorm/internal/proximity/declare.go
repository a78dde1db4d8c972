// Package proximity is the core of denorm.Proximity: a list that is kept as a text beside it.
package proximity

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
)

// A List is a denorm.Proximity without its types.
type List struct {
	flat.List
	field   string // that holds the text
	options string // of the regular expressions
}

// Declare declares that a list is kept as text too, in a field. It panics with a *model.DeclarationError when it can't
// be.
func Declare(list flat.List, field string, ignoreCase bool) *List {
	place := core.Place(fmt.Sprintf("NewProximity of %s.%s", list.Docs.Name(), list.Path))
	p := &List{List: flat.Declare(place, list), field: field}
	if ignoreCase {
		p.options = "i"
	}
	switch f, err := p.Docs.Field(field); {
	case core.CheckKey(field) != nil:
		place.Fail(fmt.Sprintf("Text is %q", field), "name a field of the document itself")
	case core.Overlap(field, p.Path) || field == "_id":
		place.Fail(fmt.Sprintf("Text %q overlaps the list or the _id", field), "give the text a field of its own")
	case err == nil && !f.Open && (f.IsArray() || f.Type.Kind() != reflect.String):
		place.Fail(fmt.Sprintf("Text %q is of type %s", field, f.Type),
			"declare it as a string, or leave the field out of the type")
	}
	for _, column := range p.ListColumns() {
		path := p.Path
		if len(p.Fields) > 0 {
			path += "." + column
		}
		if f := p.Docs.MustField(path); !f.Open && f.Type.Kind() != reflect.String {
			place.Fail(fmt.Sprintf("%q is of type %s", path, f.Type), "name fields of a string type")
		}
	}
	p.Docs.Adds(p.field)
	return p
}

// Indexes returns the index of the texts.
func (p *List) Indexes() []model.Index {
	return []model.Index{
		commands.MakeIndex(p.Docs.Name(), "reads the texts of "+p.Path+" in place of the documents", mql.E(p.field, 1)),
	}
}

// Footprints are the paths that are used.
func (p *List) Footprints() []model.Footprint {
	name := p.Docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole, p.Path), model.Owns.In(name, p.field))
}
