package paths

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Judge is Check without asking the server for suspects before.
func (t *Tree[D, K]) Judge(ctx context.Context, db *mongo.Database) (Report, error) {
	all, err := t.t.nodes(ctx, db, source{pipeline: mongo.Pipeline{t.t.onlyTreeFields()}})
	return t.t.judge(all, 0), err
}

// CheckKey says why a string is no order key.
var CheckKey, KeyPattern = checkKey, keyPattern
