package engine

// This file reads the generic fields, which every command takes, into a request, and checks names of collections. A
// command with many generic fields:
//
//	{find: "things", $db: "test", lsid: {id: UUID}, txnNumber: 3, autocommit: false, startTransaction: true,
//	 readConcern: {level: "snapshot"}, maxTimeMS: 500, apiVersion: "1", $clusterTime: {…}}

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readGeneric reads the generic fields. An aborted transaction or a wrong number is found later, when the session is
// checked out. Here only combinations of fields are refused that no session allows.
func (r *request) readGeneric() error {
	a := r.args()
	// $db replaces the database of the message, which only the legacy hello has.
	if a.HasField("$db") {
		r.db = a.Text("$db")
	}
	if id := a.Document("lsid"); id != nil {
		if r.lsid = readSessionID(a, id); a.Err == nil {
			r.engine.sessions.NoteUse(r.lsid, r.engine.now())
		}
	}
	r.hasNumber = a.HasField("txnNumber")
	r.number = a.Integer("txnNumber", 0)
	r.autocommit = a.HasField("autocommit")
	r.start = a.Boolean("startTransaction", false)
	r.maxTime = time.Duration(a.Natural("maxTimeMS", 0)) * time.Millisecond
	if r.autocommit && a.Boolean("autocommit", false) {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "autocommit must be false or absent"))
	}
	if r.start && !r.autocommit {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'startTransaction' field requires 'autocommit' field to also be specified"))
	}
	if r.autocommit && !r.hasNumber {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'autocommit' field requires a transaction number to also be specified"))
	}
	if r.hasNumber && r.lsid == "" {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified"))
	}
	if r.hasNumber && r.engine.alone {
		a.Fail(mongoerr.New(mongoerr.IllegalOperation,
			"Transaction numbers are only allowed on a replica set member or mongos"))
	}
	// $clusterTime, $readPreference and comment change nothing on one node, and aren't read.
	r.readConcern(a, a.Document("readConcern"))
	r.writeConcern(a, a.Document("writeConcern"))
	r.readAPI(a)
	return a.Err
}

// readSessionID reads the id of a session from {id: UUID}: its 16 bytes as a string, as package session has it.
func readSessionID(a *args.Reader, id bson.D) string {
	v, _ := bsonval.Get(id, "id")
	b, ok := v.(bson.Binary)
	if !ok || b.Subtype != 4 || len(b.Data) != 16 {
		a.RefuseType("lsid.id", v, "binData")
		return ""
	}
	return string(b.Data)
}

// readConcern reads the read concern. The data of a single node is always committed by a majority, and a transaction
// has its own snapshot anyway. So the level changes the data that is read only if it is snapshot, outside of
// transactions.
func (r *request) readConcern(a *args.Reader, concern bson.D) {
	sub := args.Reader{Place: "readConcern", Doc: concern}
	if err := sub.CheckKnown([]string{"level", "afterClusterTime", "atClusterTime"}); err != nil {
		a.Fail(err)
	}
	switch level := sub.Text("level"); level {
	case "", "local", "majority":
	case "available", "linearizable":
		r.linear = level == "linearizable"
		if r.autocommit {
			a.Fail(mongoerr.New(mongoerr.InvalidOptions,
				"The readConcern level must be either 'local' (default), 'majority' or "+
					"'snapshot' in order to run in a transaction"))
		}
	case "snapshot":
		r.readSnapshot(a, &sub)
	default:
		a.Fail(mongoerr.New(mongoerr.FailedToParse,
			"Enumeration value '%s' for field 'readConcern.level' is not a valid value.", level))
	}
	if sub.HasField("atClusterTime") && sub.Text("level") != "snapshot" {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"readConcern.atClusterTime can be set only if readConcern.level is equal to snapshot"))
	}
	if sub.Err != nil {
		a.Fail(sub.Err)
	}
}

// writeConcern reads the write concern. There is one node, so w: 1 and w: "majority" are the same, and w: 2 can't be
// satisfied. The command runs nevertheless, and its reply has a writeConcernError, as in MongoDB.
func (r *request) writeConcern(a *args.Reader, concern bson.D) {
	sub := args.Reader{Place: "writeConcern", Doc: concern}
	if err := sub.CheckKnown([]string{"w", "j", "fsync", "wtimeout", "provenance"}); err != nil {
		a.Fail(err)
	}
	sub.Boolean("j", false)
	sub.Natural("wtimeout", 0)
	// w is "majority", the name of a mode of the replica set's configuration, or a number of nodes.
	switch w, _ := bsonval.Get(concern, "w"); w := w.(type) {
	case string:
		if w != "majority" {
			r.concern = mongoerr.New(mongoerr.UnknownReplWriteConcern,
				"No write concern mode named '%s' found in replica set configuration", w)
		}
	default:
		if sub.Natural("w", 1) > 1 {
			r.concern = mongoerr.New(mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
		}
	}
	if sub.Err != nil {
		a.Fail(sub.Err)
	}
}

// checkNamespace refuses names that no collection can have
// (https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions).
func checkNamespace(db, coll string) (store.Namespace, error) {
	ns := store.Namespace{DB: db, Coll: coll}
	switch {
	case db == "" || len(db) > 63 || strings.ContainsAny(db, "/\\. \"$\x00"):
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Invalid database name: '%s'", db)
	case coll == "" || strings.HasPrefix(coll, ".") || strings.HasSuffix(coll, ".") ||
		strings.ContainsAny(coll, "$\x00"):
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	case len(db)+len(coll) > 254:
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Fully qualified namespace is too long: '%s'", ns)
	}
	return ns, nil
}
