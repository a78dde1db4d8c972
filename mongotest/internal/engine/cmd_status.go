package engine

// This file has commands about the server and the machine, such as serverStatus
// (https://www.mongodb.com/docs/manual/reference/command/serverStatus/). They show true values or leave a field out.
// Commands on users are refused. Commands and their replies, shortened:
//
//	{serverStatus: 1, opcounters: 1}
//	{host: "engine.local:27017", version: "8.0.0", uptime: 12.0, …, opcounters: {insert: 3, query: 1, …}, ok: 1.0}
//
//	{connectionStatus: 1}
//	{authInfo: {authenticatedUsers: [], authenticatedUserRoles: []}, ok: 1.0}

import (
	"math"
	"os"
	"runtime"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

var statusCommands = []*command{
	{name: "connectionStatus", fields: []string{"showPrivileges"}, run: connectionStatus},
	{name: "serverStatus", fields: slices.Concat(statusSections, absentSections), run: serverStatus},
	{name: "hostInfo", admin: true, run: hostInfo},
	{name: "getCmdLineOpts", admin: true, run: getCmdLineOpts},
	{name: "getLog", admin: true, run: getLog},
	{name: "authenticate", refused: noUsers},
	{name: "saslStart", refused: noUsers},
	{name: "saslContinue", refused: noUsers},
	{name: "createUser", refused: noUsers},
	{name: "updateUser", refused: noUsers},
	{name: "top", refused: "the engine doesn't measure how long commands take"},
}

// noUsers is the reason by which commands on users are refused.
const noUsers = "there are no users"

// connectionStatus shows the authenticated users: none, because the engine has no users.
func connectionStatus(r *request) (reply, error) {
	a := r.args()
	privileges := a.Boolean("showPrivileges", false)
	if a.Err != nil {
		return nil, a.Err
	}
	info := bson.D{{Key: "authenticatedUsers", Value: bson.A{}}, {Key: "authenticatedUserRoles", Value: bson.A{}}}
	if privileges {
		info = append(info, bson.E{Key: "authenticatedUserPrivileges", Value: bson.A{}})
	}
	return reply{{Key: "authInfo", Value: info}}, nil
}

// statusSections are the sections of serverStatus that the engine has, absentSections MongoDB's other sections.
var (
	statusSections = []string{"asserts", "connections", "network", "opcounters", "repl", "storageEngine",
		"transactions"}
	absentSections = []string{
		"advisoryHostFQDNs", "batchedDeletes", "bucketCatalog", "electionMetrics", "extra_info", "flowControl",
		"globalLock", "indexBuilds", "indexBulkBuilder", "indexStats", "latchAnalysis", "locks",
		"logicalSessionRecordCache",
		"mem", "metrics", "mirroredReads", "opcountersRepl", "opLatencies", "opReadConcernCounters",
		"opWriteConcernCounters",
		"oplog", "queues", "queryAnalyzers", "readConcernCounters", "scramCache", "security", "sharding",
		"shardingStatistics", "tcmalloc", "trafficRecording", "transportSecurity", "twoPhaseCommitCoordinator",
		"watchdog", "wiredTiger",
	}
)

// serverStatus shows the engine's counters. A command can leave a section out, {repl: 0}, or ask for one, {locks: 1}.
// To ask for a section that the engine doesn't have is an error.
func serverStatus(r *request) (reply, error) {
	a := r.args()
	for _, name := range absentSections {
		if a.Boolean(name, false) {
			a.Refuse(name)
		}
	}
	e := r.engine
	now := e.now()
	up := now.Sub(e.beganAt()) // by the engine's clock, which a test may move
	rep := bson.D{
		{Key: "host", Value: r.conn.address},
		{Key: "version", Value: e.versionText()},
		{Key: "process", Value: "mongod"},
		{Key: "pid", Value: int64(os.Getpid())},
		{Key: "uptime", Value: math.Floor(up.Seconds())},
		{Key: "uptimeMillis", Value: up.Milliseconds()},
		{Key: "uptimeEstimate", Value: int64(up.Seconds())},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(now)},
	}
	for _, name := range statusSections {
		if a.Boolean(name, true) {
			rep = append(rep, bson.E{Key: name, Value: e.makeSection(r, name)})
		}
	}
	return rep, a.Err
}

