package parentref

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// findChildren completes the query of a parent's children.
func (r *untypedParentRef) findChildren(q *model.Query, parent any) {
	id, err := r.IDs.Encode(parent)
	q.Filter, q.Sort = stmt.MatchValue(r.Path, id), slices.Clone(r.order)
	commands.ServeQuery(q, r.makeIndex().Name, err)
}

// lookupChildren is the stage that joins the n newest children of the document whose id
// is at a path; 0 means all.
func (r *untypedParentRef) lookupChildren(local string, n int64, as string) bson.D {
	inner := mongo.Pipeline{{{Key: "$sort", Value: slices.Clone(r.order)}}}
	if n > 0 {
		inner = append(inner, mql.Op("$limit", n))
	}
	return stmt.Lookup(r.Children.Name(), local, r.Path, as, inner)
}

// loadParents is the pipeline of parents with their newest children.
func (r *untypedParentRef) loadParents(filter bson.D, n int64) (stages mongo.Pipeline, err error) {
	if n < 0 {
		err = r.parents.Refuse("n", n, "is negative: give 0 or more")
	}
	return stmt.BeginWithMatch(filter, stmt.NestDocument("parent"), r.lookupChildren("parent._id", n, "children")), err
}
