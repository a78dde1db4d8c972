package proximity

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns how a store computes the text of a list. The store needs no read,
// because a write that changes the list contains the whole list.
func (p *untypedProximity) makeReactions() []model.Reaction {
	return []model.Reaction{{
		Collection: p.Docs.Name(), Paths: []string{p.Path, p.field}, Derives: []string{p.field}, Unread: true,
		Amend: func(w model.StoreWrite) (bson.D, error) {
			doc, err := p.addText(w.After)
			if err != nil {
				return nil, err
			}
			return bson.D{{Key: p.field, Value: doc.Lookup(p.field)}}, nil
		},
	}}
}
