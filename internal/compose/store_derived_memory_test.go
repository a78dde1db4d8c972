package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// put stores what a write makes of a document.
func (m *derivedMemory) put(token bson.ObjectID, doc derivedDoc, update bool) error {
	if doc.ID == "" && (update || !m.has[hasKey]) {
		return errUndrawn
	}
	doc.ID = cmp.Or(doc.ID, idOfDerived(doc))
	was, there := m.docs[doc.ID]
	if update && !there {
		return model.ErrNotFound
	}
	err := errors.Join(m.refusal(was, doc, update), m.publish(token, was, &doc, update), putError(there, update))
	if err != nil {
		return err
	}
	m.derive(&doc)
	doc.Mark = was.Mark
	if m.has[hasRollup] && !update {
		doc.Mark = &rollup.Mark{}
	}
	if m.has[hasVersion] {
		doc.Version = was.Version
		switch {
		case !update:
			doc.Version = core.FirstVersion(token)
		case was.Title != doc.Title:
			doc.Version++
		}
	}
	m.docs[doc.ID] = doc
	return nil
}

// refusal returns the errors of a document that techniques refuse.
func (m *derivedMemory) refusal(was, doc derivedDoc, update bool) (err error) {
	if update && m.has[hasVersion] && doc.Version != was.Version {
		err = model.ErrStale
	}
	if m.has[hasKey] && doc.ID != idOfDerived(doc) {
		err = errors.Join(err, errRefused)
	}
	seen := map[string]bool{}
	for _, a := range doc.Attrs {
		if m.has[hasAttrs] && seen[a.K] {
			err = errors.Join(err, errRefused)
		}
		seen[a.K] = true
	}
	if update && m.has[hasRollup] && (was.User != doc.User || was.Size != doc.Size || !was.At.Equal(doc.At)) {
		err = errors.Join(err, errRefused)
	}
	return err
}

// derive computes the fields that techniques compute of the document.
func (m *derivedMemory) derive(doc *derivedDoc) {
	if m.has[hasText] {
		doc.TagText = ""
		if len(doc.Tags) > 0 {
			doc.TagText = "|" + strings.Join(doc.Tags, "|") + "|"
		}
	}
	if m.has[hasField] {
		doc.Key = 0
		if !doc.Place.IsZero() {
			key, _ := geohash.Encode(geohash.Point(doc.Place))
			doc.Key = int64(key)
		}
	}
	if m.has[hasSpread] {
		value, _, _ := strings.Cut(doc.Day, "#")
		doc.Day, _ = derivedSpread.Key(value, doc.Title)
	}
}

// publish adds the event of a write to a document.
func (m *derivedMemory) publish(token bson.ObjectID, was derivedDoc, doc *derivedDoc, update bool) error {
	doc.Box = was.Box
	before := &was
	if !update {
		before = nil
	}
	event, publish := derivedEventOf(before, doc)
	if !m.has[hasOutbox] || !publish {
		return nil
	}
	if len(was.Box.Events) >= 3 {
		return model.ErrFull
	}
	doc.Box.Events = append(slices.Clip(was.Box.Events),
		outbox.Event[derivedEvent]{ID: token, At: token.Timestamp(), Body: event})
	return nil
}

func (m *derivedMemory) drop(id string) error {
	doc := m.docs[id]
	var errs []error
	if m.has[hasRollup] && doc.Mark == nil {
		return errUndrawn // the bins keep its count
	}
	if m.has[hasRollup] || len(doc.Box.Events) > 0 {
		errs = append(errs, model.ErrStale)
	}
	if m.has[hasOutbox] && doc.Title == "z" {
		errs = append(errs, errRefused)
	}
	delete(m.docs, id)
	return errors.Join(errs...)
}

func (m *derivedMemory) differs(ctx context.Context, on model.DB) string {
	byID := func(doc derivedDoc) string { return doc.ID }
	problem := docsDiffer(ctx, on, derivedDocs, m.docs, byID, func(doc derivedDoc) derivedDoc {
		doc.Box.Hash = int64(min(1, len(doc.Box.Events)))
		return doc
	})
	if m.has[hasInverted] {
		problem += m.entriesDiffer(ctx, on, "by.state", func(doc derivedDoc) []string { return []string{doc.State} }) +
			m.entriesDiffer(ctx, on, "by.tags", func(doc derivedDoc) []string { return doc.Tags })
	}
	if m.has[hasColumns] {
		problem += m.flatDiffer(ctx, on)
	}
	return problem
}

// entriesDiffer describes how the entries of an inverted index differ from the documents' values.
func (m *derivedMemory) entriesDiffer(
	ctx context.Context, on model.DB, entries string, values func(derivedDoc) []string,
) string {
	var want []string
	for id, doc := range m.docs {
		for _, v := range values(doc) {
			want = append(want, fmt.Sprintf("'%s' '%s'", v, id))
		}
	}
	return linesDiffer(ctx, on, entries, want, func(doc bson.Raw) string {
		return model.Shell(doc.Lookup("_id", "v")) + " " + model.Shell(doc.Lookup("_id", "id"))
	})
}

// flatDiffer describes how the flat documents of Columns differ from the documents.
func (m *derivedMemory) flatDiffer(ctx context.Context, on model.DB) string {
	flat, err := model.NewCollection[bson.Raw, string]("flat").Find(nil).All(ctx, on)
	if err != nil || len(flat) != len(m.docs) {
		return fmt.Sprintf("%d flat documents of %d, %v", len(flat), len(m.docs), err)
	}
	for _, raw := range flat {
		doc, err := derivedColumns.Back(raw)
		doc.Box.Hash = 0
		if problem := mongotest.Diff(m.docs[doc.ID], doc); err != nil || problem != "" {
			return fmt.Sprintf("a flat document: %v, %s", err, problem)
		}
	}
	return ""
}
