package composite

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/stored"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeRekeyJob returns the job that brings documents under their own keys, after somebody changed the field of a part
// without PlanMove. With KeyOnly only the _id has the value of the part, so no document could be found wrong: the job
// is refused.
func (c *Key) MakeRekeyJob() model.Job {
	j := model.Job{
		Name:   "composite key of " + c.Name(),
		Stages: []model.Stage{{Collection: c.Name(), Keyed: []string{c.Name()}, Plan: c.planRekey}},
	}
	for _, p := range c.parts {
		if p.KeyOnly {
			j.Err = c.Refuse(p.Path, nil,
				"is stored only in the key, so no field tells which key a document should have")
		}
	}
	return j
}

// planRekey is the job's plan for one batch. It inserts a copy of each document that has a wrong _id, and then deletes
// the documents under the wrong _ids. All inserts come first, because they can be sent as one command.
func (c *Key) planRekey(docs []bson.Raw) (p model.Plan, err error) {
	var removed []model.Step
	for _, doc := range docs {
		id := doc.Lookup("_id")
		raw, err := stored.UnderKey(doc, nil) // without the _id, so that the fields alone decide
		if err != nil {
			return p, err
		}
		now, key, err := c.EncodeUnderKey(raw)
		if err != nil {
			return p, fmt.Errorf("docmodel: document %s: %w", model.Shell(id), err)
		}
		if is, ok := id.StringValueOK(); ok && is == key {
			continue
		}
		p.Steps = append(p.Steps, commands.AdoptWrite(c.rawCollection().Insert(now)))
		removed = append(removed, c.removeOld(core.AsRead(doc), id, core.AsStored(c.Name(), now)))
	}
	if len(removed) > 0 {
		p.Leaves = "documents with both keys; the next run of the job removes the old key"
		// The next run reads the documents under their old keys, finds their copies stored, and deletes them.
		p.Options.AllowPartial = true
	}
	p.Steps = append(p.Steps, removed...)
	return p, nil
}
