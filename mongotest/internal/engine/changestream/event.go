package changestream

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// makeEvent returns the event of a change, in the order in which MongoDB has the fields
// (https://www.mongodb.com/docs/manual/reference/change-events/).
func (s *Stream) makeEvent(e *store.Event) (bson.D, error) {
	// An update by a pipeline is logged whole if its difference isn't smaller than the document.
	if e.Kind == store.Updated && e.How != nil && e.How.IsLoggedWhole(e.Old, e.New) {
		whole := *e
		whole.Kind, e = store.Replaced, &whole
	}
	doc := s.makeHeader(e, token{e.Position, changed}, e.Kind)
	if e.Origin != nil {
		doc = append(doc, bson.E{Key: "txnNumber", Value: e.Origin.Number}, bson.E{
			Key: "lsid", Value: session.Describe(e.Origin.Session),
		})
	}
	full, has, err := s.findFullDocument(e)
	if err != nil {
		return nil, err
	}
	if has {
		doc = append(doc, bson.E{Key: "fullDocument", Value: full})
	}
	doc = append(doc, bson.E{Key: "ns", Value: showNamespace(e.NS)})
	if e.Kind == store.Renamed {
		doc = append(doc, bson.E{Key: "to", Value: showNamespace(e.Of.To)})
	}
	if e.New == nil && e.Old == nil { // a change of a collection or a database
		return append(doc, s.makeDetails(e)...), nil
	}
	doc = append(doc, bson.E{Key: "documentKey", Value: bson.D{{Key: "_id", Value: e.ID()}}})
	if e.Kind == store.Updated {
		doc = append(doc, bson.E{Key: "updateDescription", Value: s.describeUpdate(e)})
	}
	if s.before != "off" && e.Old != nil {
		before, err := chooseImage(e, e.Old, s.before, "pre-image")
		if err != nil {
			return nil, err
		}
		doc = append(doc, bson.E{Key: "fullDocumentBeforeChange", Value: before})
	}
	return doc, nil
}

// describeUpdate returns the updateDescription of an update. An update by operators knows what it set (Event.How). A
// replacement that counts as an update is described by comparing the documents.
func (s *Stream) describeUpdate(e *store.Event) bson.D {
	var d bson.D
	if e.How == nil {
		d = update.Describe(e.Old, e.New)
	} else {
		d = e.How.Describe(e.Old, e.New)
	}
	if !s.Expanded {
		d = forms.RemoveOptions(d, update.Disambiguated)
	}
	return d
}

// makeInvalidation returns the invalidate event after a change that ends the stream.
func (s *Stream) makeInvalidation(e *store.Event) bson.D {
	return s.makeHeader(e, token{e.Position, invalidated}, "invalidate")
}

// makeHeader returns the fields that all events have first.
func (s *Stream) makeHeader(e *store.Event, t token, kind string) bson.D {
	doc := append(make(bson.D, 0, 12),
		bson.E{Key: "_id", Value: t.document()},
		bson.E{Key: "operationType", Value: kind},
		bson.E{Key: "clusterTime", Value: e.Timestamp})
	if s.Expanded && t.kind == changed && e.Kind != store.DatabaseDropped && !e.OfView() {
		doc = append(doc, bson.E{Key: "collectionUUID", Value: e.UUID})
	}
	return append(doc, bson.E{Key: "wallTime", Value: bson.NewDateTimeFromTime(e.Wall)})
}

// showNamespace returns a namespace as events show it.
func showNamespace(ns store.Namespace) bson.D {
	d := bson.D{{Key: "db", Value: ns.DB}}
	if ns.Coll != "" {
		d = append(d, bson.E{Key: "coll", Value: ns.Coll})
	}
	return d
}

// findFullDocument returns the fullDocument of an event, false if the event has none.
func (s *Stream) findFullDocument(e *store.Event) (any, bool, error) {
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
		doc, err := s.lookUpDocument(e)
		return doc, true, err
	}
	doc, err := chooseImage(e, e.New, s.full, "post-image")
	return doc, true, err
}

// lookUpDocument returns the changed document as it is now, nil if it was deleted.
func (s *Stream) lookUpDocument(e *store.Event) (any, error) {
	c := s.store.Snapshot().Collection(e.NS)
	if c == nil || !bsonval.Equal(c.UUID, e.UUID) {
		return nil, nil
	}
	m, err := query.Parse(bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: e.ID()}}}},
		query.Options{Collation: c.Collation})
	if err != nil {
		return nil, err
	}
	p, err := plan.Choose(c, plan.Query{Matcher: m, Watch: s.watch})
	if err != nil {
		return nil, err
	}
	found, err := p.Open().Next()
	if found == nil || err != nil {
		return nil, err
	}
	return found.Doc, nil
}

// chooseImage returns a document before or after a change, if the collection recorded images of documents. mode is the
// option's value. what is "pre-image" or "post-image".
func chooseImage(e *store.Event, doc bson.D, mode, what string) (any, error) {
	switch {
	case e.Images:
		return doc, nil
	case mode == "required":
		return nil, newImageError(e, what)
	}
	return nil, nil
}

// newImageError returns the error of a stream that requires an image which wasn't recorded. It has no label: another
// stream may continue with the same token without requiring images.
func newImageError(e *store.Event, what string) error {
	kinds := "update, delete and replace"
	if what == "post-image" {
		kinds = "update"
	}
	event := bson.D{
		{Key: "operationType", Value: e.Kind}, {Key: "ns", Value: showNamespace(e.NS)},
		{Key: "clusterTime", Value: e.Timestamp},
	}
	if e.Origin != nil {
		event = append(event, bson.E{Key: "txnNumber", Value: e.Origin.Number})
	}
	return mongoerr.New(mongoerr.NoMatchingDocument,
		"Change stream was configured to require a %s for all %s events, but the %s was not found for event: %s",
		what, kinds, what, store.Show(event))
}
