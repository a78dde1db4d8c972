package proximity

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store computes the text of a list.
func (p *List) Reactions() []model.Reaction {
	return []model.Reaction{{
		Collection: p.Docs.Name(), Paths: []string{p.Path, p.field}, Derives: []string{p.field}, Unread: true,
		Amend: func(w model.StoreWrite) (bson.D, error) {
			doc, err := p.WithText(w.After)
			if err != nil {
				return nil, err
			}
			return bson.D{{Key: p.field, Value: doc.Lookup(p.field)}}, nil
		},
	}}
}
