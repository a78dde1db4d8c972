// These tests hold the codes and names with which the engine refuses requests, of all commands.

package engine_test

import (
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	db := collection(t).Database()
	for _, c := range []struct {
		command, names string
		code           int
		reason         string
	}{
		{`{"frobnicate":1}`, "frobnicate", 59, "an unknown command"},
		{`{"find":"c","foo":1}`, "find.foo", 40415, "an unknown field"},
		{`{"find":"c","filter":{"a":{"$foo":1}}}`, "$foo", 2, "an unknown operator"},
		{`{"find":"c","filter":3}`, "find.filter", 14, "a wrong type"},
		{`{"find":"c","collation":{"locale":"ja"}}`, "collation", 238, "Japanese isn't there"},
		{`{"find":"c","min":{"_id":1}}`, "min", 238, "min isn't there"},
		{`{"find":"c","min":{"a":1}}`, "min", 238, "min isn't there"},
		{`{"find":"c$"}`, "c$", 73, "no collection can have this name"},
		{`{"find":"c","readConcern":{"level":"foo"}}`, "foo", 9, "an unknown read concern"},
		{
			command: `{"update":"c","updates":[{"q":{},"u":{},"foo":1}]}`,
			names:   "update.updates.foo", code: 40415, reason: "an unknown field of a statement",
		},
		{`{"insert":"c"}`, "insert.documents", 40414, "a required field"},
		{`{"create":"c","capped":true}`, "size", 72, "a capped collection has a size"},
		{`{"create":"c","validator":3}`, "validator", 14, "a validator is a filter"},
		{`{"create":"c","validator":{"a":{"$foo":1}}}`, "$foo", 2, "with operators that are there"},
		{`{"create":"c","validationLevel":"some"}`, "validationLevel", 2, "an unknown level"},
		{`{"collMod":"c","validationAction":"ask"}`, "validationAction", 2, "an unknown action"},
		{`{"collMod":"nowhere","validator":{}}`, "nowhere", 26, "no collection to validate"},
		{`{"top":1}`, "top", 115, "a known command that is not there"},
		{
			command: `{"createIndexes":"c","indexes":[{"key":{"a":"text"},"name":"a","default_language":"french"}]}`,
			names:   "french", code: 238, reason: "text in French",
		},
		{`{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a","foo":1}]}`, "foo", 40415, "an unknown option"},
		{`{"getMore":{"$numberLong":"7"},"collection":"c"}`, "7", 43, "no such cursor"},
	} {
		err := db.RunCommand(ctx, doc(t, c.command)).Err()
		wantCode(t, c.command+" ("+c.reason+")", err, c.code)
		if err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v doesn't name %s", c.command, err, c.names)
		}
	}
}

