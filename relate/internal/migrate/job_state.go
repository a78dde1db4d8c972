package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The reasons not to copy.
var (
	ErrDropping = errors.New("docmodel: Drop of this migration has begun, so Copy can't run; Restart begins the migration again")
	ErrPresent  = errors.New("docmodel: the new form already holds data that this migration didn't write, and would delete")
)

// state is the document that says how far a migration is.
type state struct {
	collection, name string

	// What is stored in the new form by somebody else is a document of the collection that the filter matches.
	target    string
	present   bson.D // nil for a migration that tells its own by itself
	overwrite bool
}

func newState(collection, name string) state {
	return state{collection: cmp.Or(collection, "docmodel.migrations"), name: name}
}

// Footprints are the paths that a migration changes, and the document that says how far it is.
func (m *Migration) Footprints(changed []model.Footprint) []model.Footprint {
	return append(changed, model.Footprint{Collection: m.state.collection, Path: model.Whole, Document: m.state.name, Use: model.Owns})
}

// begin records that copying, or dropping, has begun.
func (s state) begin(phase string) model.Write {
	upsert := true
	return model.Write{Collection: s.collection, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: s.name}}, Update: stmt.Set(phase, true), Upsert: &upsert,
	}}
}

// beginCopy refuses to copy after a drop, and to begin over what is there.
func (s state) beginCopy(ctx context.Context, db model.DB, dry bool) error {
	begun, err := s.begun(ctx, db)
	if begun || err != nil {
		return err
	}
	if s.present != nil && !s.overwrite {
		there, err := s.holds(ctx, db, s.target, s.present)
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%w: %s", ErrPresent, s.name)
		}
	}
	if dry {
		return nil
	}
	_, err = s.begin("copying").Run(ctx, db)
	return err
}

// begun reports whether a copy has begun. A drop is an error.
func (s state) begun(ctx context.Context, db model.DB) (bool, error) {
	raw, err := one(s.collection, bson.D{{Key: "_id", Value: s.name}}).One(ctx, db)
	switch {
	case errors.Is(err, model.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case raw.Lookup("dropping").Type != 0:
		return true, fmt.Errorf("%w: %s", ErrDropping, s.name)
	}
	return true, nil
}

func (s state) holds(ctx context.Context, db model.DB, collection string, filter bson.D) (bool, error) {
	_, err := one(collection, filter).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// one is the query of a document that matches.
func one(collection string, filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{Collection: collection, Filter: filter}}
}

// lookup is the stage that puts the state into each row of a pipeline: an empty array until a drop begins.
func (s state) lookup() bson.D {
	filter := bson.D{{Key: "_id", Value: s.name}, {Key: "dropping", Value: true}}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: s.collection},
		{Key: "pipeline", Value: mongo.Pipeline{mql.Match(filter...), mql.Project(mql.E("_id", 1))}},
		{Key: "as", Value: "dropping"},
	}}}
}

// over says what the migration would take away.
func (s state) over(target string, present bson.D, overwrite bool) state {
	s.target, s.present, s.overwrite = target, present, overwrite
	return s
}

// noID are the values that hold no id: what a Go type's zero value is stored as, too.
func noID() bson.A { return bson.A{nil, "", bson.ObjectID{}} }

// holdsID is the condition that a path holds an id.
func holdsID(path string) bson.D {
	return bson.D{{Key: path, Value: mql.Op("$nin", noID())}}
}
