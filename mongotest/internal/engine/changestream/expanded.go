package changestream

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// makeDetails returns the fields that only expanded events have: what the operation was, and the options before it.
func (s *Stream) makeDetails(e *store.Event) bson.D {
	if !s.Expanded || e.Of == nil || e.Kind == store.Dropped {
		return nil
	}
	d := bson.D{{Key: "operationDescription", Value: describeOperation(e)}}
	switch {
	case e.Kind == store.Created:
		d = append(d, bson.E{Key: "nsType", Value: nameForm(e.Of.Form)})
	case e.Kind == store.Modified && !e.OfView():
		d = append(d, bson.E{Key: "stateBeforeChange", Value: e.Of.Before})
	}
	return d
}

// nameForm returns the nsType of a new collection.
func nameForm(f store.Form) string {
	switch {
	case f.View != nil:
		return "view"
	case f.Series != nil:
		return "timeseries"
	}
	return "collection"
}

// describeOperation returns the operationDescription of a change to a collection.
func describeOperation(e *store.Event) bson.D {
	switch e.Kind {
	case store.Created:
		return describeCreation(e)
	case store.IndexesCreated, store.IndexesDropped:
		var list bson.A
		for _, spec := range e.Of.Indexes {
			list = append(list, indexes.Describe(spec))
		}
		return bson.D{{Key: "indexes", Value: list}}
	case store.Renamed:
		d := bson.D{{Key: "to", Value: showNamespace(e.Of.To)}}
		if e.Of.Target != nil {
			d = append(d, bson.E{Key: "dropTarget", Value: *e.Of.Target})
		}
		return d
	}
	return e.Of.Asked
}

// describeCreation returns the options of a new collection. Views and time series show as views.
func describeCreation(e *store.Event) bson.D {
	switch f := e.Of.Form; {
	case f.View != nil:
		return forms.ShowView(f.View)
	case f.Series != nil:
		return forms.ShowView(makeBucketView(e.NS, f.Series, e.Of.Options))
	}
	d := append(bson.D{}, e.Of.Options...)
	if e.Of.Form.Clustered != nil { // it has no index beside its documents
		return d
	}
	return append(d, bson.E{Key: "idIndex", Value: indexes.Describe(e.Of.Indexes[0])})
}

// makeBucketView returns the view that a time series collection is in MongoDB. The engine has no buckets, and only
// shows the view in events.
func makeBucketView(ns store.Namespace, s *store.Series, options bson.D) *store.View {
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
