package proximity

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the check of texts that differ from their list.
func (p *untypedProximity) listChecks() []model.Check {
	name, is := fmt.Sprintf("%s.%s: texts that differ from %s", p.Docs.Name(), p.field, p.Path),
		mql.Op("$expr", p.compareText())
	// Without a list there is no text to set, and the old one goes.
	isList := mql.Op("$isArray", "$"+p.Path)
	set := mql.Set(mql.E(p.field, mql.Cond(isList, p.computeText(), "$$REMOVE")))
	return []model.Check{{
		Name: name, Collection: p.Docs.Name(), Rule: "each text is made from its list",
		Pipeline: mongo.Pipeline{
			mql.Match(is...),
			mql.SortID(),
			mql.Project(mql.E("text", "$"+p.field), mql.E("want", mql.Cond(isList, p.computeText(), nil))),
		},
		Tell: found.DescribeRows(drift.describeFinding),
		Mend: found.MendMatching(name, p.Docs.Name(), is, "some texts corrected; the next check finds the others",
			mongo.UpdateOneModel{Update: mongo.Pipeline{set}}),
	}}
}

// A drift is a document whose text differs from its list.
type drift struct {
	ID   bson.RawValue `bson:"_id"`
	Text bson.RawValue `bson:"text"` // as it is stored; of type 0 for nothing
	// the text that the list makes; nil without a list
	Want *string `bson:"want"`
}

// describeFinding shows both texts, shortened.
func (d drift) describeFinding(f *model.Finding) {
	has, want := "has no text", ", and the list is missing"
	if d.Text.Type != 0 {
		has = "has the text " + commands.Shorten(model.Shell(d.Text))
	}
	if d.Want != nil {
		want = ", but its list makes " + commands.Shorten(model.Shell(*d.Want))
	}
	f.ID, f.Problem = d.ID, has+want
}

// compareText is the expression that a text differs from its list.
func (p *untypedProximity) compareText() bson.D {
	return mql.Op("$ne", mql.IfNull("$"+p.field, nil), mql.Cond(mql.Op("$isArray", "$"+p.Path), p.computeText(), nil))
}
