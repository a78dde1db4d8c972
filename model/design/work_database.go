package design

import (
	"github.com/docmodel/docmodel/model"
)

// database receives a work's commands: a real one, or a price.
type database interface {
	// find runs a query for documents of a collection.
	find(q *model.Find[doc], e *entity, w expected) ([]doc, error)
	// run runs the writes of an operation, in order.
	run(writes []write) error
	// change runs a change of a technique.
	change(c model.Change, cost changed) error
	// pick returns the _id of an operation's document.
	pick(e *entity, name string) id
	// parents returns the _ids of a relation's parents in some documents; n are expected.
	parents(r *relation, path string, rows []row, n float64) []id
	// children returns the _ids of some documents; n parents are expected.
	children(r *relation, rows []row, n float64) []id
	// listed returns the _ids that some parents list; n are expected.
	listed(r *relation, rows []row, n float64) []id
	// aggregate queries totals of children.
	aggregate(q *model.Aggregate[doc], e *entity, w expected) ([]doc, error)
	// value returns a value of a field, to search for or to store.
	value(e *entity, f *Field) any
	// since returns the smallest value of a field that leaves a share of the documents.
	since(e *entity, f *Field, share float64) any
	// answer receives the result of a read.
	answer(a *access, rows []row, totals answers)
	// deleted receives the _id of a document that will be deleted.
	deleted(one id)
	// insert returns a new document of an entity, without its relations.
	insert(e *entity) doc
}

// expected is the expected result of a query.
type expected struct {
	n    float64 // documents
	some float64 // the probability that the query is sent
	byID bool    // it filters only by _id

	bytes   float64 // returned bytes of one document
	scanned float64 // index entries, if more than documents
	loaded  float64 // documents that the server reads, if more than it returns
}

// write is a write of an operation, and its effect on documents and indexes.
type write struct {
	model.Write
	host    *entity
	one     string   // name of the document that it updates by _id, or ""
	n       float64  // expected number of documents
	changes []change // in each document; nil for inserts and deletes
}

// change is a changed path, and the number of index entries added or removed for it.
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
