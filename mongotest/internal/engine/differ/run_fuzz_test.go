// This test sends single commands to the whole engine.

package differ

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
)

// commandSeeds has a command of each name.
var commandSeeds = []string{
	`{"hello":1,"client":{"application":{"name":"x"}}}`, `{"ping":1}`, `{"buildInfo":1}`,
	`{"getParameter":1,"featureCompatibilityVersion":1,"$db":"admin"}`,
	`{"insert":"c","documents":[{"_id":3,"a":[1,{"b":2}]}],"ordered":false,"stmtIds":[1]}`,
	`{"update":"c","updates":[{"q":{"a":{"$gt":1}},"u":{"$push":{"a":{"$each":[1],"$sort":1,"$slice":-2}}},` +
		`"multi":true,"arrayFilters":[{"x.y":1}]}],"let":{"v":1}}`,
	`{"update":"c","updates":[{"q":{"_id":7},"u":[{"$set":{"b":{"$add":["$a",1]}}}],"upsert":true,"hint":"_id_",` +
		`"c":{"k":1}}]}`,
	`{"delete":"c","deletes":[{"q":{"$or":[{"a":1},{"b":{"$exists":true}}]},"limit":1}]}`,
	`{"findAndModify":"c","query":{"a":1},"sort":{"_id":-1},"update":{"$inc":{"n":1}},"new":true,"fields":{"n":1}}`,
	`{"find":"c","filter":{"a":{"$elemMatch":{"b":2}}},"sort":{"a":1},"projection":{"a":{"$slice":1}},"skip":1,` +
		`"limit":2,"batchSize":1}`,
	`{"getMore":{"$numberLong":"7"},"collection":"c","batchSize":1}`,
	`{"killCursors":"c","cursors":[{"$numberLong":"7"}]}`,
	`{"aggregate":"c","pipeline":[{"$match":{"a":1}},{"$group":{"_id":"$a","n":{"$sum":1}}},{"$sort":{"n":-1}}],` +
		`"cursor":{"batchSize":1}}`,
	`{"aggregate":"c","pipeline":[{"$lookup":{"from":"c","localField":"a","foreignField":"b","as":"x"}},` +
		`{"$merge":{"into":"d"}}],"cursor":{}}`,
	`{"aggregate":1,"pipeline":[{"$changeStream":{"fullDocument":"updateLookup"}}],"cursor":{}}`,
	`{"count":"c","query":{"a":1},"limit":1}`, `{"distinct":"c","key":"a.b","query":{}}`,
	`{"createIndexes":"c","indexes":[{"key":{"a":1,"b":-1},"name":"x","unique":true,` +
		`"partialFilterExpression":{"a":{"$gt":1}}}]}`,
	`{"createIndexes":"c","indexes":[{"key":{"t":1},"name":"t","expireAfterSeconds":1,"sparse":true}]}`,
	`{"listIndexes":"c"}`, `{"dropIndexes":"c","index":["x"]}`,
	`{"create":"d","validator":{"$jsonSchema":{"required":["a"],"properties":{"a":{"bsonType":"int"}}}}}`,
	`{"collMod":"c","validator":{"a":{"$type":"int"}},"validationLevel":"moderate"}`,
	`{"drop":"c"}`, `{"dropDatabase":1}`, `{"listCollections":1,"filter":{"name":"c"}}`,
	`{"listDatabases":1,"$db":"admin"}`,
	`{"bulkWrite":1,"ops":[{"insert":0,"document":{}},{"update":0,"filter":{},"updateMods":{"$set":{"a":1}},` +
		`"multi":true},{"delete":0,"filter":{}}],"nsInfo":[{"ns":"test.c"}],"$db":"admin"}`,
	`{"explain":{"find":"c","filter":{"a":1}},"verbosity":"executionStats"}`,
	`{"configureFailPoint":"failCommand","mode":{"times":1},"data":{"failCommands":["find"],"errorCode":91},` +
		`"$db":"admin"}`,
	`{"dbStats":1,"scale":2}`, `{"collStats":"c"}`, `{"serverStatus":1}`,
	`{"connectionStatus":1,"showPrivileges":true}`, `{"hostInfo":1,"$db":"admin"}`, `{"getLog":"*","$db":"admin"}`,
	`{"getCmdLineOpts":1,"$db":"admin"}`, `{"create":"v","viewOn":"c","pipeline":[{"$match":{"a":1}}]}`,
	`{"getParameter":"*","$db":"admin"}`, `{"commitTransaction":1,"$db":"admin"}`,
	`{"abortTransaction":1,"$db":"admin"}`, `{"endSessions":[]}`, `{"startSession":1}`, `{"refreshSessions":[]}`,
	`{"testVersion2":1,"$db":"admin"}`,
	`{"aggregate":1,"pipeline":[{"$listLocalSessions":{"allUsers":true}}],"cursor":{}}`, `{"killSessions":[]}`,
	`{"killAllSessions":[]}`,
	`{"configureFailPoint":"failCommand","mode":{"times":1},"data":{"failCommands":["find"],"errorCode":91,` +
		`"errorLabels":[]},"$db":"admin"}`,
	`{"connectionStatus":1,"showPrivileges":true}`, `{"serverStatus":1,"repl":0}`, `{"hostInfo":1,"$db":"admin"}`,
	`{"getCmdLineOpts":1,"$db":"admin"}`, `{"getLog":"*","$db":"admin"}`, `{"dbStats":1,"scale":2}`, `{"dbstats":1}`,
	`{"collStats":"c","scale":2}`, `{"collstats":"c"}`,
	`{"create":"v","viewOn":"c","pipeline":[{"$match":{"n":1}},{"$unionWith":{"coll":"c","pipeline":[]}}]}`,
	`{"create":"e","capped":true,"size":100,"max":2}`, `{"convertToCapped":"c","size":50}`,
	`{"find":"c","tailable":true,"awaitData":true}`,
	`{"create":"w","timeseries":{"timeField":"t","metaField":"m","granularity":"hours"},"expireAfterSeconds":60}`,
	`{"create":"k","clusteredIndex":{"key":{"_id":1},"unique":true,"name":"k"},"expireAfterSeconds":60}`,
	`{"collMod":"c","cappedSize":5,"changeStreamPreAndPostImages":{"enabled":true},"index":{"name":"x","hidden":true}}`,
	`{"renameCollection":"test.c","to":"other.d","dropTarget":true,"$db":"admin"}`,
	`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{"a":1,"_id":0}}]}`,
	`{"enableSharding":"test","$db":"admin"}`, `{"listShards":1,"$db":"admin"}`,
	`{"shardCollection":"test.c","key":{"n":1},"unique":false,"$db":"admin"}`,
	`{"reshardCollection":"test.c","key":{"a":"hashed"},"$db":"admin"}`,
	`{"split":"test.c","middle":{"n":3},"$db":"admin"}`,
	`{"moveChunk":"test.c","find":{"n":3},"to":"shard1","$db":"admin"}`,
	`{"find":"c","readConcern":{"level":"snapshot","atClusterTime":{"$timestamp":{"t":1,"i":1}}}}`,
	`{"insert":"c","documents":[{}],"lsid":{"id":{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAA==",` +
		`"subType":"04"}}},"txnNumber":{"$numberLong":"1"},"autocommit":false,"startTransaction":true}`,
}

