package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// details returns what an expanded event has beside the others' fields: what the operation was, and what there was
// before (https://www.mongodb.com/docs/manual/reference/change-events/).
func (s *changeStream) details(e *store.Event) bson.D {
	if !s.expanded || e.Of == nil || e.Kind == store.Dropped {
		return nil
	}
	d := bson.D{{Key: "operationDescription", Value: operation(e)}}
	switch {
	case e.Kind == store.Created:
		d = append(d, bson.E{Key: "nsType", Value: formName(e.Of.Form)})
	case e.Kind == store.Modified && !e.OfView():
		d = append(d, bson.E{Key: "stateBeforeChange", Value: e.Of.Before})
	}
	return d
}

func formName(f store.Form) string {
	switch {
	case f.View != nil:
		return "view"
	case f.Series != nil:
		return "timeseries"
	}
	return "collection"
}

// operation describes what was done to a collection.
func operation(e *store.Event) bson.D {
	switch e.Kind {
	case store.Created:
		return creationOf(e)
	case store.IndexesCreated, store.IndexesDropped:
		var list bson.A
		for _, spec := range e.Of.Indexes {
			list = append(list, indexes.Describe(spec))
		}
		return bson.D{{Key: "indexes", Value: list}}
	case store.Renamed:
		d := bson.D{{Key: "to", Value: namespaceDocument(e.Of.To)}}
		if e.Of.Target != nil {
			d = append(d, bson.E{Key: "dropTarget", Value: *e.Of.Target})
		}
		return d
	}
	return e.Of.Asked
}

// creationOf describes what was created: a collection by its options, all others as views.
func creationOf(e *store.Event) bson.D {
	switch f := e.Of.Form; {
	case f.View != nil:
		return forms.ShowView(f.View)
	case f.Series != nil:
		return forms.ShowView(bucketView(e.NS, f.Series, e.Of.Options))
	}
	d := append(bson.D{}, e.Of.Options...)
	if e.Of.Form.Clustered != nil { // it has no index beside its documents
		return d
	}
	return append(d, bson.E{Key: "idIndex", Value: indexes.Describe(e.Of.Indexes[0])})
}

// bucketView is the view by which MongoDB shows the buckets of a time series collection. The engine has none: only
// events name it.
func bucketView(ns store.Namespace, s *store.Series, options bson.D) *store.View {
	unpack := bson.D{{Key: "timeField", Value: s.Time}}
	if s.Meta != "" {
		unpack = append(unpack, bson.E{Key: "metaField", Value: s.Meta})
	}
	series, _ := bsonval.Get(options, "timeseries")
	shown, _ := series.(bson.D)
	span, _ := bsonval.Get(shown, "bucketMaxSpanSeconds")
	unpack = append(unpack, bson.E{Key: "bucketMaxSpanSeconds", Value: span})
	return &store.View{
		On:       "system.buckets." + ns.Coll,
		Pipeline: bson.A{bson.D{{Key: "$_internalUnpackBucket", Value: unpack}}},
	}
}
