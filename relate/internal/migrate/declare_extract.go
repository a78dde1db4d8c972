package migrate

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Extraction moves elements of owners into documents.
type Extraction struct {
	Embedding

	// IDOf is the id of the document that an element of an owner becomes.
	IDOf func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error)
}

// NewExtraction checks what is given beside the paths. The caller sets IDOf.
func NewExtraction(place core.Place, e Embedding, makesID bool, mark, state string, overwrite bool) *Extraction {
	x := &Extraction{Embedding: e}
	if (x.Key == "") != makesID {
		place.Fail("Key and ID are both given or both missing", "give Key, the field with an element's id, or ID, which makes an id from owner and position")
	}
	if x.Key == "" && x.refs == "" && x.order == "" && !x.single {
		place.Fail("elements without ids need an order", "name Order or Refs")
	}
	x.mark = cmp.Or(mark, "extracted")
	checkFieldNames(place, x.Key, x.parent, x.order, x.mark)
	x.state = newState(state, x.name())
	if x.refs != "" {
		x.state = x.state.over(x.owners, x.holdsAt(x.refs), overwrite)
	}
	return x
}

func (x *Extraction) name() string { return "extract: " + x.owners + "." + x.path + " > " + x.docs }

// Migration is the migration from the elements to the documents.
func (x *Extraction) Migration() Migration {
	e := x.Embedding
	return Migration{
		name: x.name(), docs: e.owners, state: e.state, verify: func() mongo.Pipeline { return e.verify(true) },
		copy: []pass{
			{collection: e.owners, projection: commands.Fields(e.path, e.refs), filter: x.concerned(), plan: x.copyOwners},
			{collection: e.docs, filter: stmt.Exists(e.mark, true), plan: x.sweep},
		},
		drop: []pass{
			{collection: e.owners, projection: commands.Fields(e.path, e.refs), filter: stmt.Exists(e.path, true), plan: x.dropElements},
			{collection: e.docs, projection: commands.Fields(e.mark), filter: stmt.Exists(e.mark, true), plan: x.dropMarks},
		},
	}
}

// concerned are the owners that have elements, or references to what were elements.
func (x *Extraction) concerned() bson.D {
	if x.refs == "" {
		return stmt.Exists(x.path, true)
	}
	return bson.D{{Key: "$or", Value: bson.A{stmt.Exists(x.path, true), stmt.Exists(x.refs, true)}}}
}

// KeyIn decodes the id that an element holds in its key.
func (x *Extraction) KeyIn(element bson.RawValue, id any) (bson.RawValue, error) {
	v := x.keyOf(element)
	if v.Type == 0 {
		return v, fmt.Errorf("the element has no %q", x.Key)
	}
	if err := v.Unmarshal(id); err != nil {
		return v, fmt.Errorf("the element's %q isn't a %s: %w", x.Key, reflect.TypeOf(id).Elem(), err)
	}
	return v, nil
}
