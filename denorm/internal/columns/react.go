package columns

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Reactions returns how a store writes the flat document with its original.
func (c *Columns) Reactions() []model.Reaction {
	return []model.Reaction{{Collection: c.docs.Name(), Paths: []string{model.Whole}, React: c.follow}}
}

// follow needs a transaction: of two writers outside transactions, the later could store its flat document first.
func (c *Columns) follow(w model.StoreWrite) (a model.Answer, err error) {
	switch {
	case !w.Tx:
		return a,
			fmt.Errorf("%w (%s: outside transactions, write the document by its collection, on a database without "+
				"Model.On, then call Columns.Store or Columns.Delete)", model.ErrTransactional, w)
	case w.After == nil:
		a.Then = []model.Step{model.Write{
			Collection: c.flat, Index: model.IDIndex,
			Model: &mongo.DeleteOneModel{Filter: commands.MatchID(bsonval.Clone(w.Before.Lookup("_id")))},
		}}
		return a, nil
	}
	store := c.Store(w.After)
	a.Then = []model.Step{store}
	return a, store.Err
}
