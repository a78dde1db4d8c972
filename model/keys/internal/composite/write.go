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

// rawCollection is the collection for documents that are encoded already. Its Insert and Replace check names and size,
// as they do for every caller's document.
func (c *Key) rawCollection() *model.Collection[bson.Raw, string] {
	raws := model.NewCollection[bson.Raw, string](c.Name())
	raws.Docs().ShareKeyed()
	return raws
}

// computeKey returns the key of an encoded document. A part with a field comes from the field, a part with KeyOnly from
// the _id that the document has. If the document has an _id, and it isn't the key that the fields give, it is refused.
func (c *Key) computeKey(doc bson.Raw) (string, error) {
	id, hasID := doc.Lookup("_id").StringValueOK()
	hasID = hasID && id != "" // the zero value of the Go field is no _id
	var own []bson.RawValue   // the parts of the _id, decoded for the first part with KeyOnly
	vs := make([]bson.RawValue, len(c.parts))
	for i, p := range c.parts {
		switch v, inArray := core.ValueAt(doc, p.Path); {
		case !p.KeyOnly && inArray:
			return "", c.Refuse(p.Path, nil, "is in an array: a key has one value for each part")
		case !p.KeyOnly:
			vs[i] = v
			continue
		case !hasID:
			return "", c.Refuse("_id", nil,
				fmt.Sprintf("is missing, and %s is stored only in the key: set it with KeyOf", p.Path))
		case own == nil:
			var err error
			if own, err = c.splitKey(id, len(c.parts)); err != nil {
				return "", err
			}
		}
		vs[i] = own[i]
	}
	key, err := c.joinParts(vs)
	if err == nil && hasID && id != key {
		return "", c.Refuse("_id", id, "isn't the key that the document's fields give, which is "+model.Shell(key))
	}
	return key, err
}

// EncodeUnderKey encodes a caller's document, and puts its key in place of its _id. It returns the document and the
// key. keys.Composite.Key, PlanMove and the job call it.
func (c *Key) EncodeUnderKey(doc any) (bson.Raw, string, error) {
	raw, err := stored.Document(c.Docs, doc)
	if err != nil {
		return nil, "", c.Refuse("document", nil, err.Error())
	}
	key, err := c.computeKey(raw)
	if err != nil {
		return nil, "", err
	}
	if raw, err = stored.UnderKey(raw, key); err != nil {
		return nil, "", c.Refuse("document", nil, err.Error())
	}
	return raw, key, nil
}

// PlanMove returns the plan of keys.Composite.Move: was is stored, and now takes its place. If both have the same key,
// it is one replacement. Else it is an insert of the new document, and a delete of the old document. In this order a
// crash leaves two documents, and not no document.
func (c *Key) PlanMove(was, now any) model.Plan {
	old, from, err := c.EncodeUnderKey(was)
	if err != nil {
		return model.NewPlan(model.Refused(c.Name(), fmt.Errorf("docmodel: the old document: %w", err)))
	}
	// The new document's names are checked by rawCollection. The old document goes only into a filter.
	if path, err := core.CheckNames(old, ""); err != nil {
		return model.NewPlan(model.Refused(c.Name(), fmt.Errorf("docmodel: the old document: %w",
			c.Refuse(path, nil, err.Error()))))
	}
	doc, to, err := c.EncodeUnderKey(now)
	if err != nil {
		return model.NewPlan(model.Refused(c.Name(), fmt.Errorf("docmodel: the new document: %w", err)))
	}
	asItWas := c.shapeOf(was).AsRead(old)
	if from == to {
		// Replace matches the _id alone: the filter is replaced, so that another client's change makes the plan stale.
		w := commands.AdoptWrite(c.rawCollection().Replace(doc))
		if m, ok := w.Model.(*mongo.ReplaceOneModel); ok {
			m.Filter = asItWas
			w.Done, w.Idempotent = c.shapeOf(now).AsStored(c.Name(), doc), true
		}
		return model.NewPlan(w)
	}
	w := commands.AdoptWrite(c.rawCollection().Insert(doc))
	p := model.NewPlan(w, c.removeOld(asItWas, from, c.shapeOf(now).AsStored(c.Name(), doc)))
	p.Transactional = true
	p.Leaves = "the document with both keys; run the plan again to remove the old key"
	return p
}

// shapeOf returns how the type of a document is stored. If the collection's documents are declared as an interface, it
// is the type of the value.
func (c *Key) shapeOf(doc any) core.Shape {
	if t := c.Shape().Type; (t == nil || t.Kind() == reflect.Interface) && doc != nil {
		return c.Shape().As(reflect.TypeOf(doc))
	}
	return c.Shape()
}

// removeOld deletes a document as it was read, after its copy was stored under another key. asItWas matches the old
// document if it is unchanged, copied matches the copy. If somebody changed the old document meanwhile, the copy is
// deleted instead, if it is as it was stored. Otherwise there would be two documents, and one of them with old data.
func (c *Key) removeOld(asItWas bson.D, id any, copied bson.D) model.Write {
	w, back := c.deleteAsRead(asItWas), c.deleteAsRead(copied)
	back.Expect = model.Any
	w.Reasons = []model.Reason{{If: commands.MatchID(id), Err: model.ErrStale, Instead: []model.Step{back}}}
	return w
}

// deleteAsRead deletes the document that the filter asItWas matches. It is Final: a scope with soft deletion would mark
// the document, and its mark would stay under the old key. Running it again deletes nothing more.
func (c *Key) deleteAsRead(asItWas bson.D) model.Write {
	return model.Write{
		Collection: c.Name(), Index: model.IDIndex, Keyed: true,
		Model:  &mongo.DeleteOneModel{Filter: asItWas},
		Expect: model.One, Idempotent: true, Final: true,
	}
}
