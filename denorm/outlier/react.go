package outlier

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions refuses to delete an owner with overflow in a store, because the overflow
// would stay. The flag is set before the first overflow document is stored, so it is
// enough to look at the flag. It also refuses a store's writes of overflow documents.
func (o *untypedOutlier) makeReactions() []model.Reaction {
	return []model.Reaction{
		{Collection: o.docs.Name(), On: model.OnDelete, React: func(w model.StoreWrite) (a model.Answer, _ error) {
			if flag, _ := core.ValueAt(w.Before, o.spec.Flag); flag.Type == bson.TypeBoolean && flag.Boolean() {
				return a, o.docs.Refuse(o.spec.Flag, true,
					"is set, so the document has overflow: delete it by Outlier.Delete")
			}
			return a, nil
		}},
		o.in.RefuseStores("Outlier.Append and Outlier.Remove"),
	}
}
