package model

import (
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A DB is where plans and queries run: a *mongo.Database, or the result of [Scope.On],
// [Observer.On] and similar functions.
type DB interface {
	Name() string
	Client() *mongo.Client
}
