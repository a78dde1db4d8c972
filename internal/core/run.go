package core

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// CheckRun refuses a nil context and a nil database, before anything is sent.
func CheckRun(ctx context.Context, db *mongo.Database) error {
	switch {
	case ctx == nil:
		return ValueError("", "ctx", nil, "is nil: give context.Background()")
	case db == nil:
		return ValueError("", "db", nil, "is nil: give the database that the collections are in")
	}
	return nil
}
