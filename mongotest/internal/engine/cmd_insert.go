package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

func init() {
	register(&command{name: "insert", txn: true, writes: true, run: insert, fields: []string{
		"insert", "documents", "ordered", "bypassDocumentValidation", "stmtId", "stmtIds",
	}})
}

func insert(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("documents")
	docs := a.Documents("documents")
	st, err := newStatements(r, a, len(docs))
	if err != nil {
		return nil, err
	}
	n := int32(0)
	for at := 0; at < len(docs) && !st.stopped(); {
		// One write takes as many documents as it can. A held one ends it,
		// unless it is the first, for which the write then waits.
		from, before := at, n
		var over error
		err := r.write(func(w *store.Writer) error {
			for at = from; at < len(docs) && !st.stopped(); at++ {
				if over = r.watch.Step(); over != nil {
					return inTransaction(r, over)
				}
				if _, again := r.recall(st.id(at)); again {
					n++
					continue
				}
				err := insertOne(w, ns, docs[at])
				if !store.IsHeld(err) {
					r.noteInsert(w.Collection(ns), err)
				}
				if store.IsHeld(err) {
					if at > from {
						return nil
					}
					return err
				}
				if over = st.result(at, err); over != nil {
					return inTransaction(r, over)
				}
				if err == nil {
					n++
					r.remember(st.id(at), session.Outcome{N: 1})
				}
			}
			return nil
		})
		var failed undone
		if errors.As(err, &failed) {
			at, n = from+1, before
			err = st.result(from, failed)
		}
		if err = cmp.Or(err, over); err != nil {
			return nil, err
		}
	}
	return st.reply(reply{{Key: "n", Value: n}}), nil
}

// inTransaction returns the error that ends a command, for a write in a transaction. Outside,
// what the command did before stays done, as on a server, and the write goes well.
func inTransaction(r *request, over error) error {
	if r.txn == nil {
		return nil
	}
	return over
}

// insertOne stores a document after the checks that only inserts need.
func insertOne(w *store.Writer, ns store.Namespace, doc bson.D) error {
	doc, err := withID(w.Now, doc)
	if err != nil {
		return err
	}
	_, err = w.Insert(ns, stamped(w, doc))
	return err
}

// stamped is a document with the server's time in place of the empty timestamps at its top, but of its _id.
func stamped(w *store.Writer, doc bson.D) bson.D {
	var out bson.D
	for i, e := range doc {
		if e.Value != any(bson.Timestamp{}) || e.Key == "_id" {
			continue
		}
		if out == nil {
			out = slices.Clone(doc)
		}
		out[i].Value = w.Time()
	}
	if out == nil {
		return doc
	}
	return out
}

// withID returns the document with an _id, as its first field, and refuses
// what no stored document may have.
func withID(now func() time.Time, doc bson.D) (bson.D, error) {
	at := bsonval.Index(doc, "_id")
	switch {
	case at < 0:
		return append(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(now())}}, doc...), nil
	case at > 0:
		moved := append(make(bson.D, 0, len(doc)), doc[at])
		doc = append(append(moved, doc[:at]...), doc[at+1:]...)
	}
	return doc, checkID(doc[0].Value)
}

// checkID refuses values that can't be an _id.
func checkID(id any) error {
	switch v := id.(type) {
	case bson.A, bson.Regex, bson.Undefined:
		return mongoerr.New(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", bsonval.TypeName(id))
	case bson.D:
		for _, e := range v {
			if strings.HasPrefix(e.Key, "$") {
				return mongoerr.New(mongoerr.DollarPrefixedFieldName,
					"_id fields may not contain '$'-prefixed fields: %s is not valid for storage.", e.Key)
			}
		}
	}
	return nil
}
