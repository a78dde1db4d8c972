package engine

// This file has the commands by which a driver gets to know the server: hello, ping and buildInfo
// (https://www.mongodb.com/docs/manual/reference/command/hello/). The reply to {hello: 1}, shortened:
//
//	{helloOk: true, isWritablePrimary: true, setName: "engine", hosts: ["engine.local:27017"],
//	 me: "engine.local:27017", maxBsonObjectSize: 16777216, maxWireVersion: 25, readOnly: false, ok: 1.0}

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
	"github.com/docmodel/docmodel/mongotest/internal/engine/wire"
)

var helloCommands = []*command{
	{name: "hello", aliases: []string{"isMaster", "ismaster"}, run: hello, fields: []string{
		"helloOk", "client", "compression", "saslSupportedMechs", "speculativeAuthenticate",
		"topologyVersion", "maxAwaitTimeMS", "loadBalanced", "backpressure",
	}},
	{name: "ping", run: ping},
	// A command of MongoDB's tests, which only version 2 of the Stable API has. It does nothing.
	{name: "testVersion2", admin: true, run: func(*request) (reply, error) { return nil, nil }},
	{name: "buildInfo", aliases: []string{"buildinfo"}, run: buildInfo},
}

// replicaSet is the name of the replica set, as a driver sees it.
const replicaSet = "engine"

// hello says that the engine is the primary of a replica set of one node, a mongos, or a standalone server. Its address
// is the one that the client dialed, so that the driver opens no other connections. hello also has the limits by which
// the driver divides batches.
func hello(r *request) (reply, error) {
	if r.conn.app == "" {
		r.conn.app = readApplication(r.args().Document("client"))
	}
	rep := reply{
		{Key: "helloOk", Value: true},
		{Key: "isWritablePrimary", Value: true},
	}
	if r.name != "hello" {
		rep = append(rep, bson.E{Key: "ismaster", Value: true})
	}
	switch {
	case r.engine.router != nil:
		rep = append(rep, bson.E{Key: "msg", Value: "isdbgrid"})
	case !r.engine.alone:
		rep = append(rep, describeMember(r.conn.address)...)
	}
	return append(rep, bson.D{
		{Key: "maxBsonObjectSize", Value: int32(store.MaxDocument)},
		{Key: "maxMessageSizeBytes", Value: int32(wire.MaxMessage)},
		{Key: "maxWriteBatchSize", Value: int32(maxBatch)},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(r.engine.now())},
		{Key: "logicalSessionTimeoutMinutes", Value: int32(session.Lifetime / time.Minute)},
		{Key: "connectionId", Value: r.conn.id},
		{Key: "minWireVersion", Value: int32(0)},
		{Key: "maxWireVersion", Value: int32(r.engine.wireVersion())},
		{Key: "readOnly", Value: false},
	}...), nil
}

// describeMember returns the fields of hello about the replica set and its only node.
func describeMember(address string) bson.D {
	return bson.D{
		{Key: "secondary", Value: false},
		{Key: "setName", Value: replicaSet},
		{Key: "setVersion", Value: int32(1)},
		{Key: "hosts", Value: bson.A{address}},
		{Key: "primary", Value: address},
		{Key: "me", Value: address},
	}
}

// readApplication returns the application's name in the field client of a hello, "" without it: {application: {name:
// "shop"}}. Fail points can be for one application.
func readApplication(client bson.D) string {
	v, _ := bsonval.Get(client, "application")
	d, _ := v.(bson.D)
	name, _ := bsonval.Get(d, "name")
	s, _ := name.(string)
	return s
}

// ping does nothing.
func ping(*request) (reply, error) { return nil, nil }

// buildInfo shows the version of MongoDB as which the engine answers. gitVersion tells it from a server.
func buildInfo(r *request) (reply, error) {
	major := int32(r.engine.version())
	return bson.D{
		{Key: "version", Value: r.engine.versionText()},
		{Key: "versionArray", Value: bson.A{major, int32(0), int32(0), int32(0)}},
		{Key: "gitVersion", Value: "embedded"},
		{Key: "modules", Value: bson.A{}},
		{Key: "maxBsonObjectSize", Value: int32(store.MaxDocument)},
	}, nil
}
