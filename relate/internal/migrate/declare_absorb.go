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

// Absorption completes the declaration, and returns the migration from the documents to the elements.
func (e *Embedding) Absorption(place core.Place, state string, overwrite bool) Migration {
	checkFieldNames(place, e.Key, e.parent, e.order)
	name := "absorb: " + e.docs + " > " + e.owners + "." + e.path
	e.state = newState(state, name).over(e.owners, e.holdsAt(e.path), overwrite)
	return e.absorbMigration(name)
}

func (e Embedding) absorbMigration(name string) Migration {
	drop := []pass{{collection: e.owners, projection: commands.Fields(e.path), plan: e.dropDocs}, orphans(e.docs, e.parent, e.owners)}
	if e.refs != "" {
		drop = []pass{
			{collection: e.owners, projection: commands.Fields(e.path, e.refs), filter: stmt.Exists(e.refs, true), plan: e.dropRefs},
			{collection: e.docs, plan: e.dropUnreferred},
		}
	}
	return Migration{
		name: name, docs: e.owners, state: e.state, verify: func() mongo.Pipeline { return e.verify(false) }, drop: drop,
		copy: []pass{{collection: e.owners, filter: e.absorbing(), plan: e.copyDocs}},
	}
}

// AbsorbIndexes are the indexes that an absorption is read by.
func (e Embedding) AbsorbIndexes() []model.Index {
	out := e.Indexes()
	if e.refs != "" {
		out = append(out, commands.Index(e.owners, "the documents of "+e.owners+" that embed a document of "+e.docs, mql.E(e.path+"."+e.Key, 1)))
	}
	return out
}

// absorbing are the owners that may have documents.
func (e Embedding) absorbing() bson.D {
	if e.refs == "" {
		return nil
	}
	return bson.D{{Key: "$or", Value: bson.A{stmt.Exists(e.refs, true), stmt.Exists(e.path, true)}}}
}