// TestCommandSeeds holds that the fuzz target begins with each command.
func TestCommandSeeds(t *testing.T) {
	// other names of commands
	others := []string{"isMaster", "ismaster", "buildinfo", "deleteIndexes", "findandmodify", "dbstats", "collstats"}
	for _, name := range engine.Commands() {
		if slices.Contains(others, name) {
			continue
		}
		if !slices.ContainsFunc(commandSeeds, func(s string) bool { return strings.HasPrefix(s, `{"`+name+`":`) }) {
			t.Errorf("no seed has the command %s", name)
		}
	}
}

// FuzzCommand sends one command, in extended JSON or as BSON, to an engine that has a few documents. The engine must
// answer soon, with a reply that can be decoded, and without a panic of its own.
func FuzzCommand(f *testing.F) {
	for _, s := range commandSeeds {
		f.Add([]byte(s))
		f.Add(bodyOf(f, []byte(s)))
	}
	for i := range 300 {
		b, err := bson.MarshalExtJSON(grammar.Generate(1, i).Command, true, false)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	seed :=
		[]byte(`{"insert":"c","documents":[{"_id":1,"a":[1,{"b":2}],"n":1},{"_id":2,"a":"x",` +
			`"d":{"$date":"2020-01-01T00:00:00Z"}}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		body := bodyOf(t, data)
		if body == nil {
			return
		}
		e := engine.New()
		defer e.Close()
		if _, err := e.Answer(messageOf(bodyOf(t, seed))); err != nil {
			t.Fatal(err)
		}
		answer, err := e.Answer(messageOf(body))
		if err != nil {
			return // it isn't even a message: the connection ends
		}
		reply := bson.Raw(answer[21:])
		if err := reply.Validate(); err != nil {
			t.Fatal(err)
		}
		if text, _ := reply.Lookup("errmsg").StringValueOK(); strings.Contains(text, "panicked") {
			t.Fatal(text)
		}
	})
}

// messageOf puts a command's body into a message.
func messageOf(body []byte) []byte {
	msg := wiremessage.AppendHeader(nil, 0, 1, 0, wiremessage.OpMsg)
	msg = append(append(msg, 0, 0, 0, 0, 0), body...)
	binary.LittleEndian.PutUint32(msg, uint32(len(msg)))
	return msg
}

// bodyOf makes a command's body of a fuzzer's data, on the database test unless it says another.
func bodyOf(t testing.TB, data []byte) []byte {
	t.Helper()
	if len(data) == 0 || data[0] != '{' {
		return data
	}
	var d bson.D
	if bson.UnmarshalExtJSON(data, false, &d) != nil {
		return nil
	}
	if !slices.ContainsFunc(d, func(e bson.E) bool { return e.Key == "$db" }) {
		d = append(d, bson.E{Key: "$db", Value: "test"})
	}
	b, err := bson.Marshal(d)
	if err != nil {
		return nil
	}
	return b
}
