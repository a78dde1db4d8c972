package migrate

// The comparison of lists with references, on the server.

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// verifyRefs compares the lists with the new references, parent by parent. It adds the
// children whose reference leads to no parent. With FirstWins, a child may refer to an
// earlier parent.
func (v *inversion) verifyRefs(state state) mongo.Pipeline {
	others := "$ne"
	if v.FirstWins {
		others = "$gt"
	}
	// Listed children that refer to no parent, or to another one.
	unheld := mql.Op("$or", free, mql.Op(others, "$$c.ref", "$_id"))
	stages := append(v.joinForms(state), hasOldForm)
	stages = append(stages, makeRows(v.Parents, v.addCommon(
		foundList{mismatchMissing, mql.Map(stmt.FilterList("$there", "c", unheld), "c", "$$c._id")},
		foundList{mismatchExtra, keepOthers("$mine._id", "$ids")},
	)...)...)
	return append(stages, unionDangling(v.Children, v.Ref, v.Parents, mismatchExtra))
}

// verifyLists compares the references with the new lists. Once a drop has begun, a listed
// child may have no reference.
func (v *inversion) verifyLists(state state) mongo.Pipeline {
	other := mql.Op("$and", stmt.Negate(free), mql.Op("$ne", "$$c.ref", "$_id"))
	// A child without a reference is wrong only before the drop.
	detached := mql.Op("$and", free, mql.Op("$eq", "$dropping", bson.A{}))
	stages := append(v.joinForms(state), makeRows(v.Parents, v.addCommon(
		foundList{mismatchMissing, keepOthers("$mine._id", "$ids")},
		foundList{
			mismatchExtra, mql.Map(stmt.FilterList("$there", "c", mql.Op("$or", other, detached)), "c", "$$c._id"),
		},
	)...)...)
	return append(stages, unionDangling(v.Children, v.Ref, v.Parents, mismatchMissing))
}

// joinForms returns the stages that put both forms of a parent side by side: the listed
// ids, mine (the children that refer to it) and there (the listed children).
func (v *inversion) joinForms(state state) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("ids", mql.List(v.List)), mql.E("has", testStored(v.List))),
		state.lookupState(),
		lookupDocs(v.Children, "_id", v.Ref, "mine", v.sortChildren(), "_id"),
		mql.Lookup(v.Children, "ids", "_id", "there", mql.E("ref", "$"+v.Ref)),
	}
}

// addCommon adds the mismatches of both directions.
func (v *inversion) addCommon(lists ...foundList) []foundList {
	lists = append(lists,
		foundList{mismatchDangling, keepOthers("$ids", "$there._id")},
		foundList{mismatchDuplicate, listRepeated("$ids")},
	)
	if v.Position != "" {
		lists = append(
			lists,
			foundList{
				mismatchOrder,
				compareOrder(keepAmong(stmt.RemoveDuplicates("$ids"), "$mine._id"), keepAmong("$mine._id", "$ids")),
			},
		)
	}
	return lists
}
