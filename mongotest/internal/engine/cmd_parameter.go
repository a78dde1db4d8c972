package engine

// This file has the command getParameter (https://www.mongodb.com/docs/manual/reference/command/getParameter/).
// {getParameter: "*"} asks for all parameters. Commands and their replies:
//
//	{getParameter: 1, notablescan: 1}
//	{notablescan: false, ok: 1.0}
//
//	{getParameter: {showDetails: true}, notablescan: 1}
//	{notablescan: {value: false, settableAtRuntime: false, settableAtStartup: false}, ok: 1.0}

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var parameterCommands = []*command{
	{name: "getParameter", admin: true, open: true, run: getParameter},
	{name: "setParameter", refused: "the engine's parameters are fixed"},
}

// parameters are the server parameters of MongoDB that have a true value for the engine.
var parameters = bson.D{
	{Key: "allowDiskUseByDefault", Value: true},
	{Key: "authenticationMechanisms", Value: bson.A{}},
	{Key: "enableTestCommands", Value: true},
	{Key: "featureCompatibilityVersion", Value: bson.D{{Key: "version", Value: "8.0"}}},
	{Key: "internalQueryMaxBlockingSortMemoryUsageBytes", Value: int64(order.MaxMemory)},
	{Key: "localLogicalSessionTimeoutMinutes", Value: int32(session.Lifetime / time.Minute)},
	{Key: "notablescan", Value: false},
	{Key: "requireApiVersion", Value: false},
	{Key: "transactionLifetimeLimitSeconds", Value: int32(store.Lifetime / time.Second)},
}

// getParameter returns the parameters that the command names, or all of them. An unknown name is an error only if no
// name is known.
func getParameter(r *request) (reply, error) {
	all, details := r.body[0].Value == "*", false
	if d, ok := r.body[0].Value.(bson.D); ok {
		part := &args.Reader{Place: "getParameter", Doc: d}
		part.Fail(part.CheckKnown([]string{"showDetails", "allParameters", "setAt"}))
		part.Refuse("setAt")
		details, all = part.Boolean("showDetails", false), part.Boolean("allParameters", false)
		if part.Err != nil {
			return nil, part.Err
		}
	}
	all = all || r.args().Boolean("allParameters", false)
	var rep reply
	for _, p := range parameters {
		if !all && bsonval.Index(r.body[1:], p.Key) < 0 {
			continue
		}
		if details {
			p.Value = bson.D{
				{Key: "value", Value: p.Value}, {Key: "settableAtRuntime", Value: false},
				{Key: "settableAtStartup", Value: false},
			}
		}
		rep = append(rep, p)
	}
	if rep == nil {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "no option found to get")
	}
	return rep, nil
}
