package keys

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// raws are documents as they are stored, by the name of their collection: for the model's checks of what is inserted.
func (c *composite) raws() *model.Collection[bson.Raw, string] {
	return model.NewCollection[bson.Raw, string](c.name)
}

// ofDocument is a document's key: by its fields, and for parts that are in the key alone by the _id that it has. An _id that is
// another key than the fields' is refused.
func (c *composite) ofDocument(doc bson.Raw) (string, error) {
	id, hasID := doc.Lookup("_id").StringValueOK()
	hasID = hasID && id != ""
	var own []bson.RawValue
	vs := make([]bson.RawValue, len(c.parts))
	for i, p := range c.parts {
		switch v, inArray := model.ValueAt(doc, p.Path); {
		case !p.only && inArray:
			return "", c.refused(p.Path, nil, "is in an array: a key has one value for each part")
		case !p.only:
			vs[i] = v
			continue
		case !hasID:
			return "", c.refused("_id", nil, fmt.Sprintf("is missing, and %s is in the key alone: set it by KeyOf", p.Path))
		case own == nil:
			var err error
			if own, err = c.split(id, len(c.parts)); err != nil {
				return "", err
			}
		}
		vs[i] = own[i]
	}
	key, err := c.join(vs)
	if err == nil && hasID && id != key {
		return "", c.refused("_id", id, "is not the key of the document's fields, which is "+model.Shell(key))
	}
	return key, err
}

// keyed is a document under its key, as it is stored.
func (c *composite) keyed(doc any) (bson.Raw, string, error) {
	raw, err := storedDocument(c.enc, doc)
	if err != nil {
		return nil, "", c.refused("document", nil, err.Error())
	}
	key, err := c.ofDocument(raw)
	if err != nil {
		return nil, "", err
	}
	if raw, err = underKey(raw, key); err != nil {
		return nil, "", c.refused("document", nil, err.Error())
	}
	return raw, key, nil
}

func (c *composite) insert(doc any) model.Write {
	raw, _, err := c.keyed(doc)
	if err != nil {
		return model.Refused(c.name, err)
	}
	return c.raws().Insert(raw)
}

func (c *composite) insertMany(n int, doc func(int) any) model.Plan {
	raws := make([]bson.Raw, n)
	for i := range n {
		var err error
		if raws[i], _, err = c.keyed(doc(i)); err != nil {
			return model.RefusedPlan(c.name, fmt.Errorf("docmodel: document %d: %w", i, err))
		}
	}
	return c.raws().InsertMany(raws)
}

// move is the plan that stores a document in the place of another, which was read.
func (c *composite) move(was, now any) model.Plan {
	old, from, err := c.keyed(was)
	if err != nil {
		return model.RefusedPlan(c.name, fmt.Errorf("docmodel: as it was: %w", err))
	}
	if path, err := model.CheckNames(old, ""); err != nil {
		return model.RefusedPlan(c.name, fmt.Errorf("docmodel: as it was: %w", c.refused(path, nil, err.Error())))
	}
	doc, to, err := c.keyed(now)
	if err != nil {
		return model.RefusedPlan(c.name, fmt.Errorf("docmodel: as it shall be: %w", err))
	}
	asItWas := c.shapeOf(was).AsRead(old)
	if from == to {
		w := c.raws().Replace(doc)
		if m, ok := w.Model.(*mongo.ReplaceOneModel); ok {
			m.Filter = asItWas
			w.Done, w.Once = c.shapeOf(now).AsRead(doc), true
		}
		return model.NewPlan(w)
	}
	w := c.raws().Insert(doc)
	p := model.NewPlan(w, c.takeOut(asItWas))
	p.Transactional = true
	p.Leaves = "the document under both keys"
	return p
}

// shapeOf is how a document's type is stored: that of the collection's documents, or for an interface that of its value.
func (c *composite) shapeOf(doc any) model.Shape {
	if t := c.shape.Type; (t == nil || t.Kind() == reflect.Interface) && doc != nil {
		return c.shape.As(reflect.TypeOf(doc))
	}
	return c.shape
}

// takeOut deletes a document as it was read. A second time it finds none, and changes nothing.
func (c *composite) takeOut(asItWas bson.D) model.Write {
	return model.Write{Collection: c.name, Model: &mongo.DeleteOneModel{Filter: asItWas}, Expect: model.One, Once: true, Final: true, Index: model.IDIndex}
}

// rekey is the job that brings documents under their own keys.
func (c *composite) rekey() model.Job {
	j := model.Job{Name: "composite key of " + c.name, Collection: c.name, Plan: c.rekeyed}
	for _, p := range c.parts {
		if p.only {
			j.Err = c.refused(p.Path, nil, "is in the key alone: no field tells which key a document should have")
		}
	}
	return j
}

func (c *composite) rekeyed(docs []bson.Raw) (p model.Plan, err error) {
	var removed []model.Step
	for _, doc := range docs {
		id := doc.Lookup("_id")
		raw, err := underKey(doc, nil)
		if err != nil {
			return p, err
		}
		now, key, err := c.keyed(raw)
		if err != nil {
			return p, fmt.Errorf("docmodel: document %s: %w", model.Shell(id), err)
		}
		if is, ok := id.StringValueOK(); ok && is == key {
			continue
		}
		p.Steps = append(p.Steps, c.raws().Insert(now))
		removed = append(removed, c.takeOut(model.AsRead(doc)))
	}
	if len(removed) > 0 {
		p.Leaves = "documents under both keys"
		p.Options.AllowPartial = true // the next run reads them under the old ones, and completes
	}
	p.Steps = append(p.Steps, removed...)
	return p, nil
}
