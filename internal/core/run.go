package core

// Everything runs on a DB: the driver's database, or a handle, which is a database with settings of package model. The
// functions below answer for both, so that callers never look at a handle's type.

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// A DB is what values run on: a *mongo.Database or a [Handle]. It is model.DB.
type DB interface {
	Name() string
	Client() *mongo.Client
}

// A Handle is a database with scopes, observers or settings for its writes. Package model makes
// it: Scope.On, Observer.On, Model.On. The techniques that read from the driver's database
// themselves, and the tests, need these methods. Package model knows more of its own handles.
type Handle interface {
	DB

	// Settings returns the settings of the handle. The caller must not change them.
	Settings() *HandleSettings

	// Scoping returns what the scopes do to the documents of a collection.
	Scoping(collection string) Scoping

	// CheckTenantNames refuses a collection in which the names of two tenants can be equal,
	// because of its default collation.
	CheckTenantNames(ctx context.Context, collection string) error

	// UnderScopes returns a query or a write as the handle sends it, and the fields that the
	// scopes add to filters. It returns false for a value that can't be scoped. model/modeltest
	// sends the explain command for the result.
	UnderScopes(query any) (scoped any, fields []string, ok bool)
}

// HandleSettings are what a [Handle] says of the commands that run on it. A handle that is made
// of another one begins with its settings.
type HandleSettings struct {
	Database *mongo.Database

	Scoped     bool   // it has a scope, or the model of Model.On
	Tenant     string // names the tenant of the library's own documents, or ""
	TextTenant string // a field of the tenant whose value is a string, or ""

	Err      error // bad input: everything that runs on the handle fails with it
	Tx       bool  // run related writes in a transaction
	Together bool  // with Tx: the server has bulkWrite for several collections
	Bulk     bool  // outside transactions, send writes of several collections by bulkWrite

	WriteConcern *writeconcern.WriteConcern // of bulkWrite, or nil for the client's

	Tests bool // the next scope is the one that tests set everywhere
}

// Everywhere, if not nil, returns the handle that stands for a database without a handle. Tests
// set it (model/modeltest/tenants.go) to run all tests as a tenant, with DOCMODEL_TENANT=1: see
// CONTRIBUTING.md. It is set before any test runs, and never changed.
var Everywhere func(*mongo.Database) Handle

// settingsOf returns the settings of a handle, or nil for another DB.
func settingsOf(db DB) *HandleSettings {
	if h, ok := db.(Handle); ok {
		return h.Settings()
	}
	return nil
}

// Database returns the driver's database behind a DB that passed [CheckRun].
func Database(db DB) *mongo.Database {
	if s := settingsOf(db); s != nil {
		return s.Database
	}
	return db.(*mongo.Database)
}

// Transacts reports whether related writes run in a transaction. It is the setting: a caller may
// already be in a transaction without it.
func Transacts(db DB) bool {
	s := settingsOf(db)
	return s != nil && s.Tx
}

// SendsTogether reports whether the writes of a transaction can be sent as one command, the
// bulkWrite of MongoDB 8.0.
func SendsTogether(db DB) bool {
	s := settingsOf(db)
	return s != nil && s.Together
}

// BulkWriteConcern reports whether writes of several collections are sent as one command outside
// transactions, and their write concern. A nil concern is the client's.
func BulkWriteConcern(db DB) (*writeconcern.WriteConcern, bool) {
	s := settingsOf(db)
	if s == nil {
		return nil, false
	}
	return s.WriteConcern, s.Bulk
}

// IsScoped reports whether a database is under a scope, or is a model's. model/advise then counts
// documents by a query, because a server's own numbers and index statistics are of all tenants.
func IsScoped(db DB) bool {
	s := settingsOf(db)
	return s != nil && s.Scoped
}

// Tenant returns a text that names the handle's tenant, or "". The library's own documents, such
// as leases and checkpoints, carry it in their names, because the scopes don't change commands
// on them.
func Tenant(db DB) string {
	if s := settingsOf(db); s != nil {
		return s.Tenant
	}
	return ""
}

// ScopingOf returns the scoping of a collection. A job needs it to compare documents with
// stored ones.
func ScopingOf(db DB, collection string) Scoping {
	if h := EverywhereOf(db); h != nil {
		return h.Scoping(collection)
	}
	return Scoping{}
}

// EverywhereOf returns a handle as it is, and the handle of [Everywhere] for the driver's
// database. It returns nil if nothing stands for the database, so always outside tests.
func EverywhereOf(db DB) Handle {
	switch db := db.(type) {
	case Handle:
		return db
	case *mongo.Database:
		if Everywhere != nil && db != nil {
			return Everywhere(db)
		}
	}
	return nil
}

// CheckTenantNames refuses a collection in which the names of two tenants can be equal, because
// of its default collation. Call it before the first command on the library's own documents
// whose names carry [Tenant]. Package model checks the callers' collections itself.
func CheckTenantNames(ctx context.Context, db DB, collection string) error {
	if h, ok := db.(Handle); ok {
		return h.CheckTenantNames(ctx, collection)
	}
	return nil
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
	case Handle:
		s := db.Settings()
		if s == nil || s.Err == nil && s.Database == nil {
			return ValueError("", "db", nil, none)
		}
		return s.Err
	}
	return ValueError("", "db", fmt.Sprintf("%T", db),
		"must be a *mongo.Database, or a result of Scope.On or Observer.On")
}
