package eventlog

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// describeKeys returns the collections whose _ids are made of keys. Two commits with the
// same number can't be joined. Of two snapshots the tenant's stays, because it is newer.
func (l *untypedLog) describeKeys() []model.KeyedDocs {
	out := []model.KeyedDocs{{Collection: l.Docs.Name(), Token: "token"}}
	if l.Fold.Docs != nil {
		out = append(out, model.KeyedDocs{
			Collection: l.Fold.Docs.Name(),
			Join:       func(_, _ bson.Raw) (bson.D, bool) { return nil, true },
		})
	}
	return out
}
