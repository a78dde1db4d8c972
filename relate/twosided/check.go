package twosided

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A check must not take an action of a store for a half-link, and a repair must not undo
// one.
//
//   - A half-link isn't a finding while a document that the action writes first tells of the
//     action, in the store's field.
//   - A repair writes one document, and the other side decides. The pipelines read the written
//     document before the deciding one. An action that changes a pair writes both documents, and
//     each write changes the store's field, or in a transaction conflicts with the repair. So a
//     document with the store's field as the check read it is written, or none.

// A halfLink is one direction of a relation whose other direction is missing, as a check
// finds it.
type halfLink struct {
	List bool          `bson:"list"` // it was found in the list of A (the owner, the left side), else in B
	A    bson.RawValue `bson:"a"`
	B    bson.RawValue `bson:"b"`
	Gone bool          `bson:"gone"` // the document on the other side doesn't exist

	// The store's fields of A and B, as the check read them.
	MarkA bson.RawValue `bson:"markA"`
	MarkB bson.RawValue `bson:"markB"`

	// Of a TwoWay, where a list says more than the item: the owner that the item names
	// instead, if any, and whether that owner lists the item too.
	Names []bson.RawValue `bson:"names"`
	Kept  bool            `bson:"kept"`
}

// describeFinding says what the document links to.
func (h halfLink) describeFinding(f *model.Finding) {
	id, other := h.B, h.A
	if h.List {
		id, other = h.A, h.B
	}
	to := "nothing"
	if other.Type != 0 {
		to = model.Shell(other)
	}
	reason := "which doesn't link back"
	switch {
	case h.Gone:
		reason = "which doesn't exist"
	case len(h.Names) > 0:
		reason = "which refers to " + model.Shell(h.Names[0])
	}
	f.ID, f.Problem = id, "links to "+to+", "+reason
}

// checkHalfLinks is the check of links of an end which the other end lacks. other is the
// other end in words. The repair clones the values, because they outlive the findings.
func (e endOfRelation) checkHalfLinks(
	back endOfRelation, other string, find mongo.Pipeline, mend func([]halfLink) model.Plan,
) model.Check {
	name, docs := e.String()+": links that "+other+" lacks", e.Docs
	mendAll := func(found []halfLink) model.Plan {
		for i, h := range found {
			if h.A.Type == 0 || h.B.Type == 0 {
				return model.NewPlan(model.Refused(docs.Name(),
					docs.Refuse("_id", nil, "the link has no id: correct it by hand")))
			}
			for _, v := range []*bson.RawValue{&found[i].A, &found[i].B, &found[i].MarkA, &found[i].MarkB} {
				*v = bsonval.Clone(*v)
			}
		}
		return mend(found)
	}
	return model.Check{
		Name: name, Collection: docs.Name(), Age: time.Minute, Pipeline: find,
		Tell: found.DescribeRows(halfLink.describeFinding),
		Rule: "each id of " + e.String() + " refers to a document whose " + back.String() + " refers back",
		Mend: found.MendRows(name, docs.Name(), mendAll),
	}
}

// unwindLinks returns the stages that make a document of each element of a list, as link.
func (e endOfRelation) unwindLinks() mongo.Pipeline {
	return mongo.Pipeline{mql.Project(mql.E("link", "$"+e.Path), e.projectStoreField()), mql.Unwind("$link")}
}

// projectStoreField is the projection of the field of stores.
func (e endOfRelation) projectStoreField() bson.E { return mql.E(string(e.Docs.StoreField()), 1) }

// keepHalfLinks completes a pipeline of links, with the documents at the path id as doc.
// It drops the links whose documents have the _id at the path back.
func keepHalfLinks(links mongo.Pipeline, other, id, back string, list bool) mongo.Pipeline {
	held := any("$doc." + back)
	if list {
		held = mql.IfNull(mql.Op("$arrayElemAt", held, 0), bson.A{})
	}
	return append(links, mql.Lookup(other, id, "_id", "doc"), stmt.MatchExpr(stmt.Negate(mql.Op("$in", "$_id", held))))
}

// A joined names the documents of an end that a $lookup has added to a link.
type joined struct {
	name string
	end  endOfRelation
}

// matchSettled is the stage that keeps the links for which a condition still holds, and
// whose documents, with the joined ones, tell of no unfinished action.
func (e endOfRelation) matchSettled(still any, others ...joined) bson.D {
	filter := bson.D{mql.E("$expr", still), mql.E(e.Docs.StoreField().Action(), mql.Exists(false))}
	for _, o := range others {
		filter = append(filter, mql.E(o.name+"."+o.end.Docs.StoreField().Action(), mql.Exists(false)))
	}
	return mql.Match(filter...)
}

// lookupAgain is the stage that reads the document of a link again, as again, after the
// document on the other side.
func (e endOfRelation) lookupAgain() bson.D {
	return mql.Lookup(e.Docs.Name(), "_id", "_id", "again", mql.E(e.Path, 1), e.projectStoreField())
}

// makeHalfLink is the stage that makes a half-link of the end's document and of the
// document at the other end, which is joined as doc. self is the name of the document's
// own id, a or b.
func (e endOfRelation) makeHalfLink(back endOfRelation, self, other string, otherID any, more ...bson.E) bson.D {
	own, others := string(e.Docs.StoreField()), string(back.Docs.StoreField())
	marks := map[string]string{"a": "markA", "b": "markB"}
	fields := bson.D{
		mql.E("_id", 0), mql.E("list", mql.Literal(self == "a")), mql.E(self, "$_id"), mql.E(other, otherID),
		mql.E("gone", mql.Op("$eq", "$doc", bson.A{})),
		mql.E(marks[self], "$"+own), mql.E(marks[other], mql.Op("$arrayElemAt", "$doc."+others, 0)),
	}
	return mql.Project(append(fields, more...)...)
}

// halfLinkOrder makes the order of findings the same in each run.
var halfLinkOrder = bson.D{{Key: "$sort", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}}

// matchAsFound is the filter of a document whose store field is as the check read it.
// After another write, the repair's write matches nothing, and the next check looks
// again.
func (e endOfRelation) matchAsFound(id, mark bson.RawValue) bson.D {
	cond := any(mql.Exists(false))
	if mark.Type != 0 {
		cond = mql.Eq(mark)
	}
	return append(commands.MatchID(id), mql.E(string(e.Docs.StoreField()), cond))
}

// addID is the repair that adds an id to a list. It ignores Max: the other side says that
// the link exists.
func (e endOfRelation) addID(holder, mark, id bson.RawValue) model.Write {
	return commands.UpdateIf(e.Docs.Name(), e.matchAsFound(holder, mark), stmt.ApplyOperator("$addToSet", e.Path, id))
}

// pullID is the repair that removes an id from a list.
func (e endOfRelation) pullID(holder, mark, id bson.RawValue) model.Write {
	return commands.UpdateIf(e.Docs.Name(), e.matchAsFound(holder, mark),
		stmt.ApplyOperator("$pull", e.Path, mql.Eq(id)))
}
