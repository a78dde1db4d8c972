package modeltest

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// unserved says why no index serves a command, or returns "". A find of the first
// documents in the order of an index is served.
func unserved(ctx context.Context, db *mongo.Database, command bson.D) (string, error) {
	reply, err := db.RunCommand(ctx, bson.D{
		{Key: "explain", Value: command}, {Key: "verbosity", Value: "queryPlanner"},
	}).Raw()
	if err != nil {
		return "", fmt.Errorf("explain %s: %w", mongosh.Shorten(model.Shell(command), 400), err)
	}
	plan := readPlan(reply, nil)
	why := plan.unserved()
	if why == "" || len(plan.scans) == 0 && firstOfAll(command, plan) {
		return "", nil
	}
	return fmt.Sprintf("%s: %s\n%s", mongosh.Shorten(model.Shell(command), 400), why, planOf(reply)), nil
}

// firstOfAll reports whether a find returns the first documents of a collection, in the
// order of an index.
func firstOfAll(command bson.D, plan *queryPlan) bool {
	var filter, limit bool
	for _, e := range command {
		switch e.Key {
		case "filter":
			d, ok := e.Value.(bson.D)
			filter = !ok || len(d) > 0
		case "limit":
			limit = true
		}
	}
	return command[0].Key == "find" && limit && !filter && !plan.sorts
}

// explainables returns the lookups of a command in the form of explain.
func explainables(c mongotest.Command) ([]bson.D, error) {
	var body bson.D
	if err := bson.Unmarshal(c.Body, &body); err != nil {
		return nil, err
	}
	own := bson.D{}
	for _, e := range body {
		if !unexplained[e.Key] && !strings.HasPrefix(e.Key, "$") {
			own = append(own, e)
		}
	}
	switch c.Name {
	case "count": // a count of all documents reads none
		if query, _ := c.Body.Lookup("query").DocumentOK(); query == nil {
			return nil, nil
		}
		return []bson.D{own}, nil
	case "find", "distinct", "findAndModify":
		return []bson.D{own}, nil
	case "aggregate":
		if c.Collection == "" {
			return nil, nil
		}
		return []bson.D{own}, nil
	case "update", "delete":
		return singly(own, testserver.StatementsField(c.Name)), nil
	case "bulkWrite":
		return explainedBulk(own), nil
	}
	return nil, nil
}

// unexplained are the fields of a command that don't affect its plan.
var unexplained = map[string]bool{
	"lsid": true, "txnNumber": true, "autocommit": true, "startTransaction": true, "readConcern": true,
	"writeConcern": true, "ordered": true, "bypassDocumentValidation": true, "maxTimeMS": true, "comment": true,
	"apiVersion": true, "errorsOnly": true,
}

// singly returns a command for each statement.
func singly(command bson.D, list string) (out []bson.D) {
	for i, e := range command {
		if e.Key != list {
			continue
		}
		statements, _ := e.Value.(bson.A)
		for _, s := range statements {
			one := append(bson.D{}, command...)
			one[i].Value = bson.A{s}
			out = append(out, one)
		}
	}
	return out
}

// explainedBulk returns the updates and deletes of a bulkWrite.
func explainedBulk(command bson.D) (out []bson.D) {
	var ops, spaces bson.A
	for _, e := range command {
		switch e.Key {
		case "ops":
			ops, _ = e.Value.(bson.A)
		case "nsInfo":
			spaces, _ = e.Value.(bson.A)
		}
	}
	for _, op := range ops {
		d, _ := op.(bson.D)
		if len(d) == 0 || d[0].Key != "update" && d[0].Key != "delete" {
			continue
		}
		at, _ := d[0].Value.(int32)
		if int(at) >= len(spaces) {
			continue
		}
		space, _ := spaces[at].(bson.D)
		ns, _ := space[0].Value.(string)
		_, collection, _ := strings.Cut(ns, ".")
		out = append(out, bson.D{
			{Key: d[0].Key, Value: collection},
			{Key: testserver.StatementsField(d[0].Key), Value: bson.A{asStatement(d)}},
		})
	}
	return out
}

// asStatement converts an update or delete of a bulkWrite to a statement of an update or
// delete command.
func asStatement(op bson.D) (out bson.D) {
	many := false
	for _, e := range op[1:] {
		switch e.Key {
		case "filter":
			out = append(out, bson.E{Key: "q", Value: e.Value})
		case "updateMods":
			out = append(out, bson.E{Key: "u", Value: e.Value})
		case "multi":
			many, _ = e.Value.(bool)
		default:
			out = append(out, e)
		}
	}
	if op[0].Key == "update" {
		return append(out, bson.E{Key: "multi", Value: many})
	}
	limit := int32(1)
	if many {
		limit = 0
	}
	return append(out, bson.E{Key: "limit", Value: limit})
}
