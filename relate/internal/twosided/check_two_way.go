package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (t *TwoWay) Checks() []model.Check {
	out, lists := t.List.halfLinkChecks(t.Ref, t.Ref.String(), false, t.checkLists, t.repair)
	_, refs := t.Ref.halfLinkChecks(t.List, t.List.String(), true, t.checkRefs, t.repair)
	return append(out, lists, refs)
}

// checkLists is the pipeline of the items that an owner lists, and that don't name the owner.
func (t *TwoWay) checkLists() mongo.Pipeline {
	items, named, row := t.Ref.Docs.Name(), "$doc."+t.Ref.Path, rowOf(true, mql.E("a", "$_id"))
	if t.Ref.Links {
		row = append(versioned(row, "link", firstOf("doc."+t.Ref.Path+".v", int64(0))), mql.E("b", "$link.id"))
		return halves(t.List.unwound(), items, "link.id", linkBack("link"), named, row)
	}
	row = append(row, mql.E("names", mql.Op("$setDifference", named, mql.Literal(slices.Clone(t.none)))), mql.E("b", "$link"))
	stages := halves(t.List.unwound(), items, "link", "$_id", named, row)
	return append(stages[:len(stages)-1], mql.Lookup(t.List.Docs.Name(), "names", "_id", "other"),
		stmt.Set("kept", mql.Op("$in", "$b", firstOf("other."+t.List.Path, bson.A{}))), bson.D{{Key: "$unset", Value: "other"}}, halfLinkOrder)
}

// checkRefs is the pipeline of the items that name an owner which doesn't list them.
func (t *TwoWay) checkRefs() mongo.Pipeline {
	filter := bson.D{{Key: t.Ref.id(), Value: mql.Op("$nin", slices.Clone(t.none))}}
	back, row := any("$_id"), rowOf(false, mql.E("a", "$"+t.Ref.id()), mql.E("b", "$_id"))
	if t.Ref.Links {
		filter = append(filter, mql.E(t.Ref.Path+".v", mql.Op("$gt", 0)))
		back, row = linkBack(t.Ref.Path), versioned(row, t.Ref.Path, "$"+t.Ref.Path+".v")
	}
	return halves(stmt.Matching(filter), t.List.Docs.Name(), t.Ref.id(), back, firstOf("doc."+t.List.Path, bson.A{}), row)
}
