// Package attributes is the core of denorm.Attributes: names and values in an array.
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

// A List is a denorm.Attributes without its types.
type List struct {
	docs        *core.Docs
	path        string
	name, value string
}

// Declare declares that an array holds attributes, with a name and a value in fields of its elements; "" means k and v. It
// panics with a *model.DeclarationError when it can't.
func Declare(docs *core.Docs, path, name, value string) *List {
	place := core.Place(fmt.Sprintf("NewAttributes of %s.%s", docs.Name(), path))
	a := &List{docs, path, cmp.Or(name, "k"), cmp.Or(value, "v")}
	for _, name := range []string{a.name, a.value} {
		if err := core.CheckKey(name); err != nil {
			place.Fail(fmt.Sprintf("field %q: %v", name, err), "name a field of the elements, without dots")
		}
	}
	a.docs.CheckArray(path)
	f := a.docs.MustField(a.names())
	if !f.Open && (f.Type.Kind() != reflect.String || f.Arrays != 1) {
		place.Fail(fmt.Sprintf("the name at %q is a %s", a.names(), f.Type), "declare it as a string")
	}
	a.docs.MustField(a.values())
	return a
}

func (a *List) names() string  { return a.path + "." + a.name }
func (a *List) values() string { return a.path + "." + a.value }

// Index is the index on names and values.
func (a *List) Index() model.Index {
	why := "documents of " + a.docs.Name() + " by any of their attributes"
	return commands.Index(a.docs.Name(), why, mql.E(a.names(), 1), mql.E(a.values(), 1))
}

// Footprints are the paths that are used.
func (a *List) Footprints() []model.Footprint {
	return append(model.Writes.In(a.docs.Name(), a.path), model.Mends.In(a.docs.Name(), a.path)...)
}
