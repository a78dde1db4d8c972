package engine

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readGeneric reads the fields that every command takes.
func (r *request) readGeneric() error {
	a := r.args()
	if a.has("$db") {
		r.db = a.text("$db")
	}
	if id := a.document("lsid"); id != nil {
		if r.lsid = sessionID(a, id); a.err == nil {
			r.engine.used.note(r.lsid, r.engine.now())
		}
	}
	r.hasNumber = a.has("txnNumber")
	r.number = a.integer("txnNumber", 0)
	r.autocommit = a.has("autocommit")
	r.start = a.boolean("startTransaction", false)
	r.maxTime = time.Duration(a.natural("maxTimeMS", 0)) * time.Millisecond
	if r.autocommit && a.boolean("autocommit", false) {
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "autocommit must be false or absent"))
	}
	if r.start && !r.autocommit {
		a.fail(mongoerr.New(mongoerr.InvalidOptions,
			"'startTransaction' field requires 'autocommit' field to also be specified"))
	}
	if r.autocommit && !r.hasNumber {
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "'autocommit' field requires a transaction number to also be specified"))
	}
	if r.hasNumber && r.lsid == "" {
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified"))
	}
	if r.hasNumber && r.engine.alone {
		a.fail(mongoerr.New(mongoerr.IllegalOperation,
			"Transaction numbers are only allowed on a replica set member or mongos"))
	}
	r.readConcern(a, a.document("readConcern"))
	r.writeConcern(a, a.document("writeConcern"))
	r.readAPI(a)
	return a.err
}

func sessionID(a *args, id bson.D) string {
	v, _ := bsonval.Get(id, "id")
	b, ok := v.(bson.Binary)
	if !ok || b.Subtype != 4 || len(b.Data) != 16 {
		a.wrong("lsid.id", v, "binData")
		return ""
	}
	return string(b.Data)
}

// readConcern checks the concern. One node's data is majority-committed, and
// a transaction's snapshot is its own, so that its level changes nothing but
// outside of transactions, if it is snapshot.
func (r *request) readConcern(a *args, concern bson.D) {
	sub := args{place: "readConcern", doc: concern}
	if err := sub.known([]string{"level", "afterClusterTime", "atClusterTime"}); err != nil {
		a.fail(err)
	}
	switch level := sub.text("level"); level {
	case "", "local", "majority":
	case "available", "linearizable":
		r.linear = level == "linearizable"
		if r.autocommit {
			a.fail(mongoerr.New(mongoerr.InvalidOptions,
				"The readConcern level must be either 'local' (default), 'majority' or "+
					"'snapshot' in order to run in a transaction"))
		}
	case "snapshot":
		r.readSnapshot(a, &sub)
	default:
		a.fail(mongoerr.New(mongoerr.FailedToParse,
			"Enumeration value '%s' for field 'readConcern.level' is not a valid value.", level))
	}
	if sub.has("atClusterTime") && sub.text("level") != "snapshot" {
		a.fail(mongoerr.New(mongoerr.InvalidOptions,
			"readConcern.atClusterTime can be set only if readConcern.level is equal to snapshot"))
	}
	if sub.err != nil {
		a.fail(sub.err)
	}
}

// writeConcern checks the concern: more nodes than one are never there.
func (r *request) writeConcern(a *args, concern bson.D) {
	sub := args{place: "writeConcern", doc: concern}
	if err := sub.known([]string{"w", "j", "fsync", "wtimeout", "provenance"}); err != nil {
		a.fail(err)
	}
	sub.boolean("j", false)
	sub.natural("wtimeout", 0)
	switch w, _ := bsonval.Get(concern, "w"); w := w.(type) {
	case string:
		if w != "majority" {
			r.concern = mongoerr.New(mongoerr.UnknownReplWriteConcern,
				"No write concern mode named '%s' found in replica set configuration", w)
		}
	default:
		if sub.natural("w", 1) > 1 {
			r.concern = mongoerr.New(mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
		}
	}
	if sub.err != nil {
		a.fail(sub.err)
	}
}

// checkNamespace refuses names that no collection can have.
func checkNamespace(db, coll string) (store.Namespace, error) {
	ns := store.Namespace{DB: db, Coll: coll}
	switch {
	case db == "" || len(db) > 63 || strings.ContainsAny(db, "/\\. \"$\x00"):
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Invalid database name: '%s'", db)
	case coll == "" || strings.HasPrefix(coll, ".") || strings.HasSuffix(coll, ".") || strings.ContainsAny(coll, "$\x00"):
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	case len(db)+len(coll) > 254:
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Fully qualified namespace is too long: '%s'", ns)
	}
	return ns, nil
}
