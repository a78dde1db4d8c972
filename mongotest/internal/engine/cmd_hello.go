package engine

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
	// a test command, of version 2 of the Stable API
	{name: "testVersion2", admin: true, run: func(*request) (reply, error) { return nil, nil }},
	{name: "buildInfo", aliases: []string{"buildinfo"}, run: buildInfo},
}

// replicaSet is the name of the replica set.
const replicaSet = "engine"

// hello says that the engine is the primary of a replica set of one node,
// which has the address that the client dialed.
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
	return append(rep, reply{
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

// describeMember returns what the only node of the replica set says about itself.
func describeMember(address string) reply {
	return reply{
		{Key: "secondary", Value: false},
		{Key: "setName", Value: replicaSet},
		{Key: "setVersion", Value: int32(1)},
		{Key: "hosts", Value: bson.A{address}},
		{Key: "primary", Value: address},
		{Key: "me", Value: address},
	}
}

// readApplication is the application's name in what a driver says of itself.
func readApplication(client bson.D) string {
	v, _ := bsonval.Get(client, "application")
	d, _ := v.(bson.D)
	name, _ := bsonval.Get(d, "name")
	s, _ := name.(string)
	return s
}

// ping does nothing.
func ping(*request) (reply, error) { return nil, nil }

// buildInfo shows the version of MongoDB as which the engine answers.
func buildInfo(r *request) (reply, error) {
	major := int32(r.engine.version())
	return reply{
		{Key: "version", Value: r.engine.versionText()},
		{Key: "versionArray", Value: bson.A{major, int32(0), int32(0), int32(0)}},
		{Key: "gitVersion", Value: "embedded"},
		{Key: "modules", Value: bson.A{}},
		{Key: "maxBsonObjectSize", Value: int32(store.MaxDocument)},
	}, nil
}
