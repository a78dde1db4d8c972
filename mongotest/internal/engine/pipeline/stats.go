package pipeline

// This file has $collStats and $indexStats. The engine computes the numbers. The stages read the options.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// collStats is $collStats: one document about the collection. The engine doesn't count latencies and scans, so these
// parts are refused. https://www.mongodb.com/docs/manual/reference/operator/aggregation/collStats/
//
//	{ns: "db.c", host: "...", localTime: ISODate("..."), storageStats: {size: 120, count: 3}, count: 3}
type collStats struct {
	db, coll string // of the pipeline in which the stage stands, see parser
	want     CollStats
}

// parseCollStats parses {$collStats: {count: {}, storageStats: {scale: 1024}}}.
func parseCollStats(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(40166,
			"$collStats must take a nested object but found: %s: %s", name, bsonval.Text(arg))
	}
	s := &collStats{db: p.db, coll: p.coll}
	for _, f := range d {
		var err error
		part, isDocument := f.Value.(bson.D)
		switch f.Key {
		case "count":
			s.want.Count = true
		case "storageStats":
			s.want.Scale = 1
		case "latencyStats", "queryExecStats":
			err = mongoerr.New(mongoerr.NotImplemented,
				"%s of $collStats isn't implemented by the embedded engine", f.Key)
		default:
			err = mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
		switch {
		// The name is checked before the value.
		case err != nil:
		case !isDocument:
			err = newTypeError(name, f, "object")
		case f.Key == "storageStats":
			err = s.parseStorage(name+".storageStats", part)
		case len(part) > 0:
			err = mongoerr.New(mongoerr.IDLUnknownField,
				"BSON field '%s.%s.%s' is an unknown field.", name, f.Key, part[0].Key)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseStorage parses the options of storageStats. A scale of 1024 gives sizes in kilobytes. name is the path of the
// part, for errors.
func (s *collStats) parseStorage(name string, d bson.D) error {
	for _, f := range d {
		// A fraction is cut off, as MongoDB does.
		n, ok := bsonval.TruncInt64(f.Value)
		switch {
		case f.Key == "verbose" || f.Key == "waitForLock" || f.Key == "numericOnly":
			return mongoerr.New(mongoerr.NotImplemented,
				"%s of $collStats isn't implemented by the embedded engine", f.Key)
		case f.Key != "scale":
			return mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		case !bsonval.IsNumber(f.Value):
			return mongoerr.New(mongoerr.TypeMismatch,
				"BSON field '%s.scale' is the wrong type '%s', expected types '[long, int, decimal, double]'",
				name, bsonval.TypeName(f.Value))
		case !ok || n < 1:
			return mongoerr.New(51024,
				"BSON field 'scale' value must be >= 1, actual value '%s'", bsonval.Text(f.Value))
		}
		s.want.Scale = n
	}
	return nil
}

// run ignores its input: the stage is the first, and asks the engine itself.
func (s *collStats) run(r *run, _ Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		yield(r.env.CollStats(s.db, s.coll, s.want))
	}
}

// indexStats is $indexStats: a document about each index of the collection.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/
//
//	{name: "a_1", key: {a: 1}, host: "...", accesses: {ops: 5, since: ISODate("...")}, spec: {...}}
type indexStats struct{ db, coll string }

// parseIndexStats parses {$indexStats: {}}. The stage has no options.
func parseIndexStats(p *parser, _ string, arg any) (stage, error) {
	if d, ok := arg.(bson.D); !ok || len(d) > 0 {
		return nil, mongoerr.New(28803, "The $indexStats stage specification must be an empty object")
	}
	return indexStats{p.db, p.coll}, nil
}

func (s indexStats) run(r *run, _ Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		list, err := r.env.IndexStats(s.db, s.coll)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, d := range list {
			if !yield(d, nil) {
				return
			}
		}
	}
}
