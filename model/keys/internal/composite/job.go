package composite

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/stored"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Rekey is the job that brings documents under their own keys.
func (c *Key) Rekey() model.Job {
	j := model.Job{
		Name:   "composite key of " + c.Name(),
		Stages: []model.Stage{{Collection: c.Name(), Keyed: []string{c.Name()}, Plan: c.rekeyed}},
	}
	for _, p := range c.parts {
		if p.Only {
			j.Err = c.Refuse(p.Path, nil, "is stored only in the key, so no field tells which key a document should have")
		}
	}
	return j
}

func (c *Key) rekeyed(docs []bson.Raw) (p model.Plan, err error) {
	var removed []model.Step
	for _, doc := range docs {
		id := doc.Lookup("_id")
		raw, err := stored.UnderKey(doc, nil)
		if err != nil {
			return p, err
		}
		now, key, err := c.Keyed(raw)
		if err != nil {
			return p, fmt.Errorf("docmodel: document %s: %w", model.Shell(id), err)
		}
		if is, ok := id.StringValueOK(); ok && is == key {
			continue
		}
		p.Steps = append(p.Steps, commands.AdoptWrite(c.raws().Insert(now)))
		removed = append(removed, c.moved(core.AsRead(doc), id, core.AsStored(c.Name(), now)))
	}
	if len(removed) > 0 {
		p.Leaves = "documents with both keys; the next run of the job removes the old key"
		p.Options.AllowPartial = true // the next run reads them under the old ones, and completes
	}
	p.Steps = append(p.Steps, removed...)
	return p, nil
}
