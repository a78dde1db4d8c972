package window

// This file has the functions that number documents. They take no window.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// rank is $rank, $denseRank or $documentNumber: the place of a document in its partition, from 1.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/rank/
type rank struct{ name string }

// parseRank parses one of them. The argument is an empty document.
func parseRank(name string, spec bson.D, s Stage) (Function, error) {
	d, ok := spec[0].Value.(bson.D)
	switch {
	case len(spec) != 1:
		return nil, mongoerr.New(5371601, "Rank style window functions take no other arguments")
	case !ok || len(d) > 0:
		return nil, mongoerr.New(5371603, "%s must be specified with '{}' as the value", name)
	case len(s.SortBy) != 1:
		return nil, mongoerr.New(5371602,
			"%s must be specified with a top level sortBy expression with exactly one element", name)
	}
	return rank{name}, nil
}

// StartPartition counts from the first document. Documents that sortBy orders as equal share a rank, but not a document
// number. The next rank is one higher in $denseRank. In $rank it is the number of the document.
func (r rank) StartPartition(p *Partition) Values {
	n := int64(0)
	return func(i int) (any, error) {
		switch {
		case i > 0 && r.name != "$documentNumber" && p.Same(i-1, i):
		case r.name == "$denseRank":
			n++
		default:
			n = int64(i) + 1
		}
		return bsonval.Integer(n), nil
	}
}
