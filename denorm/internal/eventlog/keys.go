package eventlog

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Keys are the commits and snapshots, whose _ids are made of keys. Two commits with the
// same number can't be joined. A snapshot of the tenant is the newer one.
func (l *Log) Keys() []model.KeyedDocs {
	out := []model.KeyedDocs{{Collection: l.Docs.Name(), Token: "token"}}
	if l.Fold.Docs != nil {
		out = append(out, model.KeyedDocs{
			Collection: l.Fold.Docs.Name(),
			Join:       func(_, _ bson.Raw) (bson.D, bool) { return nil, true },
		})
	}
	return out
}
