package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of the lists and of the references.
func (t *untypedTwoWay) listChecks() []model.Check {
	return []model.Check{
		t.List.checkHalfLinks(t.Ref, t.Ref.String(), t.findLists(), t.planRepair),
		t.Ref.checkHalfLinks(t.List, t.List.String(), t.findRefs(), t.planRepair),
	}
}

// findLists is the pipeline of the items in an owner's list that don't name the owner.
func (t *untypedTwoWay) findLists() mongo.Pipeline {
	owners, ref := t.List.Docs.Name(), "$doc."+t.Ref.Path
	stages := append(keepHalfLinks(t.List.unwindLinks(), t.Ref.Docs.Name(), "link", t.Ref.Path, false),
		stmt.SetField("names", mql.Op("$setDifference", ref, mql.Literal(slices.Clone(t.none)))),
		mql.Lookup(owners, "names", "_id", "other", mql.E(t.List.Path, 1), t.List.projectStoreField()),
		t.lookupListing("link"),
		t.List.matchSettled(mql.Op("$in", "$_id", "$listing._id"), joined{"doc", t.Ref}, joined{"other", t.List},
			joined{"listing", t.List}))
	kept := mql.Op("$in", "$link", mql.IfNull(mql.Op("$arrayElemAt", "$other."+t.List.Path, 0), bson.A{}))
	return append(stages,
		t.List.makeHalfLink(t.Ref, "a", "b", "$link", mql.E("names", 1), mql.E("kept", kept)), halfLinkOrder)
}

// findRefs is the pipeline of the items that name an owner whose list lacks them.
func (t *untypedTwoWay) findRefs() mongo.Pipeline {
	links := stmt.BeginWithMatch(bson.D{{Key: t.Ref.Path, Value: mql.Op("$nin", slices.Clone(t.none))}})
	stages := append(keepHalfLinks(links, t.List.Docs.Name(), t.Ref.Path, t.List.Path, true),
		t.Ref.lookupAgain(), t.lookupListing("_id"),
		t.Ref.matchSettled(mql.Op("$in", "$"+t.Ref.Path, "$again."+t.Ref.Path),
			joined{"doc", t.List}, joined{"again", t.Ref}, joined{"listing", t.List}))
	return append(stages, t.Ref.makeHalfLink(t.List, "b", "a", "$"+t.Ref.Path), halfLinkOrder)
}

// lookupListing is the stage that adds the owners whose list has an item. An owner's
// action writes the owner first, then the item and the item's old owner.
func (t *untypedTwoWay) lookupListing(item string) bson.D {
	return mql.Lookup(t.List.Docs.Name(), item, t.List.Path, "listing", t.List.projectStoreField())
}

// planRepair mends half-links. A plan gives an item to one owner only: if several lists
// have it, the others lose it.
func (t *untypedTwoWay) planRepair(found []halfLink) model.Plan {
	var p model.Plan
	given := map[string]bool{} // items that this plan gives to an owner
	for _, h := range found {
		key := bsonval.Key(h.B)
		item := t.Ref.matchAsFound(h.B, h.MarkB)
		switch {
		case !h.List && (h.Gone || t.TrustLists):
			p.Steps = append(p.Steps,
				commands.UpdateIf(t.Ref.Docs.Name(), append(item, stmt.MatchValue(t.Ref.Path, h.A)...),
					stmt.UnsetFields(t.Ref.Path)))
		case !h.List:
			p.Steps = append(p.Steps, t.List.addID(h.A, h.MarkA, h.B))
		case h.Gone || h.Kept || !t.TrustLists || given[key]:
			p.Steps = append(p.Steps, t.List.pullID(h.A, h.MarkA, h.B))
		default: // the item names the owner that lists it, if it still names whom the check saw, or nobody
			given[key] = true
			names := append(slices.Clone(t.none), idref.CopyIDs(h.Names)...)
			p.Steps = append(p.Steps,
				commands.UpdateIf(t.Ref.Docs.Name(), append(item, mql.E(t.Ref.Path, stmt.OneOf(names))),
					stmt.SetField(t.Ref.Path, h.A)))
		}
	}
	return p
}
