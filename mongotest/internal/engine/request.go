package engine

// This file takes a message through its life as a command: read, checks, session, run, reply. It also has the access of
// all commands to the data: state for reading, write for writing.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/wire"
)

// reply is a command's answer, without the field ok, which execute adds. nil is a reply without other fields.
type reply = bson.D

// request is one command that runs, in one goroutine.
type request struct {
	engine  *Engine
	conn    *conn
	ctx     context.Context  // ends with the connection, by kill, and with maxTimeMS
	watch   *interrupt.Watch // points to ending. A cursor that the command opens keeps it
	ending  interrupt.Watch
	command *command
	name    string // of the command as it was sent, which may be an alias
	db      string
	body    bson.D // the whole command; its first field names the command, and often the collection

	// The generic fields, see readGeneric.

	lsid       string // "" without a session
	hasNumber  bool   // the command is numbered
	number     int64  // txnNumber
	autocommit bool   // the field is there: the command belongs to a transaction
	start      bool   // startTransaction
	maxTime    time.Duration
	concern    *mongoerr.Error // why the write concern can't be satisfied
	strict     bool            // apiStrict: only the Stable API is allowed
	linear     bool            // its read concern is linearizable
	snapshot   snapshot        // its read concern is snapshot, outside a transaction

	// What is found while the command runs.

	watching bool     // the command is of a change stream
	labels   []string // the labels of its error, if a fail point has some; else nil
	bypass   bool     // bypassDocumentValidation: documents that validators refuse are stored
	partial  bool     // a statement failed, whether or not the command did

	session *session.Session // checked out; nil for a command without a number
	txn     *store.Txn       // the transaction in which the command runs; nil outside of transactions

	route routing // of the statement that runs, on a sharded collection
}

// genericFields are the fields that every command takes.
var genericFields = []string{
	"$db", "lsid", "txnNumber", "startTransaction", "autocommit", "$clusterTime", "readConcern", "writeConcern",
	"$readPreference", "maxTimeMS", "comment", "apiVersion", "apiStrict", "apiDeprecationErrors",
}

// run reads and runs the command of a message. A panic becomes an error of this command: a fault of the engine must not
// end the test's process without saying which command it was.
func (c *conn) run(m wire.Message) (rep reply, err error) {
	r := &request{engine: c.engine}
	defer func() {
		if p := recover(); p != nil {
			rep, err = nil, mongoerr.New(mongoerr.UnknownError, "%s: the engine panicked: %v", r.name, p)
		}
	}()
	if err := r.read(m); err != nil {
		return nil, err
	}
	c.begin(r)
	defer c.end()
	if r.maxTime > 0 {
		ctx, cancel := context.WithTimeout(r.ctx, r.maxTime) // real time: it limits computing
		defer cancel()
		r.ctx = ctx
	}
	r.watch = &r.ending
	r.watch.Follow(r.ctx)
	return r.execute()
}

// read takes a message apart. A message has the command's document, and may have sequences: lists of documents, such as
// documents of an insert, which the driver sends outside of the command. They become fields of it again.
func (r *request) read(m wire.Message) (err error) {
	if r.body, err = bsonval.Decode(m.Body); err != nil {
		return err
	}
	if len(r.body) == 0 {
		return mongoerr.New(mongoerr.CommandNotFound, "no command in an empty document")
	}
	r.name = r.body[0].Key
	if r.command, err = r.engine.commands.lookup(r.name); err != nil {
		return err
	}
	if m.Query && !slices.Contains(r.command.aliases, "isMaster") {
		return mongoerr.New(352, "Unsupported OP_QUERY command: %s", r.name)
	}
	for _, seq := range m.Sequences {
		if bsonval.Index(r.body, seq.Name) >= 0 {
			return mongoerr.New(40413, "BSON field '%s.%s' is a duplicate field", r.name, seq.Name)
		}
		docs := make(bson.A, len(seq.Docs))
		for i, b := range seq.Docs {
			if docs[i], err = bsonval.Decode(b); err != nil {
				return err
			}
		}
		r.body = append(r.body, bson.E{Key: seq.Name, Value: docs})
	}
	r.db = m.Database
	return r.readGeneric()
}

