package columns

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An orphan is a flat document without its document.
type orphan struct {
	ID bson.RawValue `bson:"_id"`
}

func (o orphan) describeFinding(f *model.Finding) {
	f.ID, f.Problem = o.ID, "its document doesn't exist"
}

// listChecks returns the check of flat documents without their document.
func (c *untypedColumns) listChecks() []model.Check {
	name := c.flat + ": flat documents without their document"
	return []model.Check{{
		Name: name, Collection: c.flat, Rule: "each flat document has its document in " + c.docs.Name(),
		Pipeline: found.FindOrphans(c.docs.Name()), Tell: found.DescribeRows(orphan.describeFinding),
		Mend: found.MendByID(name, c.flat, "", func(id bson.D) model.Write { return commands.DeleteOne(c.flat, id) }),
	}}
}
