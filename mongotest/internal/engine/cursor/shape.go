package cursor

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Shape is how a find shows what it finds.
type Shape struct {
	Projection *projection.Projection // nil means whole documents
	// returnKey: in place of the document, the key by which the plan's index has it. The projection is ignored.
	ReturnKey bool
	RecordID  bool // showRecordId: add the record's number as $recordId, after the projection
}

// show returns a record in its shape, where no index has found it. So with ReturnKey the document is empty.
func (s Shape) show(r *store.Record) (doc bson.D, err error) {
	if s.ReturnKey {
		return bson.D{}, nil
	}
	doc = r.Doc
	if s.Projection != nil {
		if doc, err = s.Projection.Apply(r.Doc); err != nil {
			return nil, err
		}
	}
	if s.RecordID {
		doc = append(slices.Clip(doc), bson.E{Key: "$recordId", Value: r.ID})
	}
	if doc == nil {
		doc = bson.D{}
	}
	return doc, nil
}

// Found is a source that runs a plan.
type Found struct {
	Exec *plan.Exec
	Shape
}

func (f *Found) Close() {}

func (f *Found) Next() (bson.D, error) {
	r, err := f.Exec.Next()
	if r == nil || err != nil {
		return nil, err
	}
	if f.ReturnKey {
		return f.Exec.Key(r), nil
	}
	return f.show(r)
}
