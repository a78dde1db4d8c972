package sequence

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ListKeyedDocs says that the documents, counters and day buckets carry the tenant in their _ids. The shell passes it
// to model.Parts.WithKeys. model.MoveKeys gives older documents the tenant's _id. If the tenant already has a document
// with this _id, Join joins both.
func (s *Sequence) ListKeyedDocs() []model.KeyedDocs {
	out := []model.KeyedDocs{{Collection: s.Name()}, {Collection: s.counters.Name(), Join: s.joinCounters}}
	if s.days != "" {
		out = append(out, model.KeyedDocs{Collection: s.days, Join: func(old, _ bson.Raw) (bson.D, bool) {
			keys := old.Lookup("keys")
			return mql.Op("$addToSet", bson.D{mql.E("keys", mql.Op("$each", keys))}), keys.Type == bson.TypeArray
		}})
	}
	return out
}

// joinCounters keeps the greater number, so that no number is given out twice. It refuses a damaged counter.
func (s *Sequence) joinCounters(old, now bson.Raw) (bson.D, bool) {
	for _, doc := range []bson.Raw{old, now} {
		last := doc.Lookup("last")
		if n, ok := last.AsInt64OK(); !ok ||
			last.Type != bson.TypeInt32 && last.Type != bson.TypeInt64 || n < 0 || n > s.Max {
			return nil, false
		}
	}
	return mql.Op("$max", bson.D{mql.E("last", old.Lookup("last").AsInt64())}), true
}
