package geofield

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reactions returns how a store computes the key of a point.
func (f *field) reactions() []model.Reaction {
	return []model.Reaction{{
		Collection: f.Name(), Paths: []string{f.point, f.key}, Derives: []string{f.key}, Amend: f.amend, Unread: true,
	}}
}

// amend sets the key of the written point. An empty RawValue removes the key. If the write
// sets all paths of the point, the stored document isn't read ([model.Reaction].Unread):
// w.Before is then empty but not nil, and w.After has only the set fields.
func (f *field) amend(w model.StoreWrite) (bson.D, error) {
	s := f.look(w.After)
	switch {
	case s.flaw.reason != "":
		return nil, s.flaw.err(f.Docs, f.point)
	case s.want == nil && w.Before != nil: // the key of the stored document may be unread
		return bson.D{{Key: f.key, Value: bson.RawValue{}}}, nil
	case s.right:
		return nil, nil
	}
	return bson.D{{Key: f.key, Value: s.want}}, nil // null in a new document without a point: 0 is a key
}
