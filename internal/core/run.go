package core

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// A DB is what values run on: a *mongo.Database or a [Handle]. It is model.DB.
type DB interface {
	Name() string
	Client() *mongo.Client
}

// A Handle is a database with scopes or observers. Package model makes it.
type Handle struct {
	Database *mongo.Database
	Scopes   any    // of package model; nil without scopes
	Tenant   string // names the tenant of the library's own documents, or ""

	TextTenant string // a field of the tenant whose value is a string, or ""

	Observers any   // of package model; nil without observers
	Err       error // bad input: everything that runs on the handle fails with it
	Tx        bool  // run related writes in a transaction
	Together  bool  // with Tx: the server has bulkWrite for several collections
	Bulk      bool  // outside transactions, send writes of several collections by bulkWrite

	WriteConcern *writeconcern.WriteConcern // of bulkWrite; nil for the client's
}

// Name returns the database's name.
func (h *Handle) Name() string {
	if h == nil || h.Database == nil {
		return ""
	}
	return h.Database.Name()
}

// Client returns the database's client.
func (h *Handle) Client() *mongo.Client {
	if h == nil || h.Database == nil {
		return nil
	}
	return h.Database.Client()
}

// UnderScopes returns a query or a write as it is sent under the scopes of a database, and
// the fields that the scopes add to filters. It returns false for a value that can't be
// scoped. Package model sets it.
var UnderScopes func(db DB, query any) (scoped any, fields []string, ok bool)

// WithKeyIDs returns a filter with a tenant in its conditions on _id. Package model sets
// it.
var WithKeyIDs func(filter, tenant bson.D) bson.D

// HandleOf returns a new handle on a database, with everything that db has. Its Err is
// the result of [CheckDB].
func HandleOf(db DB) *Handle {
	own := &Handle{}
	if h, ok := db.(*Handle); ok && h != nil {
		*own = *h
	} else if d, ok := db.(*mongo.Database); ok {
		own.Database = d
	}
	own.Err = CheckDB(db)
	return own
}

// Database returns the driver's database behind a DB that passed [CheckRun].
func Database(db DB) *mongo.Database {
	if h, ok := db.(*Handle); ok {
		return h.Database
	}
	return db.(*mongo.Database)
}

// Transacts reports whether related writes run in a transaction.
func Transacts(db DB) bool {
	h, ok := db.(*Handle)
	return ok && h != nil && h.Tx
}

// Together reports whether the writes of a transaction can be sent as one command.
func Together(db DB) bool {
	h, ok := db.(*Handle)
	return ok && h != nil && h.Together
}

// Bulk reports whether writes of several collections are sent as one command outside
// transactions, and their write concern.
func Bulk(db DB) (*writeconcern.WriteConcern, bool) {
	h, ok := db.(*Handle)
	if !ok || h == nil {
		return nil, false
	}
	return h.WriteConcern, h.Bulk
}

// Scoped reports whether a database is under a scope.
func Scoped(db DB) bool {
	h, ok := db.(*Handle)
	return ok && h != nil && h.Scopes != nil
}

// CheckRun refuses a nil context and an unusable database, before anything is sent.
func CheckRun(ctx context.Context, db DB) error {
	if ctx == nil {
		return ValueError("", "ctx", nil, "is nil: give context.Background()")
	}
	return CheckDB(db)
}

// CheckDB refuses an unusable database.
func CheckDB(db DB) error {
	const none = "is nil: give the database of the collections"
	switch db := db.(type) {
	case nil:
		return ValueError("", "db", nil, none)
	case *mongo.Database:
		if db == nil {
			return ValueError("", "db", nil, none)
		}
		return nil
	case *Handle:
		if db == nil {
			return ValueError("", "db", nil, none)
		}
		if db.Err == nil && db.Database == nil {
			return ValueError("", "db", nil, none)
		}
		return db.Err
	}
	return ValueError("", "db", fmt.Sprintf("%T", db), "must be a *mongo.Database, or a result of Scope.On or Observer.On")
}

// Tenant returns a text that names the handle's tenant, or "".
func Tenant(db DB) string {
	if h, ok := db.(*Handle); ok && h != nil {
		return h.Tenant
	}
	return ""
}
