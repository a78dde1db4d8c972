package stored

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// SkipUnfinished returns stages that leave out parents which an unfinished action of a
// store hasn't reached yet. The action writes its child first, then its parents, which
// remember the action's token. The documents that come in have a parent's tokens in the
// field tokens.
//
// The lookup is the same for all parents, so the server can keep its result. The stages come
// after those that read children. So an action whose child was read is either still stored,
// and its parent is left out, or it has ended since, and has changed the parent's tokens: a
// repair whose filter has the tokens that were read then changes nothing.
func SkipUnfinished(children *core.Docs) mongo.Pipeline {
	action := children.StoreField().Action()
	unknown := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$actions"}, {Key: "as", Value: "a"},
		{Key: "cond", Value: mql.Op("$and", mql.Op("$in", "$_id", "$$a.to"),
			mql.Op("$not", bson.A{mql.Op("$in", "$$a.id", mql.IfNull("$tokens", bson.A{}))}))},
	})
	return mongo.Pipeline{
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: children.Name()}, {Key: "pipeline", Value: bson.A{
				mql.Match(mql.E(action+".to", mql.Exists(true))),
				mql.Project(mql.E("_id", 0), mql.E("id", "$"+action+".id"), mql.E("to", "$"+action+".to")),
			}}, {Key: "as", Value: "actions"},
		}}},
		mql.Match(mql.E("$expr", mql.Op("$eq", mql.Op("$size", unknown), 0))),
		mql.Project(mql.E("actions", 0)),
	}
}
