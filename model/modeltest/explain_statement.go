package modeltest

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
)

// A statement is one statement of an update or delete command, built from the driver's
// write model.
type statement struct{ d bson.D }

func (s *statement) add(key string, v any, present bool) {
	if present {
		s.d = append(s.d, bson.E{Key: key, Value: v})
	}
}

func (s *statement) update(filter, update any, multi bool, upsert *bool, c *options.Collation, hint any) {
	s.add("q", filter, true)
	s.add("u", update, true)
	s.add("multi", multi, multi)
	s.add("upsert", true, upsert != nil && *upsert)
	s.shared(c, hint)
}

func (s *statement) delete(filter any, limit int32, c *options.Collation, hint any) {
	s.add("q", filter, true)
	s.add("limit", limit, true)
	s.shared(c, hint)
}

func (s *statement) shared(c *options.Collation, hint any) {
	if c != nil { // in the form of find
		find := (&model.Find[bson.D]{Query: model.Query{Options: model.ReadOptions{Collation: c}}}).Command()
		for _, e := range find {
			s.add(e.Key, e.Value, e.Key == "collation")
		}
	}
	s.add("hint", hint, hint != nil)
}
