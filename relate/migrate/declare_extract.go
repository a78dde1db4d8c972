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

// An extraction moves elements of owners into documents.
type extraction struct {
	embedding

	// IDOf is the id of the document that an element of an owner becomes.
	IDOf func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error)
}

// newExtraction checks the fields beside the paths. The caller sets IDOf.
func newExtraction(place core.Place, e embedding, makesID bool, mark, state string, overwrite bool) *extraction {
	x := &extraction{embedding: e}
	if (x.Key == "") != makesID {
		place.Fail(
			"Key and ID are both given or both missing",
			"give Key, the field with an element's id, or ID, which makes an id from owner and position",
		)
	}
	// The id is made from the index, which must then be stored somewhere.
	if x.Key == "" && x.refs == "" && x.order == "" && !x.single {
		place.Fail("elements without ids need an order", "name Order or Refs")
	}
	// The mark tells the migration's copies from documents of others.
	x.mark = cmp.Or(mark, "extracted")
	checkFieldNames(place, x.Key, x.parent, x.order, x.mark)
	x.state = newState(state, x.makeName())
	if x.refs != "" {
		x.state = x.state.setTarget(x.owners, x.matchStoredAt(x.refs), overwrite)
	}
	return x
}

// makeName names the migration, and its state document.
func (x *extraction) makeName() string { return "extract: " + x.owners + "." + x.path + " > " + x.docs }

// makeMigration makes the migration from elements to documents.
func (x *extraction) makeMigration() untypedMigration {
	e := x.embedding
	return untypedMigration{
		name: x.makeName(), docs: e.owners, state: e.state,
		verify: func() mongo.Pipeline { return e.compareForms(true) },
		copy: []pass{
			{
				collection: e.owners, projection: commands.ProjectFields(e.path, e.refs), filter: x.matchConcerned(),
				plan: x.copyOwners,
			},
			{collection: e.docs, filter: stmt.MatchExists(e.mark, true), plan: x.deleteOrphanCopies},
		},
		drop: []pass{
			{
				collection: e.owners, projection: commands.ProjectFields(e.path, e.refs),
				filter: stmt.MatchExists(e.path, true), plan: x.dropElements,
			},
			{
				collection: e.docs, projection: commands.ProjectFields(e.mark), filter: stmt.MatchExists(e.mark, true),
				plan: x.dropMarks,
			},
		},
	}
}

// matchConcerned matches the owners with elements, or with references to former elements.
func (x *extraction) matchConcerned() bson.D {
	if x.refs == "" {
		return stmt.MatchExists(x.path, true)
	}
	return bson.D{{Key: "$or", Value: bson.A{stmt.MatchExists(x.path, true), stmt.MatchExists(x.refs, true)}}}
}

// decodeKey decodes the id in an element's key.
func (x *extraction) decodeKey(element bson.RawValue, id any) (bson.RawValue, error) {
	v := x.readKey(element)
	if v.Type == 0 {
		return v, fmt.Errorf("the element has no %q", x.Key)
	}
	if err := v.Unmarshal(id); err != nil {
		return v, fmt.Errorf("the element's %q isn't a %s: %w", x.Key, reflect.TypeOf(id).Elem(), err)
	}
	return v, nil
}
