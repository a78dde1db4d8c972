package composite

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store makes the _id of a new document, and refuses to change a part of a stored one.
func (c *Key) Reactions() []model.Reaction {
	r := model.Reaction{
		Collection: c.Name(), On: model.OnUpdate, Amend: c.refuseMove,
		ID: func(doc bson.Raw) (bson.RawValue, error) {
			key, err := c.ofDocument(doc)
			if err != nil {
				return bson.RawValue{}, err
			}
			return core.RawValue(key)
		},
	}
	for _, p := range c.parts {
		if !p.Only {
			r.Paths = append(r.Paths, p.Path)
		}
	}
	return []model.Reaction{r}
}

// refuseMove refuses an update after which the _id isn't the key of the fields.
func (c *Key) refuseMove(w model.StoreWrite) (bson.D, error) {
	if w.Before == nil {
		return nil, nil
	}
	_, err := c.ofDocument(w.After)
	for _, p := range c.parts {
		was, _ := core.ValueAt(w.Before, p.Path)
		now, _ := core.ValueAt(w.After, p.Path)
		if err != nil && !p.Only && !bsonval.EqualRaw(was, now) {
			return nil, c.Refuse(p.Path, now, "is a part of the _id: store the document under its new key by Composite.Move")
		}
	}
	return nil, nil
}

// DocumentReactions returns how a store refuses a new document whose _id doesn't consist of the parts.
func (c *Key) DocumentReactions() []model.Reaction {
	return []model.Reaction{{Collection: c.Name(), Amend: func(w model.StoreWrite) (bson.D, error) {
		if w.Before != nil {
			return nil, nil
		}
		return nil, c.checkDocument(w.After.Lookup("_id"))
	}}}
}

func (c *Key) checkDocument(id bson.RawValue) error {
	doc, _ := id.DocumentOK()
	elements, _ := doc.Elements()
	for i, p := range c.parts {
		if i >= len(elements) || elements[i].Key() != p.Path || len(elements) != len(c.parts) {
			return c.Refuse("_id", id, fmt.Sprintf("isn't a document of the key's parts, in their order (%s)", c.names()))
		}
		if err := c.check(i, elements[i].Value()); err != nil {
			return err
		}
	}
	return nil
}
