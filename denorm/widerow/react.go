package widerow

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns reactions to changes and deletions of linked documents. A linked
// document can't be deleted.
func (w *untypedRows) makeReactions() (out []model.Reaction) {
	for side, s := range w.sides {
		if len(s.Copies) > 0 {
			out = append(out, model.Reaction{
				Collection: s.Docs.Name(), On: model.OnUpdate, Paths: s.Copies,
				React: func(e model.StoreWrite) (model.Answer, error) { return w.updateColumns(side, e) },
			})
		}
		out = append(out, model.Reaction{
			Collection: s.Docs.Name(), On: model.OnDelete,
			Fetch: func(e model.StoreWrite) ([]model.Fetch, error) { return w.fetchLinks(side, e), nil },
			React: func(e model.StoreWrite) (a model.Answer, err error) {
				if e.Found(0) != nil {
					err = s.Docs.Refuse("_id", e.Before.Lookup("_id"),
						"is linked: run WideRow.Unlink for each link first")
				}
				return a, err
			},
		})
	}
	return out
}

// fetchLinks asks for one page with links of a document that is deleted.
func (w *untypedRows) fetchLinks(side int, e model.StoreWrite) []model.Fetch {
	if e.Before == nil || e.After != nil {
		return nil
	}
	return []model.Fetch{{Query: &model.Query{
		Collection: w.sides[side].Rows, Projection: bson.D{{Key: "_id", Value: 1}}, Limit: 1,
		Index: w.listIndexes()[2*side+1].Name,
		Filter: bson.D{
			{Key: "row", Value: mql.Eq(bsonval.Clone(e.Before.Lookup("_id")))},
			{Key: "cols.0", Value: mql.Exists(true)},
		},
	}}}
}

// updateColumns returns the write that gives the columns of a changed document its
// fields.
func (w *untypedRows) updateColumns(side int, e model.StoreWrite) (a model.Answer, err error) {
	if e.Before == nil || e.After == nil {
		return a, nil
	}
	copied, err := w.copyFields(side, e.After)
	if err == nil {
		_, err = w.encodeText(side, e.After.Lookup("_id"))
	}
	if err == nil {
		a.Then = []model.Step{w.updateCopies(side, bsonval.Clone(e.After.Lookup("_id")), copied)}
	}
	return a, err
}

// updateCopies sets the copied fields in all columns of a document.
func (w *untypedRows) updateCopies(side int, id bson.RawValue, copied bson.Raw) model.Write {
	return w.setCopies(side,
		bson.D{{Key: "id", Value: mql.Eq(id)}, {Key: "doc", Value: bson.D{{Key: "$ne", Value: copied}}}},
		bson.D{{Key: "c.id", Value: mql.Eq(id)}}, copied)
}
