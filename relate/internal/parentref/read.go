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

// Of completes the query of the children of a parent.
func (r *ParentRef) Of(q *model.Query, parent any) {
	id, err := r.IDs.Encode(parent)
	q.Filter, q.Sort = stmt.Is(r.Path, id), slices.Clone(r.order)
	commands.Serve(q, r.Index().Name, err)
}

// Lookup adds the newest children of a document whose id is at a path.
func (r *ParentRef) Lookup(local string, n int64, as string) bson.D {
	inner := mongo.Pipeline{{{Key: "$sort", Value: slices.Clone(r.order)}}}
	if n > 0 {
		inner = append(inner, mql.Op("$limit", n))
	}
	return stmt.Lookup(r.Children.Name(), local, r.Path, as, inner)
}

// Load is the pipeline of parents with their newest children.
func (r *ParentRef) Load(filter bson.D, n int64) (stages mongo.Pipeline, err error) {
	if n < 0 {
		err = r.parents.Refuse("n", n, "is negative: give 0 or more")
	}
	return stmt.Matching(filter, stmt.Nested("parent"), r.Lookup("parent._id", n, "children")), err
}
