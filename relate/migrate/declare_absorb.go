package migrate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// declareAbsorption completes the declaration of a migration from documents to elements.
func (e *embedding) declareAbsorption(place core.Place, state string, overwrite bool) untypedMigration {
	checkFieldNames(place, e.Key, e.parent, e.order)
	name := "absorb: " + e.docs + " > " + e.owners + "." + e.path
	// Elements that are there before the first copy belong to others.
	e.state = newState(state, name).setTarget(e.owners, e.matchStoredAt(e.path), overwrite)
	return e.makeAbsorption(name)
}

// makeAbsorption makes the migration. With refs, the references are dropped before the
// documents, so that a document that nobody refers to any more can be told.
func (e embedding) makeAbsorption(name string) untypedMigration {
	drop := []pass{
		{collection: e.owners, projection: commands.ProjectFields(e.path), plan: e.dropDocs},
		reportOrphans(e.docs, e.parent, e.owners),
	}
	if e.refs != "" {
		drop = []pass{
			{
				collection: e.owners, projection: commands.ProjectFields(e.path, e.refs),
				filter: stmt.MatchExists(e.refs, true), plan: e.dropRefs,
			},
			{collection: e.docs, plan: e.dropUnreferred},
		}
	}
	return untypedMigration{
		name: name, docs: e.owners, state: e.state, verify: func() mongo.Pipeline { return e.compareForms(false) },
		drop: drop,
		copy: []pass{{collection: e.owners, filter: e.matchAbsorbing(), plan: e.copyDocs}},
	}
}

// listAbsorbIndexes returns the indexes of an absorption's queries.
func (e embedding) listAbsorbIndexes() []model.Index {
	out := e.listIndexes()
	if e.refs != "" {
		out = append(
			out,
			commands.MakeIndex(
				e.owners, "the documents of "+e.owners+" that embed a document of "+e.docs, mql.E(e.path+"."+e.Key, 1),
			),
		)
	}
	return out
}

// matchAbsorbing matches the owners that can have documents.
func (e embedding) matchAbsorbing() bson.D {
	if e.refs == "" {
		return nil
	}
	return bson.D{{Key: "$or", Value: bson.A{stmt.MatchExists(e.refs, true), stmt.MatchExists(e.path, true)}}}
}
