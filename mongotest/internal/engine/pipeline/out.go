package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// out is $out: it replaces the documents of a collection by its input. The engine does it in one write, so that a
// reader sees all of the old documents or all of the new ones.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/out/
type out struct{ db, coll string }

// parseOut parses {$out: "c"} and {$out: {db: "d", coll: "c"}}.
func parseOut(_ *parser, name string, arg any) (stage, error) {
	switch arg.(type) {
	case string, bson.D:
	default:
		return nil, mongoerr.New(16990,
			"$out only supports a string or object argument, but found %s", bsonval.TypeName(arg))
	}
	db, coll, err := parseTarget(name, arg)
	switch {
	case err != nil:
	case strings.HasPrefix(coll, "system."):
		err = mongoerr.New(17385, "Can't $out to special collection: %s", coll)
	case slices.Contains(internalDatabases, db):
		err = mongoerr.New(31321, "Can't $out to internal database: %s", db)
	}
	return &out{db, coll}, err
}

// internalDatabases can't be written by a pipeline.
var internalDatabases = []string{"admin", "config", "local"}

// run writes when it is ranged over, and gives no documents.
func (s *out) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		if err := r.env.ReplaceCollection(s.db, s.coll, in); err != nil {
			yield(nil, err)
		}
	}
}