// execute runs the command: checks, the fail points before it, the session of a numbered command, the snapshot, the
// command itself, labels, and the fail points after it. The order decides which of several errors the client gets.
func (r *request) execute() (reply, error) {
	// 1. The command must be right in itself.
	a := args.Reader{Place: r.name, Doc: r.body[1:]}
	if err := a.CheckKnown(r.command.fields, genericFields); err != nil && !r.command.open && r.command.refused == "" {
		return nil, err
	}
	r.engine.counters.count(r)
	if err := r.checkAPI(); err != nil {
		return nil, err
	}
	if r.command.admin && r.db != "admin" {
		return nil, mongoerr.New(mongoerr.Unauthorized, "%s may only be run against the admin database.", r.name)
	}
	// 2. Fail points, then the session: a command that a fail point refuses doesn't begin a transaction.
	if err := r.failBefore(); err != nil {
		return nil, err
	}
	if err := r.command.checkSupported(r.name); err != nil {
		return nil, err
	}
	if r.hasNumber {
		release, err := r.checkout()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if r.txn == nil { // a transaction removes expired documents when it begins
		r.engine.sweepDue(r.ctx, r.engine.now())
	}
	// 3. The command runs.
	if err := r.openSnapshot(); err != nil {
		return nil, r.addLabels(mongoerr.Convert(err))
	}
	rep, err := r.runRouted()
	// Any error ends a transaction, also that of a single statement.
	if r.txn != nil && (err != nil || r.partial) {
		r.session.Abort()
	}
	if err != nil {
		var e *mongoerr.Error
		if errors.As(err, &e) {
			return nil, r.addLabels(e)
		}
		return nil, err
	}
	// 4. The reply.
	rep, failed := r.failAfter(rep)
	if r.concern != nil && !failed {
		rep = append(rep, describeConcernError(r.concern))
	}
	return append(rep, bson.E{Key: "ok", Value: 1.0}), nil
}

// makeTimes returns the fields by which sessions are causally consistent: the time of the latest change, as the time of
// the operation and of the cluster. The signature is empty, as without authentication.
func (e *Engine) makeTimes() bson.D {
	now := e.store.Latest().Timestamp
	return bson.D{
		{Key: "$clusterTime", Value: bson.D{{Key: "clusterTime", Value: now}, {Key: "signature", Value: unsigned}}},
		{Key: "operationTime", Value: now},
	}
}

// unsigned is the signature of cluster times on a server without authentication.
var unsigned = bson.D{{Key: "hash", Value: bson.Binary{Data: make([]byte, 20)}}, {Key: "keyId", Value: int64(0)}}

// args returns a new reader of the command's fields. Each reader has its own Err, at which its caller must look.
func (r *request) args() *args.Reader {
	return &args.Reader{Place: r.name, Doc: r.body, Watch: r.watch}
}

// namespace returns the collection that the command names in its first field, {find: "things"}. A command that writes
// can't name a system collection.
func (r *request) namespace() (store.Namespace, error) {
	name, ok := r.body[0].Value.(string)
	if !ok {
		return store.Namespace{}, mongoerr.New(mongoerr.InvalidNamespace,
			"collection name has invalid type %s", bsonval.TypeName(r.body[0].Value))
	}
	ns, err := checkNamespace(r.db, name)
	if err == nil && r.command.writes {
		err = checkWritable(ns)
	}
	return ns, err
}

// checkWritable refuses the names that MongoDB keeps for itself.
func checkWritable(ns store.Namespace) error {
	if strings.HasPrefix(ns.Coll, "system.") {
		return mongoerr.New(mongoerr.InvalidNamespace, "cannot write to %s", ns)
	}
	return nil
}

// state returns the data as the command sees it. Two calls may differ, outside of snapshots and transactions, if
// another client writes between them.
func (r *request) state() *store.State {
	if r.snapshot.state != nil {
		return r.snapshot.state
	}
	if r.txn != nil {
		return r.txn.Snapshot()
	}
	return r.engine.store.Snapshot()
}

// write runs fn as one write, in the transaction if there is one. fn does all or nothing. Outside of transactions fn
// may run several times, until no open transaction holds a record that it changes. So fn must set the variables around
// it anew, and must not read r.state().
func (r *request) write(fn func(w *store.Writer) error) error {
	if r.bypass {
		checked := fn
		fn = func(w *store.Writer) error {
			w.Unchecked = true
			return checked(w)
		}
	}
	if r.engine.router != nil {
		fn = r.wrapPlacedWrite(fn)
	}
	if r.txn != nil {
		return r.txn.Write(r.ctx, fn)
	}
	if r.session != nil {
		fn = r.wrapFailingWrite(fn)
	}
	return r.engine.store.Write(r.ctx, fn)
}

// inTransaction reports whether the command belongs to a transaction, open or not.
func (r *request) inTransaction() bool { return r.autocommit }

// collectionless stands for the collection of a command that names a number instead, as {aggregate: 1}.
const collectionless = "$cmd.aggregate"
