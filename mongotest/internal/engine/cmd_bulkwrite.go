package engine

// This file has the command bulkWrite, which writes in several collections
// (https://www.mongodb.com/docs/manual/reference/command/bulkWrite/). The number in an operation is a position in
// nsInfo:
//
//	{bulkWrite: 1, nsInfo: [{ns: "test.a"}, {ns: "test.b"}], ops: [
//		{insert: 0, document: {_id: 1}}, {update: 1, filter: {_id: 2}, updateMods: {$set: {n: 3}}}]}
//
// Each operation runs as the statement of an insert, update or delete command. The reply has a cursor with a document
// for each operation, and sums:
//
//	{cursor: {firstBatch: [{ok: 1.0, idx: 0, n: 1}, {ok: 1.0, idx: 1, n: 1, nModified: 1}], id: 0,
//	 ns: "admin.$cmd.bulkWrite"}, nErrors: 0, nInserted: 1, nMatched: 1, nModified: 1, nUpserted: 0,
//	 nDeleted: 0, ok: 1.0}

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var bulkWriteCommands = []*command{
	{name: "bulkWrite", txn: true, admin: true, run: bulkWrite, fields: []string{
		"ops", "nsInfo", "ordered", "bypassDocumentValidation", "let", "errorsOnly", "cursor", "stmtId", "stmtIds",
	}},
}

// bulk is a bulkWrite command that runs.
type bulk struct {
	*statements
	spaces     []store.Namespace // of nsInfo
	ops        []bson.D
	errorsOnly bool     // the cursor has only operations that failed
	results    []bson.D // the documents of the cursor: {ok: 1.0, idx: 0, n: 1}

	// The sums of the reply.
	failed, inserted, matched, modified, upserted, deleted int32
}

// bulkWrite reads all operations, and then runs each as the statement of an insert, update or delete command.
func bulkWrite(r *request) (reply, error) {
	if r.engine.isBefore80() {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", r.name)
	}
	a := r.args()
	b, err := readBulk(r, a)
	if err != nil {
		return nil, err
	}
	limit := readBatchSize(a)
	if a.Err != nil {
		return nil, a.Err
	}
	for i, op := range b.ops {
		if b.isStopped() {
			break
		}
		if err := b.run(i, op); err != nil {
			return nil, err
		}
	}
	ns := store.Namespace{DB: "admin", Coll: "$cmd.bulkWrite"}
	rep, err := r.openSource(ns, cursor.NewDocuments(b.results), limit, false)
	return append(rep,
		bson.E{Key: "nErrors", Value: b.failed},
		bson.E{Key: "nInserted", Value: b.inserted},
		bson.E{Key: "nMatched", Value: b.matched},
		bson.E{Key: "nModified", Value: b.modified},
		bson.E{Key: "nUpserted", Value: b.upserted},
		bson.E{Key: "nDeleted", Value: b.deleted}), err
}

// readBulk reads the whole command, so that nothing is written if a part of it is wrong.
func readBulk(r *request, a *args.Reader) (*bulk, error) {
	a.Require("ops", "nsInfo")
	b := &bulk{ops: a.Documents("ops"), errorsOnly: a.Boolean("errorsOnly", false)}
	for _, d := range a.Documents("nsInfo") {
		part := args.Reader{Place: "bulkWrite.nsInfo", Doc: d}
		a.Fail(part.CheckKnown([]string{"ns"}))
		part.Require("ns")
		db, coll, _ := strings.Cut(part.Text("ns"), ".")
		ns, err := checkNamespace(db, coll)
		a.Fail(part.Err)
		a.Fail(err)
		a.Fail(checkWritable(ns))
		b.spaces = append(b.spaces, ns)
	}
	var err error
	if b.statements, err = newStatements(r, a, len(b.ops)); err != nil {
		return nil, err
	}
	for i, op := range b.ops {
		if err := b.checkOperation(i, op); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// bulkFields are the fields of each kind of operation, beside the field that names it. bulkRequired are the required
// fields.
var bulkFields = map[string][]string{
	"insert": {"document"},
	"update": {"filter", "updateMods", "constants", "multi", "upsert", "arrayFilters", "hint", "sort", "collation"},
	"delete": {"filter", "multi", "hint", "collation"},
}

var bulkRequired = map[string][]string{"insert": {"document"}, "update": {"filter", "updateMods"}, "delete": {"filter"}}

// checkOperation refuses the i-th operation if it doesn't have the fields of its kind, or a wrong number of a
// namespace.
func (b *bulk) checkOperation(i int, op bson.D) error {
	if len(op) == 0 || bulkFields[op[0].Key] == nil {
		return mongoerr.New(mongoerr.BadValue, "BulkWrite ops entry %d is none of insert, update and delete", i)
	}
	kind := op[0].Key
	part := args.Reader{Place: "bulkWrite.ops", Doc: op}
	if err := part.CheckKnown(bulkFields[kind], []string{kind}); err != nil {
		return err
	}
	part.Require(bulkRequired[kind]...)
	at := part.Integer(kind, 0)
	if part.Err == nil && (at < 0 || at >= int64(len(b.spaces))) {
		return mongoerr.New(mongoerr.BadValue, "BulkWrite ops entry %d has an invalid nsInfo index.", i)
	}
	if part.Boolean("multi", false) && b.request.hasNumber && b.request.txn == nil {
		part.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"BulkWrite %s ops with multi:true cannot use retryable writes.", kind))
	}
	return part.Err
}

