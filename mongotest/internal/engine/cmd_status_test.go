package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestStatus runs the commands by which a program asks what it talks to, on a collection of two documents of 26 bytes,
// and holds a part of each reply.
func TestStatus(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("things")
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	must1[string](t)(c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc(t, `{"n":1}`)}))
	const admin, test = "admin", "test"
	for _, x := range []struct{ reason, db, command, want string }{
		{"one parameter", admin, `{"getParameter":1,"enableTestCommands":1}`, `{"enableTestCommands":true,"ok":1.0`},
		{
			reason: "with a comment", db: admin,
			command: `{"getParameter":1,"enableTestCommands":1,"comment":"x"}`,
			want:    `{"enableTestCommands":true,"ok":1.0`,
		},
		{"two", admin, `{"getParameter":1,"requireApiVersion":1,"featureCompatibilityVersion":1}`,
			`{"featureCompatibilityVersion":{"version":"8.0"},"requireApiVersion":false,"ok":1.0`},
		{"all", admin, `{"getParameter":"*"}`, `"transactionLifetimeLimitSeconds":60`},
		{"all, in another way", admin, `{"getParameter":1,"allParameters":true}`,
			`"transactionLifetimeLimitSeconds":60`},
		{"all, with details", admin, `{"getParameter":{"allParameters":true,"showDetails":true}}`,
			`"notablescan":{"value":false,"settableAtRuntime":false,"settableAtStartup":false}`},
		{"details of one", admin, `{"getParameter":{"showDetails":true},"notablescan":1}`,
			`{"notablescan":{"value":false,`},
		{"an unknown parameter", admin, `{"getParameter":1,"nothing":1}`, `72`},
		{"none", admin, `{"getParameter":1}`, `72`},
		{"setting one", admin, `{"setParameter":1,"notablescan":true}`, `115`},
		{"who", test, `{"connectionStatus":1}`,
			`{"authInfo":{"authenticatedUsers":[],"authenticatedUserRoles":[]},"ok":1.0`},
		{"who, with privileges", test, `{"connectionStatus":1,"showPrivileges":true}`,
			`"authenticatedUserPrivileges":[]`},
		{
			reason: "the status", db: test, command: `{"serverStatus":1}`,
			want: `"opcounters":{"insert":2,"query":0,"update":0,"delete":0,"getmore":0,"command":`,
		},
		{"of errors", test, `{"serverStatus":1}`, `"asserts":{"regular":0,"warning":0,"msg":0,"user":3,`},
		{
			reason: "its engine", db: test, command: `{"serverStatus":1,"metrics":0,"repl":0}`,
			want: `"storageEngine":{"name":"inMemory","supportsCommittedReads":true,"persistent":false}`,
		},
		{"what it doesn't count", test, `{"serverStatus":1,"metrics":1}`, `238`},
		{"a database", test, `{"dbStats":1}`,
			`{"db":"test","collections":1,"views":0,"objects":2,"avgObjSize":21.0,"dataSize":42.0,"storageSize":42.0,` +
				`"indexes":2,"indexSize":48.0,` +
				`"totalSize":90.0,"scaleFactor":1,"ok":1.0`},
		{"one that isn't there", "nowhere", `{"dbStats":1}`, `"objects":0,"avgObjSize":0.0,"dataSize":0.0`},
		{"scaled", test, `{"dbStats":1,"scale":2}`, `"dataSize":21.0`},
		{"a collection", test, `{"collStats":"things"}`,
			`{"ns":"test.things","size":42,"count":2,"avgObjSize":21,"numOrphanDocs":0,"storageSize":42,` +
				`"freeStorageSize":0,"capped":false,` +
				`"nindexes":2,"indexBuilds":[],"totalIndexSize":48,"totalSize":90,"indexSizes":{"_id_":24,"n_1":24},` +
				`"scaleFactor":1,"ok":1.0`},
		{
			reason: "one that isn't there", db: test, command: `{"collStats":"nothing"}`,
			want: `{"ns":"test.nothing","size":0,"count":0,"numOrphanDocs":0,`,
		},
		{"scaled", test, `{"collStats":"things","scale":10.5}`, `"size":4,`},
		{"scaled by nothing", test, `{"collStats":"things","scale":0}`, `51024`},
		{"scaled by a word", test, `{"collStats":"things","scale":"k"}`, `14`},
		{"the machine", admin, `{"hostInfo":1}`, `"numCores":`},
		{"the command line", admin, `{"getCmdLineOpts":1}`, `{"argv":[],"parsed":{},"ok":1.0`},
		{"the logs", admin, `{"getLog":"*"}`, `{"names":["global","startupWarnings"],"ok":1.0`},
		{"a log", admin, `{"getLog":"startupWarnings"}`, `{"totalLinesWritten":0,"log":[],"ok":1.0`},
		{"another", admin, `{"getLog":"x"}`, `96`},
	} {
		raw, err := client.Database(x.db).RunCommand(ctx, doc(t, x.command)).Raw()
		if code := 0; !strings.HasPrefix(x.want, "{") && !strings.HasPrefix(x.want, `"`) {
			for _, c := range x.want {
				code = code*10 + int(c-'0')
			}
			wantCode(t, x.reason, err, code)
			continue
		}
		must(t, err)
		if got := show(t, raw); !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, want %s", x.reason, got, x.want)
		}
	}
}
