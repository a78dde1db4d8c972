package design

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// database is what a work's commands reach: a real one, or a price.
type database interface {
	// find runs a query for documents of a collection.
	find(q *model.Find[doc], e *entity, w expected) ([]doc, error)
	// run runs the writes of an operation, in order.
	run(writes []write) error
	// change runs a change of a technique.
	change(c model.Change[any], cost changed) error
	// token returns a new token for a change.
	token() bson.ObjectID
	// pick returns the _id of a document that an operation is about.
	pick(e *entity, name string) id
	// parents returns the _ids of a relation's parents that some documents hold, of which n are expected.
	parents(r *relation, path string, rows []row, n float64) []id
	// children returns the _ids of some documents, of which n parents are expected.
	children(r *relation, rows []row, n float64) []id
	// listed returns the _ids that some parents list, of which n are expected.
	listed(r *relation, rows []row, n float64) []id
	// aggregate asks for totals of children.
	aggregate(q *model.Aggregate[doc], e *entity, w expected) ([]doc, error)
	// value returns a value of a field: one that a reader asks for, or one to be stored.
	value(e *entity, f *Field) any
	// since returns the smallest value of a field that leaves a share of the documents.
	since(e *entity, f *Field, share float64) any
	// answer is told what a read gave.
	answer(a *access, rows []row, totals answers)
	// deleted is told that a document will be deleted.
	deleted(one id)
	// insert returns a new document of an entity, without its relations.
	insert(e *entity) doc
}

// expected is what a query is expected to find.
type expected struct {
	n    float64 // documents
	some float64 // how likely it is that the query is sent at all
	byID bool    // it is by _id alone

	bytes   float64 // of what is returned of one document
	scanned float64 // entries of an index, where they are more than the documents
	loaded  float64 // documents that the server reads, if they are more than it returns
}

// write is a write of an operation, and what it does to documents and indexes.
type write struct {
	model.Write
	host    *entity
	one     string   // the name of the document that it updates by _id; "" if it does something else
	n       float64  // the expected number of documents
	changes []change // in each document; nil for a document that comes or goes
}

// change is a path that a write changes, and how many entries of an index on it are added or removed.
type change struct {
	path    string
	entries float64
}

func changes(entries float64, paths ...string) (out []change) {
	for _, p := range paths {
		out = append(out, change{p, entries})
	}
	return out
}
