package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// work executes one operation under a layout. The same code prices an operation and runs
// it. To price it, it uses example documents and counts the commands.
type work struct {
	*store
	db    database // receives the commands
	at    int      // the operation
	ids   map[string]id
	read  map[string]doc // documents that were read by _id
	later []write        // writes to send together, at the end or before a read of their collection
}

func newWork(s *store, db database) *work {
	return &work{store: s, db: db, ids: map[string]id{}, read: map[string]doc{}}
}

func (x *work) operation(i int) error {
	x.at = i
	for _, a := range x.accesses[i] {
		var err error
		switch a.Do {
		case Read:
			err = x.lookUp(a)
		case Insert:
			err = x.insert(a)
		case Update:
			err = x.update(a)
		default:
			err = x.delete(a)
		}
		if err != nil {
			return fmt.Errorf("%s, %s %s: %w", x.Operations[i].Name, a.Do.text(), a.Of, err)
		}
	}
	return x.send()
}

// add adds a write, and forgets the documents that it changes.
func (x *work) add(w write) {
	x.later = append(x.later, w)
	x.forget(w.host)
}

// forget forgets the documents read from a collection.
func (x *work) forget(e *entity) {
	for key := range x.read {
		if strings.HasPrefix(key, e.Name+"=") {
			delete(x.read, key)
		}
	}
}

// send sends the collected writes.
func (x *work) send() error {
	writes := merged(x.later)
	x.later = nil
	return x.db.run(writes)
}

// find runs a query, after the writes to its collection.
func (x *work) find(q *model.Find[doc], e *entity, w expected) ([]doc, error) {
	if err := x.sendTo(e); err != nil {
		return nil, err
	}
	q.Options.BatchSize = batch
	return x.db.find(q, e, w)
}

// batch is the number of documents in a query's batch.
const batch = 1000

// sendTo sends the collected writes, if one is to this collection.
func (x *work) sendTo(e *entity) error {
	if slices.ContainsFunc(x.later, func(w write) bool { return w.host == e }) {
		return x.send()
	}
	return nil
}

// id returns the _id of a document by its entity and name in the operation.
func (x *work) id(e *entity, name string) id {
	key := e.Name + "=" + name
	if _, ok := x.ids[key]; !ok {
		x.ids[key] = x.db.pick(e, name)
	}
	return x.ids[key]
}

// get reads a document by _id, once in an operation.
func (x *work) get(e *entity, name string) (doc, error) {
	key := e.Name + "=" + name
	if d, ok := x.read[key]; ok {
		return d, nil
	}
	q := x.own[e].ByID(x.id(e, name))
	found, err := x.find(q, e, expected{n: 1, some: 1, byID: true, bytes: x.without(q, e, x.shown(e, name))})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, mongo.ErrNoDocuments
	}
	x.read[key] = found[0]
	return found[0], nil
}
