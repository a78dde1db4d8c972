package relate

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A halfLink is one direction of a relation whose other direction is missing, as a check finds it.
type halfLink struct {
	List bool          `bson:"list"` // it was found in the list of A (the owner, the left side), else in B
	A    bson.RawValue `bson:"a"`
	B    bson.RawValue `bson:"b"`
	V    int64         `bson:"v"`    // of versioned links
	Op   bson.ObjectID `bson:"op"`   // of versioned links
	Now  int64         `bson:"now"`  // of versioned links: the version of the item, or of the left document, which decides
	Gone bool          `bson:"gone"` // the document on the other side doesn't exist

	// Of a TwoWay of bare ids, where a list says more than the item: what the item names instead, none or one; and whether
	// that owner lists the item too.
	Names []bson.RawValue `bson:"names"`
	Kept  bool            `bson:"kept"`
}

// undecided reports whether the link belongs to an operation that can still decide.
func (h halfLink) undecided() bool { return !h.Gone && h.V == h.Now+1 }

// Tell says what the document links to.
func (h halfLink) Tell(f *model.Finding) {
	id, other := h.B, h.A
	if h.List {
		id, other = h.A, h.B
	}
	to := "nothing"
	if other.Type != 0 {
		to = model.Shell(other)
	}
	if h.V > 0 {
		to += fmt.Sprintf(" at version %d", h.V)
	}
	reason := "which doesn't link back"
	switch {
	case h.Gone:
		reason = "which is gone"
	case h.undecided():
		reason = "and the operation has not decided"
	case len(h.Names) > 0:
		reason = "which names " + model.Shell(h.Names[0])
	}
	f.ID, f.Problem = id, "links to "+to+", "+reason
	if !h.Op.IsZero() {
		f.Since = h.Op.Timestamp().Add(time.Second) // a token counts whole seconds
	}
}

// checked copies a half-link. It refuses a half-link without an id on one side.
func (h halfLink) checked(collection string) (halfLink, error) {
	if h.A.Type == 0 || h.B.Type == 0 {
		return h, &model.ValueError{Collection: collection, Field: "_id", Reason: "the link holds no id: mend it by hand"}
	}
	h.A, h.B = clone(h.A), clone(h.B)
	names := make([]bson.RawValue, len(h.Names))
	for i, name := range h.Names {
		names[i] = clone(name)
	}
	h.Names = names
	return h, nil
}

// halfLinks is the check that finds half-links by a pipeline over one side. An operation that is
// under way looks like a finding.
func halfLinks(name, collection, rule string, find mongo.Pipeline, mend func([]halfLink) model.Plan) model.Check {
	return model.Check{
		Name: name, Collection: collection, Rule: rule, Age: time.Minute, Pipeline: find, Tell: core.Tells[halfLink](),
		Mend: core.Mends(name, collection, func(found []halfLink) model.Plan {
			for i := range found {
				var err error
				if found[i], err = found[i].checked(collection); err != nil {
					return model.RefusedPlan(collection, err)
				}
			}
			return mend(found)
		}),
	}
}

// leadsBack is the rule of one direction of a relation.
func leadsBack(here, there string) string {
	return "each id of " + here + " leads to a document whose " + there + " leads back"
}

// halfLinkWaits is the condition of a half-link, as a pipeline has found it, whose operation can still decide.
var halfLinkWaits = bson.D{{Key: "$and", Value: bson.A{
	bson.D{{Key: "$not", Value: bson.A{"$gone"}}},
	bson.D{{Key: "$eq", Value: bson.A{"$v", bson.D{{Key: "$add", Value: bson.A{"$now", int64(1)}}}}}},
}}}

// waiting keeps the half-links whose operation can still decide, or the others.
func waiting(undecided bool) bson.D {
	if undecided {
		return bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: halfLinkWaits}}}}
	}
	return bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{halfLinkWaits}}}}}}}
}