// makeSection makes a section of serverStatus, by its name among statusSections.
func (e *Engine) makeSection(r *request, name string) bson.D {
	n := &e.counters
	switch name {
	case "asserts":
		return bson.D{{Key: "regular", Value: int32(0)}, {Key: "warning", Value: int32(0)},
			{Key: "msg", Value: int32(0)},
			{Key: "user", Value: bsonval.Integer(n.failed.Load())}, {Key: "tripwire", Value: int32(0)},
			{Key: "rollovers", Value: int32(0)}}
	case "connections":
		// active are the connections with a running command, this one among them.
		e.mu.Lock()
		current, created, active := int32(len(e.conns)), e.lastConn, int32(0)
		for c := range e.conns {
			c.mu.Lock()
			if c.running != nil {
				active++
			}
			c.mu.Unlock()
		}
		e.mu.Unlock()
		return bson.D{{Key: "current", Value: current}, {Key: "available", Value: math.MaxInt32 - current},
			{Key: "totalCreated", Value: created}, {Key: "active", Value: active}}
	case "network":
		return bson.D{{Key: "numRequests", Value: n.requests.Load()}}
	case "opcounters":
		return bson.D{
			{Key: "insert", Value: n.insert.Load()}, {Key: "query", Value: n.query.Load()},
			{Key: "update", Value: n.update.Load()},
			{Key: "delete", Value: n.delete.Load()},
			{Key: "getmore", Value: n.getMore.Load()}, {Key: "command", Value: n.command.Load()},
		}
	case "repl":
		return bson.D{
			{Key: "setName", Value: replicaSet}, {Key: "setVersion", Value: int32(1)},
			{Key: "isWritablePrimary", Value: true},

			{Key: "secondary", Value: false}, {Key: "hosts", Value: bson.A{r.conn.address}},
			{Key: "primary", Value: r.conn.address},
			{Key: "me", Value: r.conn.address},
		}
	case "storageEngine":
		return bson.D{
			{Key: "name", Value: "inMemory"}, {Key: "supportsCommittedReads", Value: true},
			{Key: "persistent", Value: false},
		}
	}
	return bson.D{{Key: "currentOpen", Value: int64(e.sessions.CountTransactions())}} // transactions
}

// hostInfo shows the facts about the machine that Go's runtime knows.
func hostInfo(r *request) (reply, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return reply{
		{Key: "system", Value: bson.D{
			{Key: "currentTime", Value: bson.NewDateTimeFromTime(r.engine.now())}, {Key: "hostname", Value: name},
			{Key: "cpuAddrSize", Value: int32(32 << (^uint(0) >> 63))},
			{Key: "numCores", Value: int32(runtime.NumCPU())},
			{Key: "cpuArch", Value: runtime.GOARCH},
		}},
		{
			Key: "os",
			Value: bson.D{{Key: "type", Value: runtime.GOOS}, {Key: "name", Value: runtime.GOOS},
				{Key: "version", Value: ""}},
		},
		{Key: "extra", Value: bson.D{}},
	}, nil
}

// getCmdLineOpts shows an empty command line.
func getCmdLineOpts(*request) (reply, error) {
	return reply{{Key: "argv", Value: bson.A{}}, {Key: "parsed", Value: bson.D{}}}, nil
}

// getLog shows a log by its name, or with "*" the names. The logs are empty.
func getLog(r *request) (reply, error) {
	name, ok := r.body[0].Value.(string)
	switch {
	case !ok:
		return nil, mongoerr.New(mongoerr.TypeMismatch,
			"Argument to getLog must be of type String; found %s of type %s",
			bsonval.Text(r.body[0].Value), bsonval.TypeName(r.body[0].Value))
	case name == "*":
		return reply{{Key: "names", Value: bson.A{"global", "startupWarnings"}}}, nil
	case name == "global" || name == "startupWarnings":
		return reply{{Key: "totalLinesWritten", Value: int32(0)}, {Key: "log", Value: bson.A{}}}, nil
	}
	return nil, mongoerr.New(mongoerr.OperationFailed, "No log named '%s'", name)
}