// Codes with which MongoDB refuses, seen on a MongoDB or read in its source.
func TestServerCodes(t *testing.T) {
	for _, c := range []struct {
		command string
		code    int
	}{
		{`{"update":"things","updates":[{"q":{},"u":[{"$foo":1}]}]}`, 40324},
		{`{"findAndModify":"things","query":{"_id":1},"update":[{"$foo":1}]}`, 40324},
		{`{"aggregate":"things","pipeline":[{"$merge":{"into":"others","whenMatched":[{"$foo":1}]}}],"cursor":{}}`,
			40324},
		{`{"update":"things","updates":[{"q":{},"u":[{"$match":{}}]}]}`, 72},
		{`{"find":"things","projection":{"a":{"$foo":1}}}`, 31325},
		{`{"aggregate":"things","pipeline":[{"$project":{"a":{"$foo":1}}}],"cursor":{}}`, 31325},
		{`{"aggregate":"things","pipeline":[{"$project":{"a":{"$add":[{"$foo":1}]}}}],"cursor":{}}`, 168},
		{`{"aggregate":"things","pipeline":[{"$set":{"a":{"$foo":1}}}],"cursor":{}}`, 168},
		{`{"find":"things","filter":{"a":{"$size":-1}}}`, 2},
		{`{"find":"things","filter":{"a":{"$size":"x"}}}`, 2},
		{`{"find":"things","projection":{"a":1,"a.b":1}}`, 31249},
		{`{"find":"things","projection":{"a.b":1,"a":1}}`, 31250},
		{`{"find":"things","filter":{"$expr":{"$divide":[1,0]}}}`, 2},
		{`{"aggregate":"nowhere","pipeline":[{"$project":{"a":{"$divide":[1,0]}}}],"cursor":{}}`, 2},
		{
			command: `{"aggregate":"things","pipeline":[{"$project":{"a":{"$toDate":{"$literal":{"$timestamp":{"t":1,` +
				`"i":1}}}}}}],"cursor":{}}`,
			code: 241,
		},

		{`{"insert":"system.foo","documents":[{"_id":1}]}`, 73},
		{`{"update":"system.foo","updates":[{"q":{},"u":{"$set":{"a":1}}}]}`, 73},
		{`{"delete":"system.foo","deletes":[{"q":{},"limit":0}]}`, 73},
		{`{"findAndModify":"system.foo","query":{},"remove":true}`, 73},
		{`{"create":"system.foo"}`, 73},
		{`{"createIndexes":"system.foo","indexes":[{"key":{"a":1},"name":"a"}]}`, 73},
		{`{"aggregate":"things","pipeline":[{"$out":"system.foo"}],"cursor":{}}`, 17385},
		{`{"aggregate":"things","pipeline":[{"$merge":"system.foo"}],"cursor":{}}`, 31319},
		{`{"aggregate":"things","pipeline":[{"$out":{"db":"config","coll":"foo"}}],"cursor":{}}`, 31321},
		{`{"aggregate":"things","pipeline":[{"$merge":{"into":{"db":"admin","coll":"foo"}}}],"cursor":{}}`, 31320},
		{`{"find":"system.foo"}`, 0},

		{`{"aggregate":"things","pipeline":[{"$out":"others"}],"cursor":{},"readConcern":{"level":"linearizable"}}`,
			72},
		{`{"aggregate":"things","pipeline":[{"$merge":"others"}],"cursor":{},"readConcern":{"level":"linearizable"}}`,
			72},
		{`{"aggregate":"things","pipeline":[],"cursor":{},"readConcern":{"level":"linearizable"}}`, 0},
		{`{"aggregate":"things","pipeline":[{"$out":"others"}],"cursor":{},"readConcern":{"level":"majority"}}`, 0},

		{`{"collMod":"things","index":{"name":"*","hidden":true}}`, 27},

		{`{"distinct":"things","key":"a","apiVersion":"1","apiStrict":true}`, 323},
		{`{"distinct":"things","key":"a","apiVersion":"1"}`, 0},
		{`{"find":"things","apiVersion":"1","apiStrict":true}`, 0},
		{`{"find":"things","showRecordId":false,"apiVersion":"1","apiStrict":true}`, 323},
		{
			command: `{"createIndexes":"things","indexes":[{"key":{"z":1},"name":"z","sparse":true}],` +
				`"apiVersion":"1","apiStrict":true}`,
			code: 323,
		},
		{`{"aggregate":"things","pipeline":[{"$indexStats":{}}],"cursor":{},"apiVersion":"1","apiStrict":true}`, 323},
		{
			command: `{"aggregate":"things","pipeline":[{"$collStats":{"storageStats":{}}}],"cursor":{},` +
				`"apiVersion":"1","apiStrict":true}`,
			code: 323,
		},
		{
			command: `{"aggregate":"things","pipeline":[{"$unionWith":{"coll":"things",` +
				`"pipeline":[{"$indexStats":{}}]}}],"cursor":{},"apiVersion":"1","apiStrict":true}`,
			code: 323,
		},
		{`{"aggregate":"things","pipeline":[{"$collStats":{"count":{}}}],"cursor":{},"apiVersion":"1",` +
			`"apiStrict":true}`, 0},
		{`{"ping":1,"apiStrict":true}`, 4886600},
		{`{"ping":1,"apiVersion":"2"}`, 322},
	} {
		coll := collection(t)
		insert(t, coll, `{"_id":1,"a":1}`)
		if got := runCode(t, coll.Database(), doc(t, c.command)); got != c.code {
			t.Errorf("%s: code %d, want %d", c.command, got, c.code)
		}
	}
}
