package engine

// This file has the command renameCollection
// (https://www.mongodb.com/docs/manual/reference/command/renameCollection/). It runs on the database admin, and so both
// names have their databases:
//
//	{renameCollection: "test.a", to: "test.b", dropTarget: true, $db: "admin"}

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var renameCommands = []*command{
	{name: "renameCollection", admin: true, fields: []string{"to", "dropTarget"}, run: renameCollection},
}

// renameCollection renames a collection, and drops the collection of the new name if dropTarget is set.
func renameCollection(r *request) (reply, error) {
	a := r.args()
	a.Require("to")
	if _, ok := r.body[0].Value.(string); !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"BSON field 'renameCollection.renameCollection' is the wrong type '%s', expected type 'string'",
			bsonval.TypeName(r.body[0].Value))
	}
	from, to := readFullNameOf(a, "renameCollection"), readFullNameOf(a, "to")
	drop := a.Boolean("dropTarget", false)
	if a.Err != nil {
		return nil, a.Err
	}
	return nil, r.write(func(w *store.Writer) error { return w.Rename(from, to, drop) })
}

// readFullNameOf reads the name of a collection with its database, "test.a", from a field.
func readFullNameOf(a *args.Reader, field string) store.Namespace {
	db, coll, _ := strings.Cut(a.Text(field), ".")
	ns, err := checkNamespace(db, coll)
	if a.Err == nil { // else the field isn't a string, and the name is empty
		a.Fail(err)
	}
	if strings.HasPrefix(coll, "system.") {
		a.Fail(mongoerr.New(mongoerr.IllegalOperation, "error with namespace: cannot rename system collections: %s",
			ns))
	}
	return ns
}
