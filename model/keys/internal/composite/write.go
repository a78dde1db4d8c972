package composite

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/stored"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// raws are documents as they are stored, by the name of their collection: for the model's checks of what is inserted.
func (c *Key) raws() *model.Collection[bson.Raw, string] {
	raws := model.NewCollection[bson.Raw, string](c.Name())
	raws.Docs().ShareKeyed()
	return raws
}

// ofDocument is a document's key: by its fields, and for parts that are in the key alone by the _id that it has. An _id
// that is another key than the fields' is refused.
func (c *Key) ofDocument(doc bson.Raw) (string, error) {
	id, hasID := doc.Lookup("_id").StringValueOK()
	hasID = hasID && id != ""
	var own []bson.RawValue
	vs := make([]bson.RawValue, len(c.parts))
	for i, p := range c.parts {
		switch v, inArray := core.ValueAt(doc, p.Path); {
		case !p.Only && inArray:
			return "", c.Refuse(p.Path, nil, "is in an array: a key has one value for each part")
		case !p.Only:
			vs[i] = v
			continue
		case !hasID:
			return "", c.Refuse("_id", nil,
				fmt.Sprintf("is missing, and %s is stored only in the key: set it with KeyOf", p.Path))
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
		return "", c.Refuse("_id", id, "isn't the key that the document's fields give, which is "+model.Shell(key))
	}
	return key, err
}

// Keyed is a document under its key, as it is stored.
func (c *Key) Keyed(doc any) (bson.Raw, string, error) {
	raw, err := stored.Document(c.Docs, doc)
	if err != nil {
		return nil, "", c.Refuse("document", nil, err.Error())
	}
	key, err := c.ofDocument(raw)
	if err != nil {
		return nil, "", err
	}
	if raw, err = stored.UnderKey(raw, key); err != nil {
		return nil, "", c.Refuse("document", nil, err.Error())
	}
	return raw, key, nil
}

// Move is the plan that stores a document in the place of another, which was read.
func (c *Key) Move(was, now any) model.Plan {
	old, from, err := c.Keyed(was)
	if err != nil {
		return model.NewPlan(model.Refused(c.Name(), fmt.Errorf("docmodel: the old document: %w", err)))
	}
	if path, err := core.CheckNames(old, ""); err != nil {
		return model.NewPlan(model.Refused(c.Name(),
			fmt.Errorf("docmodel: the old document: %w", c.Refuse(path, nil, err.Error()))))
	}
	doc, to, err := c.Keyed(now)
	if err != nil {
		return model.NewPlan(model.Refused(c.Name(), fmt.Errorf("docmodel: the new document: %w", err)))
	}
	asItWas := c.shapeOf(was).AsRead(old)
	if from == to {
		w := commands.AdoptWrite(c.raws().Replace(doc))
		if m, ok := w.Model.(*mongo.ReplaceOneModel); ok {
			m.Filter = asItWas
			w.Done, w.Idempotent = c.shapeOf(now).AsStored(c.Name(), doc), true
		}
		return model.NewPlan(w)
	}
	w := commands.AdoptWrite(c.raws().Insert(doc))
	p := model.NewPlan(w, c.moved(asItWas, from, c.shapeOf(now).AsStored(c.Name(), doc)))
	p.Transactional = true
	p.Leaves = "the document with both keys; run the plan again to remove the old key"
	return p
}

// shapeOf is how a document's type is stored: that of the collection's documents, or for an interface that of its
// value.
func (c *Key) shapeOf(doc any) core.Shape {
	if t := c.Shape().Type; (t == nil || t.Kind() == reflect.Interface) && doc != nil {
		return c.Shape().As(reflect.TypeOf(doc))
	}
	return c.Shape()
}

// moved deletes a document as it was read, after its copy was stored under another key. If others changed it meanwhile,
// the copy is deleted instead, if it is as it was stored: the document would have two keys, one with old data.
func (c *Key) moved(asItWas bson.D, id any, copied bson.D) model.Write {
	w, back := c.takeOut(asItWas), c.takeOut(copied)
	back.Expect = model.Any
	w.Reasons = []model.Reason{{If: commands.MatchID(id), Err: model.ErrStale, Instead: []model.Step{back}}}
	return w
}

// takeOut deletes a document as it was read. A second time it finds none, and changes nothing.
func (c *Key) takeOut(asItWas bson.D) model.Write {
	return model.Write{
		Collection: c.Name(), Model: &mongo.DeleteOneModel{Filter: asItWas}, Expect: model.One, Idempotent: true,
		Final: true,
		Index: model.IDIndex, Keyed: true,
	}
}
