package columns

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeReactions returns how a store writes the flat document with the document.
func (c *untypedColumns) makeReactions() []model.Reaction {
	return []model.Reaction{{Collection: c.docs.Name(), Paths: []string{model.Whole}, React: c.writeColumns}}
}

// writeColumns needs a transaction: outside, of two writers the later one could store its
// flat document first.
func (c *untypedColumns) writeColumns(w model.StoreWrite) (a model.Answer, err error) {
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
	store := c.storeDocument(w.After)
	a.Then = []model.Step{store}
	return a, store.Err
}
