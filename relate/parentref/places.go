package parentref

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// places are ids, and the indexes in a list at which each occurs.
type places struct {
	docs *core.Docs
	at   map[string][]int
	ids  bson.A
}

// newPlaces returns empty places for ids of documents of a collection.
func newPlaces(docs *core.Docs) *places { return &places{docs: docs, at: map[string][]int{}} }

// addPlace notes the index of the document to which doc points.
func (p *places) addPlace(doc any, place int) error {
	id, err := p.readID(doc)
	if err != nil {
		return err
	}
	key := bsonval.Key(id)
	if _, ok := p.at[key]; !ok {
		p.ids = append(p.ids, id)
	}
	p.at[key] = append(p.at[key], place)
	return nil
}

// nextFilter is the filter of the next ids that one command can have, or nil after the
// last.
func (p *places) nextFilter() bson.D {
	if len(p.ids) == 0 {
		return nil
	}
	n := min(idref.MaxIDs, len(p.ids))
	filter := commands.MatchIDs(p.ids[:n])
	p.ids = p.ids[n:]
	return filter
}

// findPlaces returns the indexes of the document to which doc points.
func (p *places) findPlaces(doc any) ([]int, error) {
	id, err := p.readID(doc)
	return p.at[bsonval.Key(id)], err
}

// readID returns the encoded _id of the document to which doc points.
func (p *places) readID(doc any) (bson.RawValue, error) {
	id, err := p.docs.ID(doc)
	if err != nil {
		return bson.RawValue{}, err
	}
	return p.docs.RawID("_id", id)
}
