package twosided

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
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

	// Of a TwoWay of bare ids, where a list says more than the item: the owner that the item names instead, if any, and whether
	// that owner lists the item too.
	Names []bson.RawValue `bson:"names"`
	Kept  bool            `bson:"kept"`
}

// undecided reports whether the link belongs to an operation that can still decide.
func (h halfLink) undecided() bool { return !h.Gone && h.V == h.Now+1 }

// Tell says what the document links to.
func (h halfLink) tell(f *model.Finding) {
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
		reason = "which doesn't exist"
	case h.undecided():
		reason = "whose operation isn't decided yet"
	case len(h.Names) > 0:
		reason = "which refers to " + model.Shell(h.Names[0])
	}
	f.ID, f.Problem = id, "links to "+to+", "+reason
	if !h.Op.IsZero() {
		f.Since = h.Op.Timestamp().Add(time.Second) // a token counts whole seconds
	}
}

// halfLinks is the check that finds half-links by a pipeline over one side. An operation that is
// under way looks like a finding.
func halfLinks(name string, docs *core.Docs, rule string, find mongo.Pipeline, mend func([]halfLink) model.Plan) model.Check {
	return model.Check{
		Name: name, Collection: docs.Name(), Rule: rule, Age: time.Minute, Pipeline: find, Tell: found.Tells(halfLink.tell),
		Mend: found.Mends(name, docs.Name(), func(found []halfLink) model.Plan {
			for i, h := range found {
				if h.A.Type == 0 || h.B.Type == 0 {
					return model.RefusedPlan(docs.Name(), docs.Refuse("_id", nil, "the link has no id: correct it by hand"))
				}
				found[i].A, found[i].B = bsonval.Clone(h.A), bsonval.Clone(h.B)
			}
			return mend(found)
		}),
	}
}

// halfLinkChecks are the checks of an end: of the links that wait for their operation to decide, if there are such, and of
// the links that the other end lacks. other is the other end in words.
func (e End) halfLinkChecks(back End, other string, decides bool, find func() mongo.Pipeline, mend func([]halfLink) model.Plan) (waiting []model.Check, lacks model.Check) {
	stages := find()
	if e.Links && !decides {
		stages = append(stages, stmt.MatchExpr(stmt.Not(halfLinkWaits)))
		waiting = []model.Check{halfLinks(e.String()+": undecided links", e.Docs,
			"no operation on a link of "+e.String()+" is undecided", append(find(), stmt.MatchExpr(halfLinkWaits)), mend)}
	}
	rule := "each id of " + e.String() + " refers to a document whose " + back.String() + " refers back"
	return waiting, halfLinks(e.String()+": links that "+other+" lacks", e.Docs, rule, stages, mend)
}

// halfLinkWaits is the condition of a half-link, as a pipeline has found it, whose operation can still decide.
var halfLinkWaits = mql.Op("$and", stmt.Not("$gone"), mql.Op("$eq", "$v", mql.Op("$add", "$now", int64(1))))

// unwound are the stages that make a document of each element of a list, as link.
func (e End) unwound() mongo.Pipeline {
	return mongo.Pipeline{mql.Project(mql.E("link", "$"+e.Path)), mql.Unwind("$link")}
}

// halves completes the pipeline of half-links: the links at a path, whose documents are looked up by the path id, and do
// not have back among held.
func halves(links mongo.Pipeline, other, id string, back, held any, row bson.D) mongo.Pipeline {
	return append(links, mql.Lookup(other, id, "_id", "doc"), stmt.MatchExpr(stmt.Not(mql.Op("$in", back, held))), mql.Project(row...), halfLinkOrder)
}

var halfLinkOrder = bson.D{{Key: "$sort", Value: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}}

// rowOf is the begin of a half-link as a pipeline makes it.
func rowOf(list bool, fields ...bson.E) bson.D {
	row := append(bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: mql.Literal(list)}}, fields...)
	return append(row, mql.E("gone", mql.Op("$eq", "$doc", bson.A{})))
}

// linkBack is the link that the other side must hold for the link at a path.
func linkBack(path string) bson.D {
	return bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$" + path + ".v"}, {Key: "op", Value: "$" + path + ".op"}}
}

// versioned adds the fields of a versioned link to a row.
func versioned(row bson.D, path string, now any) bson.D {
	return append(row, mql.E("v", "$"+path+".v"), mql.E("op", "$"+path+".op"), mql.E("now", now))
}

// firstOf is what a document that was looked up holds, or otherwise.
func firstOf(path string, otherwise any) bson.D {
	return mql.IfNull(mql.Op("$arrayElemAt", "$"+path, 0), otherwise)
}
