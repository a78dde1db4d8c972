// Inside package proximity: a list, and
// the same list as one text beside it, which patterns can search. The public type passes the
// List methods to model.Parts. Stores call makeReactions, audits call listChecks. Package
// flat splits the elements.
//
// # Stored form
//
// A person with Fields skill and level, the list at skills, and the text in the field
// text:
//
//	{name: "Ann", skills: [{skill: "Math", level: "Poor"}, {skill: "Go"}],
//	 text: "|Math,Poor|Go,;|"}
//
// "|" begins and ends an element, "," separates its values. A missing value is ";", null
// ";;", and a value that isn't a string ";;;". In values, these characters, "%" and NUL
// are escaped, so a pattern that has "[^,|]*" for a value never leaves the value or the
// element. The list is the truth. A document without a list has no text.
//
// # Protocol
//
//  1. A store's write computes the text with the document that it writes (react.go). The text
//     needs no other document, so the write stays one command.
//  2. addElement and removeElements are one update each: a pipeline that changes the list, and
//     the text from the list.
//  3. A query is a regular expression on the text: matchEqual for values of one element,
//     matchNear for two words of one element.
//
// # What a crash leaves
//
// Nothing, because each write has list and text. Writes that bypass the technique leave a
// wrong text, which the check finds and computes again on the server (computeText).

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

// An untypedProximity is the Proximity without its Go types.
type untypedProximity struct {
	flat.List
	// of the text
	field   string
	options string // of the regular expressions
}

// declareProximity declares that a list is also stored as text. It panics with a
// *model.DeclarationError if the list or the field doesn't fit the documents.
func declareProximity(list flat.List, field string, ignoreCase bool) *untypedProximity {
	place := core.Place(fmt.Sprintf("proximity.New of %s.%s", list.Docs.Name(), list.Path))
	p := &untypedProximity{List: flat.Declare(place, list), field: field}
	if ignoreCase {
		p.options = "i"
	}
	switch f, err := p.Docs.Field(field); {
	case core.CheckKey(field) != nil:
		place.Fail(fmt.Sprintf("Text is %q", field), "name a field of the document itself")
	case core.Overlap(field, p.Path) || field == "_id":
		place.Fail(fmt.Sprintf("Text %q overlaps the list or the _id", field), "give the text a field of its own")
	case err == nil && !f.Untyped && (f.IsArray() || f.Type.Kind() != reflect.String):
		place.Fail(fmt.Sprintf("Text %q is of type %s", field, f.Type),
			"declare it as a string, or leave the field out of the type")
	}
	for _, column := range p.ListColumns() {
		path := p.Path
		if len(p.Fields) > 0 {
			path += "." + column
		}
		if f := p.Docs.MustField(path); !f.Untyped && f.Type.Kind() != reflect.String {
			place.Fail(fmt.Sprintf("%q is of type %s", path, f.Type), "name fields of a string type")
		}
	}
	p.Docs.NoteAddedFields(p.field)
	return p
}

// listIndexes returns the index of the texts: a pattern then reads the index instead of
// the documents.
func (p *untypedProximity) listIndexes() []model.Index {
	return []model.Index{
		commands.MakeIndex(p.Docs.Name(), "reads the texts of "+p.Path+" in place of the documents", mql.E(p.field, 1)),
	}
}

// listFootprints returns the paths that the technique uses.
func (p *untypedProximity) listFootprints() []model.Footprint {
	name := p.Docs.Name()
	return slices.Concat(model.Writes.In(name, model.Whole, p.Path), model.Owns.In(name, p.field))
}
