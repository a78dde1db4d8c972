package engine

// This file describes a collMod for change streams with showExpandedEvents, whose event modify has two documents:
//
//	operationDescription: {index: {name: "n_1", hidden: true}}
//	stateBeforeChange: {collectionOptions: {uuid: UUID}, indexOptions: {hidden: false}}

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// describeRequest returns the command's options as change events show them. x is the index as it was, nil without one.
// It is shown by its name, even if the command has its key.
func (m *modification) describeRequest(w *store.Writer, x *store.Index) bson.D {
	d := bson.D{}
	for _, e := range m.Doc[1:] {
		switch {
		case e.Key == "index" && x != nil:
			d = append(d, bson.E{Key: e.Key, Value: m.describeIndexRequest(w.Collection(m.ns).Index(x.Spec.Name).Spec)})
		case e.Key != "dryRun" && slices.Contains(m.request.command.fields, e.Key):
			d = append(d, e)
		}
	}
	return d
}

// describeIndexRequest returns the options of the index as change events show them.
func (m *modification) describeIndexRequest(now *store.IndexSpec) bson.D {
	d := bson.D{{Key: "name", Value: now.Name}}
	if m.index.HasField("expireAfterSeconds") {
		d = append(d, bson.E{Key: "expireAfterSeconds", Value: int64(now.ExpireAfter / time.Second)})
	}
	for _, name := range []string{"hidden", "unique", "prepareUnique"} {
		if v, ok := m.index.Get(name); ok {
			d = append(d, bson.E{Key: name, Value: v})
		}
	}
	return d
}

// describeOptionsBefore returns the options before the command: all options of the collection, and the options of
// the index that the command changes.
func (m *modification) describeOptionsBefore(c *store.Collection, x *store.Index) bson.D {
	options := append(bson.D{{Key: "uuid", Value: c.UUID}}, c.Options...)
	d := bson.D{{Key: "collectionOptions", Value: options}}
	if x == nil {
		return d
	}
	index := bson.D{} // of the options that the command has
	if m.index.HasField("expireAfterSeconds") && x.Spec.Expires {
		index = append(index, bson.E{Key: "expireAfterSeconds", Value: int64(x.Spec.ExpireAfter / time.Second)})
	}
	if m.index.HasField("hidden") {
		index = append(index, bson.E{Key: "hidden", Value: x.Spec.Hidden})
	}
	if m.index.HasField("prepareUnique") {
		index = append(index, bson.E{Key: "prepareUnique", Value: x.Spec.Prepare})
	}
	return append(d, bson.E{Key: "indexOptions", Value: index})
}
