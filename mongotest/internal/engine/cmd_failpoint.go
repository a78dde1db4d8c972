package engine

// This file has the command configureFailPoint, by which drivers' tests let other commands fail
// (https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point). request_fail.go acts on fail points.

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

var failPointCommands = []*command{
	{name: "configureFailPoint", admin: true, fields: []string{"mode", "data"}, run: configureFailPoint},
}

// configureFailPoint sets the mode and the data of a fail point: {configureFailPoint: "failCommand", mode: {times: 1},
// data: {failCommands: ["insert"], errorCode: 11602}}. count in the reply is how often it has acted so far.
func configureFailPoint(r *request) (reply, error) {
	name, ok := r.body[0].Value.(string)
	if !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "configureFailPoint takes the name of a fail point, not %s",
			bsonval.TypeName(r.body[0].Value))
	}
	hits, err := r.engine.fails.Configure(name, r.args())
	if err != nil {
		return nil, err
	}
	return reply{{Key: "count", Value: hits}}, nil
}
