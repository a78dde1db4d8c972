package composite

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeReactions returns how a store makes the _id of a new document of a Composite, and refuses to change a part of a
// stored document. The shell passes it to model.Parts.WithReactions.
func (c *Key) MakeReactions() []model.Reaction {
	r := model.Reaction{
		Collection: c.Name(), On: model.OnUpdate, Amend: c.refusePartChange,
		ID: func(doc bson.Raw) (bson.RawValue, error) {
			key, err := c.computeKey(doc)
			if err != nil {
				return bson.RawValue{}, err
			}
			return core.RawValue(key)
		},
	}
	for _, p := range c.parts {
		if !p.KeyOnly {
			r.Paths = append(r.Paths, p.Path)
		}
	}
	return []model.Reaction{r}
}

// refusePartChange refuses an update of a part after which the _id isn't the key of the fields. It doesn't refuse an
// update of other fields of a document whose _id is wrong already, which the job of MakeRekeyJob will correct.
func (c *Key) refusePartChange(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil { // a new document
		return nil, nil
	}
	_, err := c.computeKey(w.After) // fails if the _id isn't the key
	for _, p := range c.parts {
		was, _ := core.ValueAt(w.Before, p.Path)
		now, _ := core.ValueAt(w.After, p.Path)
		if err != nil && !p.KeyOnly && !bsonval.EqualRaw(was, now) {
			return nil, c.Refuse(p.Path, now,
				"is a part of the _id: store the document under its new key by Composite.Move")
		}
	}
	return nil, nil
}

// MakeDocumentReactions returns how a store refuses a new document of a DocumentKey whose _id doesn't consist of the
// parts. An _id can't change later, so updates need no check.
func (c *Key) MakeDocumentReactions() []model.Reaction {
	return []model.Reaction{{Collection: c.Name(), Amend: func(w model.StoreWrite) (bson.D, error) {
		if w.Before != nil { // a stored document
			return nil, nil
		}
		return nil, c.checkDocumentID(w.After.Lookup("_id"))
	}}}
}

// checkDocumentID compares the fields of an _id with the parts: their number, names, order and kinds.
func (c *Key) checkDocumentID(id bson.RawValue) error {
	doc, _ := id.DocumentOK()
	elements, _ := doc.Elements()
	for i, p := range c.parts {
		if i >= len(elements) || elements[i].Key() != p.Path || len(elements) != len(c.parts) {
			return c.Refuse("_id", id, fmt.Sprintf("isn't a document of the key's parts, in their order (%s)",
				c.listNames()))
		}
		if err := c.checkPart(i, elements[i].Value()); err != nil {
			return err
		}
	}
	return nil
}
