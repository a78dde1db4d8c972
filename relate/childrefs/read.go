package childrefs

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// findChildren is the pipeline of the children that a parent lists, in the order of the
// list. $lookup doesn't keep the order, so each element carries its index until the sort.
func (r *untypedChildRefs) findChildren(parent any) (mongo.Pipeline, error) {
	id, err := r.Parents.EncodeID("_id", parent)
	return stmt.BeginWithMatch(commands.MatchID(id),
		mql.Project(mql.E("_id", 0), mql.E("ref", "$"+r.list)),
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$ref"}, {Key: "includeArrayIndex", Value: "i"}}}},
		mql.Lookup(r.Children, idref.JoinPath("ref", r.key), "_id", "child"),
		mql.Unwind("$child"),
		bson.D{{Key: "$sort", Value: bson.D{{Key: "i", Value: 1}}}},
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$child"}}}},
	), err
}
