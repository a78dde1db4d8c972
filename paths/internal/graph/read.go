package graph

import (
	"context"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Record is the shell's GraphStep.
type Record struct {
	Step     int64   `bson:"_id"`      // 0 is the beginning
	Kind     string  `bson:"kind"`     // which computation it is of: distances, components, rank or program
	Asked    int64   `bson:"asked"`    // a hash of what it was asked: the sources, the damping
	Changed  int64   `bson:"changed"`  // states that the superstep wrote
	Vertices int64   `bson:"vertices"` // PageRank: all of them
	Delta    float64 `bson:"delta"`    // PageRank: by how much ranks changed, all together
	Dangling float64 `bson:"dangling"` // PageRank: the ranks of the vertices without edges, all together
	Lost     int64   `bson:"lost"`     // PageRank: states that are not of the superstep. There must be none
	Active   int64   `bson:"active"`   // a program: vertices that didn't halt
	Sent     int64   `bson:"sent"`     // a program: pairs of vertices of which one sent to the other
}

// FindRecords is the query of the records of all finished supersteps, in order.
func (s *Supersteps) FindRecords() model.Query {
	return s.queryRecords(1, bson.D{mql.E("$gte", int64(0)), mql.E("$lt", clearingID)})
}

// queryRecords is the query of records with some _ids, in a direction.
func (s *Supersteps) queryRecords(direction int, ids bson.D) model.Query {
	return model.Query{
		Collection: s.g.Steps, Filter: bson.D{mql.E("_id", ids)}, Sort: bson.D{mql.E("_id", direction)},
		Index: model.IDIndex, Err: s.err,
	}
}

// readLastRecord reads the record of the last finished superstep. The mark of an
// unfinished Clear has the greatest _id, so it is found instead.
func (s *Supersteps) readLastRecord(ctx context.Context, db model.DB) (Record, error) {
	f := &model.Find[Record]{Query: s.queryRecords(-1, mql.Op("$gte", int64(0)))}
	f.Limit = 1
	return f.One(ctx, db)
}
