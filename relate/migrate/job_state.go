package migrate

// The state document of a migration.

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

var (
	// ErrDropping is returned by [Migration.Copy] after [Migration.Drop] has begun.
	ErrDropping = errors.New(
		"docmodel: Drop of this migration has begun, so Copy can't run; Restart begins the migration again",
	)

	// ErrPresent is returned by the first [Migration.Copy] if data is already stored where
	// the migration writes. To replace that data, set Overwrite in the migration's spec.
	ErrPresent = errors.New(
		"docmodel: the new form already holds data that this migration didn't write, and would delete",
	)
)

// A state is the document that says how far a migration is.
type state struct {
	collection, name string

	// What is stored in the new form by somebody else is a document of the collection
	// that the filter matches.
	target    string
	present   bson.D // nil for a migration that tells its own by itself
	overwrite bool
}

// newState names the state document; its collection has a default.
func newState(collection, name string) state {
	return state{collection: cmp.Or(collection, "docmodel.migrations"), name: name}
}

// listFootprints returns the paths that a migration changes, and its state document.
func (m *untypedMigration) listFootprints(changed []model.Footprint) []model.Footprint {
	return append(
		changed,
		model.Footprint{Collection: m.state.collection, Path: model.Whole, Document: m.state.name, Use: model.Owns},
	)
}

// recordPhase is the write that records that copying or dropping has begun.
func (s state) recordPhase(phase string) model.Write {
	upsert := true
	return model.Write{Collection: s.collection, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: s.name}}, Update: stmt.SetField(phase, true), Upsert: &upsert,
	}}
}

// beginCopy refuses to copy after a drop has begun, and to overwrite data of others.
func (s state) beginCopy(ctx context.Context, db model.DB, dry bool) error {
	begun, err := s.hasBegun(ctx, db)
	if begun || err != nil {
		return err
	}
	// Only before the first copy: later, the new form has what the copy wrote.
	if s.present != nil && !s.overwrite {
		there, err := s.hasMatch(ctx, db, s.target, s.present)
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
	_, err = s.recordPhase("copying").Run(ctx, db)
	return err
}

// hasBegun reports whether a copy has begun. It returns [ErrDropping] if a drop has
// begun.
func (s state) hasBegun(ctx context.Context, db model.DB) (bool, error) {
	// Each batch of a copy asks this again: another process can begin to drop at any
	// time.
	raw, err := findOne(s.collection, bson.D{{Key: "_id", Value: s.name}}).One(ctx, db)
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

// hasMatch reports whether a document matches.
func (s state) hasMatch(ctx context.Context, db model.DB, collection string, filter bson.D) (bool, error) {
	_, err := findOne(collection, filter).One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// findOne is the query of a document that matches.
func findOne(collection string, filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{Collection: collection, Filter: filter}}
}

// lookupState is the stage that puts the state into each row: an empty array until a drop
// begins.
func (s state) lookupState() bson.D {
	// The lookup has no join condition: each row gets the same state document.
	filter := bson.D{{Key: "_id", Value: s.name}, {Key: "dropping", Value: true}}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: s.collection},
		{Key: "pipeline", Value: mongo.Pipeline{mql.Match(filter...), mql.Project(mql.E("_id", 1))}},
		{Key: "as", Value: "dropping"},
	}}}
}

// setTarget says which data of others the migration would overwrite.
func (s state) setTarget(target string, present bson.D, overwrite bool) state {
	s.target, s.present, s.overwrite = target, present, overwrite
	return s
}

// listNoIDs returns the values that mean no id, as Go's zero values are stored.
func listNoIDs() bson.A { return bson.A{nil, "", bson.ObjectID{}} }

// matchID is the condition that a path has an id.
func matchID(path string) bson.D {
	return bson.D{{Key: path, Value: mql.Op("$nin", listNoIDs())}}
}
