// Inside package attributes: names and
// values in an array. The public type finds documents by _id, makes typed queries of the Match
// methods, and passes the other methods to model.Parts. Stores call makeReactions, audits
// call listChecks.
//
// # Stored form
//
// A product with two attributes. The names k and v can be changed:
//
//	products {_id: 1, attrs: [{k: "length", v: 30}, {k: "color", v: "red"}]}
//
// A multikey index on attrs.k and attrs.v serves queries by any attribute. A document has
// each name at most once. A name isn't a path, so it can contain dots and dollar signs.
// An element can have other fields, which stay.
//
// # Protocol
//
//  1. setAttributes is one update with a pipeline. It merges the value into the element of the
//     name, or appends an element. Run again, it changes nothing.
//  2. unsetAttributes is a $pull by name.
//  3. A store writes whole documents. checkDocument refuses repeated and empty names.
//
// # What a crash leaves
//
// Nothing: each write changes one document. Other code can push a name twice. The check
// finds it, and the repair keeps the first element of each name.

package attributes

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
)

// An untypedAttributes is the Attributes without its Go types.
type untypedAttributes struct {
	docs        *core.Docs
	path        string
	name, value string
}

// declareAttributes panics with a model.DeclarationError if the array can't have attributes. An
// empty name means k, an empty value v.
func declareAttributes(docs *core.Docs, path, name, value string) *untypedAttributes {
	place := core.Place(fmt.Sprintf("attributes.New of %s.%s", docs.Name(), path))
	a := &untypedAttributes{docs: docs, path: path, name: cmp.Or(name, "k"), value: cmp.Or(value, "v")}
	for _, name := range []string{a.name, a.value} {
		if err := core.CheckKey(name); err != nil {
			place.Fail(fmt.Sprintf("field %q: %v", name, err), "name a field of the elements, without dots")
		}
	}
	if a.name == a.value {
		place.Fail(fmt.Sprintf("the name and the value are both in the field %q", a.name),
			"name two fields of the elements")
	}
	a.docs.CheckArray(path)
	f := a.docs.MustField(a.namePath())
	if !f.Untyped && (f.Type.Kind() != reflect.String || f.Arrays != 1) {
		place.Fail(fmt.Sprintf("the name at %q is a %s", a.namePath(), f.Type), "declare it as a string")
	}
	a.docs.MustField(a.valuePath())
	return a
}

func (a *untypedAttributes) namePath() string  { return a.path + "." + a.name }
func (a *untypedAttributes) valuePath() string { return a.path + "." + a.value }

// makeIndex returns the index on names and values.
func (a *untypedAttributes) makeIndex() model.Index {
	why := "documents of " + a.docs.Name() + " by any of their attributes"
	return commands.MakeIndex(a.docs.Name(), why, mql.E(a.namePath(), 1), mql.E(a.valuePath(), 1))
}

// listFootprints are the paths that are used.
func (a *untypedAttributes) listFootprints() []model.Footprint {
	return append(model.Writes.In(a.docs.Name(), a.path), model.Mends.In(a.docs.Name(), a.path)...)
}
