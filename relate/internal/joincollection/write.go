package joincollection

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Pair is the filter of one pair.
func (j *Relation) Pair(left, right any) (bson.D, error) {
	a, err := j.Left.Encode(left)
	if err != nil {
		return nil, err
	}
	b, err := j.Right.Encode(right)
	return append(stmt.Is(j.Left.Path, a), stmt.Is(j.Right.Path, b)...), err
}

func (j *Relation) refuseMissing(end idref.Held) error {
	return j.Links.Refuse(end.Path, nil, "the link has no id")
}

// UnlinkAll is the write that deletes the links of a document.
func (s *Side) UnlinkAll(id any) model.Write {
	v, err := s.IDs.Encode(id)
	return model.Write{Collection: s.Links.Name(), Index: s.Index().Name, Err: err, Model: &mongo.DeleteManyModel{Filter: stmt.Is(s.path, v)}}
}