// run runs the i-th operation, and notes what it did. A retried command has done some operations before: their outcomes
// are recalled and reported again. An error of run ends the command.
func (b *bulk) run(i int, op bson.D) error {
	kind := op[0].Key
	b.request.engine.counters.countBulk(kind)
	o, again := b.request.recall(b.statementID(i))
	if !again {
		var err error
		at, _ := args.ReadWhole(op[0].Value)
		o, err = b.runOperation(kind, b.spaces[at], op)
		if err := b.noteResult(i, err); err != nil {
			return err
		}
		if err != nil {
			b.noteFailure(i, kind, mongoerr.Convert(err))
			return nil
		}
		b.request.remember(b.statementID(i), o)
	}
	doc := bson.D{{Key: "ok", Value: 1.0}, {Key: "idx", Value: int32(i)}, {Key: "n", Value: o.N}}
	switch kind {
	case "insert":
		b.inserted += o.N
	case "delete":
		b.deleted += o.N
	default:
		doc = append(doc, bson.E{Key: "nModified", Value: o.Modified})
		b.modified += o.Modified
		if o.IsUpsert {
			doc = append(doc, bson.E{Key: "upserted", Value: bson.D{{Key: "_id", Value: o.Upserted}}})
			b.upserted++
			break
		}
		b.matched += o.N
	}
	if !b.errorsOnly {
		b.results = append(b.results, doc)
	}
	return nil
}

// noteFailure notes an operation that failed, as a document of the cursor.
func (b *bulk) noteFailure(i int, kind string, e *mongoerr.Error) {
	b.failed++
	doc := bson.D{
		{Key: "ok", Value: 0.0}, {Key: "idx", Value: int32(i)},
		{Key: "code", Value: e.Code}, {Key: "errmsg", Value: e.Message},
	}
	doc = append(append(doc, e.Extra...), bson.E{Key: "n", Value: int32(0)})
	if kind == "update" {
		doc = append(doc, bson.E{Key: "nModified", Value: int32(0)})
	}
	b.results = append(b.results, doc)
}

// runOperation runs one operation as the command of its kind would.
func (b *bulk) runOperation(kind string, ns store.Namespace, op bson.D) (session.Outcome, error) {
	switch kind {
	case "insert":
		v, _ := bsonval.Get(op, "document")
		doc, ok := v.(bson.D)
		if !ok {
			return session.Outcome{}, mongoerr.New(mongoerr.TypeMismatch,
				"BSON field 'bulkWrite.ops.document' is the wrong type '%s', expected type 'object'",
				bsonval.TypeName(v))
		}
		err := b.request.write(func(w *store.Writer) error { return insertDocument(w, ns, doc) })
		b.request.noteInsert(b.request.state().Collection(ns), err)
		return session.Outcome{N: 1}, err
	case "update":
		return runUpdate(b.request, ns, makeStatement(op))
	}
	n, err := runDelete(b.request, ns, makeStatement(op))
	return session.Outcome{N: n}, err
}

// makeStatement returns an operation of a bulk as the statement of an update or a delete command, by the short names
// that statements have:
//
//	{delete: 0, filter: {n: 1}, multi: true}   →   {q: {n: 1}, limit: 0}
func makeStatement(op bson.D) bson.D {
	multi := false
	var out bson.D
	for _, e := range op[1:] {
		switch e.Key {
		case "filter":
			e.Key = "q"
		case "updateMods":
			e.Key = "u"
		case "constants":
			e.Key = "c"
		case "multi":
			part := args.Reader{Doc: op}
			if multi = part.Boolean("multi", false); op[0].Key == "delete" {
				continue
			}
		}
		out = append(out, e)
	}
	if op[0].Key == "delete" {
		limit := int32(1)
		if multi {
			limit = 0
		}
		out = append(out, bson.E{Key: "limit", Value: limit})
	}
	return out
}
