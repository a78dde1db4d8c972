package migrate

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// verifyRefs compares from the parents' side, and adds the children whose reference leads nowhere.
func (v *Inversion) verifyRefs(state state) mongo.Pipeline {
	others := "$ne"
	if v.FirstWins {
		others = "$gt"
	}
	unheld := mql.Op("$or", free, mql.Op(others, "$$c.ref", "$_id"))
	stages := append(v.compared(state), hasOldForm)
	stages = append(stages, rows(v.Parents, v.common(
		foundList{mismatchMissing, mql.Map(stmt.Filtered("$there", "c", unheld), "c", "$$c._id")},
		foundList{mismatchExtra, notAmong("$mine._id", "$ids")},
	)...)...)
	return append(stages, danglingRefs(v.Children, v.Ref, v.Parents, mismatchExtra))
}

// verifyLists compares from the parents' side, and adds the children whose reference leads nowhere. A child without a
// reference may be listed once the drop has begun.
func (v *Inversion) verifyLists(state state) mongo.Pipeline {
	other := mql.Op("$and", stmt.Not(free), mql.Op("$ne", "$$c.ref", "$_id"))
	detached := mql.Op("$and", free, mql.Op("$eq", "$dropping", bson.A{}))
	stages := append(v.compared(state), rows(v.Parents, v.common(
		foundList{mismatchMissing, notAmong("$mine._id", "$ids")},
		foundList{mismatchExtra, mql.Map(stmt.Filtered("$there", "c", mql.Op("$or", other, detached)), "c", "$$c._id")},
	)...)...)
	return append(stages, danglingRefs(v.Children, v.Ref, v.Parents, mismatchMissing))
}

// compared are the stages that put both forms of a parent side by side: ids, mine, there.
func (v *Inversion) compared(state state) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("ids", mql.List(v.List)), mql.E("has", has(v.List))),
		state.lookup(),
		lookupDocs(v.Children, "_id", v.Ref, "mine", v.order(), "_id"),
		mql.Lookup(v.Children, "ids", "_id", "there", mql.E("ref", "$"+v.Ref)),
	}
}

// common adds the mismatches that both directions have.
func (v *Inversion) common(lists ...foundList) []foundList {
	lists = append(lists,
		foundList{mismatchDangling, notAmong("$ids", "$there._id")},
		foundList{mismatchDuplicate, repeated("$ids")},
	)
	if v.Position != "" {
		lists = append(lists, foundList{mismatchOrder, orderOf(among(stmt.Distinct("$ids"), "$mine._id"), among("$mine._id", "$ids"))})
	}
	return lists
}
