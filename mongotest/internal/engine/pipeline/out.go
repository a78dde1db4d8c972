package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// out is $out.
type out struct{ db, coll string }

func parseOut(_ *parser, name string, arg any) (stage, error) {
	switch arg.(type) {
	case string, bson.D:
	default:
		return nil, mongoerr.New(16990, "$out only supports a string or object argument, but found %s", bsonval.TypeName(arg))
	}
	db, coll, err := target(name, arg)
	switch {
	case err != nil:
	case strings.HasPrefix(coll, "system."):
		err = mongoerr.New(17385, "Can't $out to special collection: %s", coll)
	case slices.Contains(internalDatabases, db):
		err = mongoerr.New(31321, "Can't $out to internal database: %s", db)
	}
	return &out{db, coll}, err
}

var internalDatabases = []string{"admin", "config", "local"}

func (s *out) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		withIDs := func(yield func(bson.D, error) bool) {
			for d, err := range in {
				if err == nil && bsonval.Index(d, "_id") < 0 {
					d = append(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(r.env.Now())}}, d...)
				}
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
		if err := r.env.ReplaceCollection(s.db, s.coll, withIDs); err != nil {
			yield(nil, err)
		}
	}
}
