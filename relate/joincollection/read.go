package joincollection

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// findLinks completes the query of a document's links.
func (s *untypedSide) findLinks(q *model.Query, id any) {
	v, err := s.IDs.Encode(id)
	q.Filter, q.Sort = stmt.MatchValue(s.path, v), slices.Clone(s.order)
	commands.ServeQuery(q, s.makeIndex().Name, err)
}

// readPlace returns a link's values in the fields of the order, after which the next page
// begins. A link without such a value has no place in the order.
func (s *untypedSide) readPlace(link any) ([]any, error) {
	raw, err := s.Links.Document(link)
	if err != nil {
		return nil, s.Links.Refuse("last", nil, err.Error())
	}
	values := make([]any, len(s.order))
	for i, e := range s.order {
		v, _ := core.ValueAt(raw, e.Key)
		if !idref.IsValue(v) {
			return nil, s.Links.Refuse("last", nil, "the link has no value at "+e.Key+", but links are sorted by it")
		}
		values[i] = v
	}
	return values, nil
}

// joinOthers is the pipeline of a query of links, each with the document at the other
// end.
func (s *untypedSide) joinOthers(q *model.Query) mongo.Pipeline {
	stages := stmt.BeginWithMatch(q.Filter, bson.D{{Key: "$sort", Value: q.Sort}})
	if q.Limit > 0 {
		stages = append(stages, mql.Op("$limit", q.Limit))
	}
	return append(stages, stmt.JoinLinked(s.others, s.other)...)
}
