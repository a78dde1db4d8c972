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

// Checks finds texts that differ from their list.
func (p *List) Checks() []model.Check {
	name, is := fmt.Sprintf("%s.%s: texts that differ from %s", p.Docs.Name(), p.field, p.Path),
		mql.Op("$expr", p.differs())
	isList := mql.Op("$isArray", "$"+p.Path)
	set := mql.Set(mql.E(p.field, mql.Cond(isList, p.listText(), "$$REMOVE")))
	return []model.Check{{
		Name: name, Collection: p.Docs.Name(), Rule: "each text is made from its list",
		Pipeline: mongo.Pipeline{
			mql.Match(is...),
			mql.SortID(),
			mql.Project(mql.E("text", "$"+p.field), mql.E("want", mql.Cond(isList, p.listText(), nil))),
		},
		Tell: found.DescribeRows(drift.tell),
		Mend: found.MendMatching(name, p.Docs.Name(), is, "some texts corrected; the next check finds the others",
			mongo.UpdateOneModel{Update: mongo.Pipeline{set}}),
	}}
}

// A drift is a document whose text is not that of its list.
type drift struct {
	ID   bson.RawValue `bson:"_id"`
	Text bson.RawValue `bson:"text"` // as it is stored; of type 0 for nothing
	Want *string       `bson:"want"` // what the list makes; nil where there is no list
}

func (d drift) tell(f *model.Finding) {
	has, want := "has no text", ", and the list is missing"
	if d.Text.Type != 0 {
		has = "has the text " + commands.Shorten(model.Shell(d.Text))
	}
	if d.Want != nil {
		want = ", but its list makes " + commands.Shorten(model.Shell(*d.Want))
	}
	f.ID, f.Problem = d.ID, has+want
}

// differs is the expression that a text is not that of its list.
func (p *List) differs() bson.D {
	return mql.Op("$ne", mql.IfNull("$"+p.field, nil), mql.Cond(mql.Op("$isArray", "$"+p.Path), p.listText(), nil))
}
