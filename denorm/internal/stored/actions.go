package stored

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The fields of stores outside transactions: see [model.Store].
const (
	TokensField = StoreField + ".ops" // of a parent: the tokens of the last actions that changed it
	ActionField = StoreField + ".op"  // of a child: an unfinished action
	GoneField   = ActionField + ".gone"
)

// WithoutActions leaves out the parents that don't know an unfinished action yet. Its child is written first, then its
// parents, which remember the token. The documents that come in have a parent's tokens in the field tokens. The lookup
// is the same for all parents, so that the server can keep its result. It comes last: an action that ended since the
// parent was read has changed the parent's tokens.
func WithoutActions(children string) mongo.Pipeline {
	unknown := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$actions"}, {Key: "as", Value: "a"},
		{Key: "cond", Value: mql.Op("$and", mql.Op("$in", "$_id", "$$a.to"),
			mql.Op("$not", bson.A{mql.Op("$in", "$$a.id", mql.IfNull("$tokens", bson.A{}))}))},
	})
	return mongo.Pipeline{
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: children}, {Key: "pipeline", Value: bson.A{
				mql.Match(mql.E(ActionField+".to", mql.Exists(true))),
				mql.Project(mql.E("_id", 0), mql.E("id", "$"+ActionField+".id"), mql.E("to", "$"+ActionField+".to")),
			}}, {Key: "as", Value: "actions"},
		}}},
		mql.Match(mql.E("$expr", mql.Op("$eq", mql.Op("$size", unknown), 0))),
		mql.Project(mql.E("actions", 0)),
	}
}
