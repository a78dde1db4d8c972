package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// event returns the document of a change, as the manual's pages on change
// events have it.
func (s *changeStream) event(e *store.Event) (bson.D, error) {
	if e.Kind == store.Updated && e.How != nil && e.How.IsLoggedWhole(e.Old, e.New) {
		whole := *e
		whole.Kind, e = store.Replaced, &whole
	}
	doc := s.header(e, token{e.Position, changed}, e.Kind)
	if e.Origin != nil {
		doc = append(doc, bson.E{Key: "txnNumber", Value: e.Origin.Number}, bson.E{
			Key: "lsid", Value: session.Describe(e.Origin.Session),
		})
	}
	full, has, err := s.fullDocument(e)
	if err != nil {
		return nil, err
	}
	if has {
		doc = append(doc, bson.E{Key: "fullDocument", Value: full})
	}
	doc = append(doc, bson.E{Key: "ns", Value: namespaceDocument(e.NS)})
	if e.Kind == store.Renamed {
		doc = append(doc, bson.E{Key: "to", Value: namespaceDocument(e.Of.To)})
	}
	if e.New == nil && e.Old == nil {
		return append(doc, s.details(e)...), nil
	}
	doc = append(doc, bson.E{Key: "documentKey", Value: bson.D{{Key: "_id", Value: e.ID()}}})
	if e.Kind == store.Updated {
		doc = append(doc, bson.E{Key: "updateDescription", Value: s.describe(e)})
	}
	if s.before != "off" && e.Old != nil {
		before, err := image(e, e.Old, s.before, "pre-image")
		if err != nil {
			return nil, err
		}
		doc = append(doc, bson.E{Key: "fullDocumentBeforeChange", Value: before})
	}
	return doc, nil
}

func (s *changeStream) describe(e *store.Event) bson.D {
	var d bson.D
	if e.How == nil {
		d = update.Describe(e.Old, e.New)
	} else {
		d = e.How.Describe(e.Old, e.New)
	}
	if !s.expanded {
		d = forms.RemoveOptions(d, update.Disambiguated)
	}
	return d
}

// invalidation returns the event that follows one that ends the stream.
func (s *changeStream) invalidation(e *store.Event) bson.D {
	return s.header(e, token{e.Position, invalidated}, "invalidate")
}

func (s *changeStream) header(e *store.Event, t token, kind string) bson.D {
	doc := append(make(bson.D, 0, 12),
		bson.E{Key: "_id", Value: t.document()},
		bson.E{Key: "operationType", Value: kind},
		bson.E{Key: "clusterTime", Value: e.Timestamp})
	if s.expanded && t.kind == changed && e.Kind != store.DatabaseDropped && !e.OfView() {
		doc = append(doc, bson.E{Key: "collectionUUID", Value: e.UUID})
	}
	return append(doc, bson.E{Key: "wallTime", Value: bson.NewDateTimeFromTime(e.Wall)})
}

func namespaceDocument(ns store.Namespace) bson.D {
	d := bson.D{{Key: "db", Value: ns.DB}}
	if ns.Coll != "" {
		d = append(d, bson.E{Key: "coll", Value: ns.Coll})
	}
	return d
}

// fullDocument returns the document that an event has, if it has one.
func (s *changeStream) fullDocument(e *store.Event) (any, bool, error) {
	switch e.Kind {
	case store.Inserted, store.Replaced:
		return e.New, true, nil
	case store.Updated:
	default:
		return nil, false, nil
	}
	switch s.full {
	case "default":
		return nil, false, nil
	case "updateLookup":
		doc, err := s.current(e)
		return doc, true, err
	}
	doc, err := image(e, e.New, s.full, "post-image")
	return doc, true, err
}

// current looks up the document as it is now, null when it is gone.
func (s *changeStream) current(e *store.Event) (any, error) {
	state := s.engine.store.Snapshot()
	c := state.Collection(e.NS)
	if c == nil || !bsonval.Equal(c.UUID, e.UUID) {
		return nil, nil
	}
	m, err := query.Parse(bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: e.ID()}}}},
		query.Options{Collation: c.Collation})
	if err != nil {
		return nil, err
	}
	env := &environment{state: state, watch: s.watch}
	for doc, err := range env.Find(e.NS.DB, e.NS.Coll, m) {
		return doc, err
	}
	return nil, nil
}

// image returns a document before or after a change, which only collections
// with changeStreamPreAndPostImages have recorded.
func image(e *store.Event, doc bson.D, mode, what string) (any, error) {
	switch {
	case e.Images:
		return doc, nil
	case mode == "required":
		return nil, notFound(e, what)
	}
	return nil, nil
}

// notFound is the error of a stream that requires an image. It has no label: another stream may go on from the same
// token without requiring one.
func notFound(e *store.Event, what string) error {
	kinds := "update, delete and replace"
	if what == "post-image" {
		kinds = "update"
	}
	event := bson.D{
		{Key: "operationType", Value: e.Kind}, {Key: "ns", Value: namespaceDocument(e.NS)},
		{Key: "clusterTime", Value: e.Timestamp},
	}
	if e.Origin != nil {
		event = append(event, bson.E{Key: "txnNumber", Value: e.Origin.Number})
	}
	return mongoerr.New(mongoerr.NoMatchingDocument,
		"Change stream was configured to require a %s for all %s events, but the %s was not found for event: %s",
		what, kinds, what, store.Show(event))
}
