package joincollection

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// matchPair is the filter of the link of a pair.
func (j *untypedRelation) matchPair(left, right any) (bson.D, error) {
	a, err := j.Left.Encode(left)
	if err != nil {
		return nil, err
	}
	b, err := j.Right.Encode(right)
	return append(stmt.MatchValue(j.Left.Path, a), stmt.MatchValue(j.Right.Path, b)...), err
}

// refuseMissing is the error for a link without an id.
func (j *untypedRelation) refuseMissing(end idref.Held) error {
	return j.Links.Refuse(end.Path, nil, "the link has no id")
}

// deleteLinks is the write that deletes the links of a document.
func (s *untypedSide) deleteLinks(id any) model.Write {
	v, err := s.IDs.Encode(id)
	return model.Write{
		Collection: s.Links.Name(), Index: s.makeIndex().Name, Err: err,
		Model: &mongo.DeleteManyModel{Filter: stmt.MatchValue(s.path, v)},
	}
}
