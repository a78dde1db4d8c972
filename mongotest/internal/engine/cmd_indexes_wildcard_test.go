package engine_test

import "testing"

// TestWildcardIndexes makes wildcard indexes, and holds which queries they serve
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/).
func TestWildcardIndexes(t *testing.T) {
	_, e := start(t)
	explain := func(query string) string {
		return `{"explain":{"find":"c",` + query + `},"verbosity":"executionStats"}`
	}
	const none, used = `"stage":"COLLSCAN"`, `"stage":"IXSCAN"`
	runSteps(t, e,
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"$**_1"}]}`, `"numIndexesAfter":2`},
		step{
			command: `{"insert":"c","documents":[{"_id":1,"a":{"b":5,"c":[]},"s":"x"},{"_id":2,"a":[{"b":6},7],` +
				`"s":"y"},{"_id":3,"a":null,"e":{}}]}`,
			want: "",
		},
		step{`{"listIndexes":"c"}`, `{"v":2,"key":{"$**":1},"name":"$**_1"}`},
		step{
			command: explain(`"filter":{"a.b":5}`),
			want: `"keyPattern":{"$_path":1,"a.b":1},"indexName":"$**_1","isMultiKey":true,"isUnique":false,` +
				`"isSparse":false,"isPartial":false,` +
				`"indexVersion":2,"direction":"forward","indexBounds":{"$_path":["[\"a.b\", \"a.b\"]"],"a.b":["[5, ` +
				`5]"]},"keysExamined":1`,
		},
		step{explain(`"filter":{"a.b":{"$gt":5}}`), `"totalKeysExamined":1,"totalDocsExamined":1`},
		step{`{"find":"c","filter":{"a":7},"projection":{"_id":1}}`, `[{"_id":2}]`},
		step{explain(`"filter":{"a":7}`), used},
		step{explain(`"filter":{"s":{"$in":["x","y"]}}`), `"nReturned":2`},
		step{explain(`"filter":{"s":{"$regex":"^x"}}`), used},
		step{explain(`"filter":{"$or":[{"s":"x"},{"a":7}]}`), `"stage":"OR"`},
		step{explain(`"filter":{"a":null}`), none}, step{explain(`"filter":{"a":{"$exists":false}}`), none},
		step{explain(`"filter":{"a":{"b":5}}`), none},
		step{explain(`"filter":{"a":[7]}`), none}, step{explain(`"filter":{"s":{"$ne":"x"}}`), none},
		step{explain(`"filter":{"a.0":7}`), none},
		step{explain(`"filter":{},"sort":{"s":1}`), none},
		step{explain(`"filter":{"_id":{"$gt":1}}`), `"indexName":"_id_"`},
		step{explain(`"filter":{"s":"x"},"hint":"$**_1"`), used},
		step{explain(`"filter":{"a":null},"hint":"$**_1"`), `"code":291`},
		step{`{"dropIndexes":"c","index":"$**_1"}`, ""},
		// A part of the document.
		step{`{"createIndexes":"c","indexes":[{"key":{"a.$**":-1},"name":"a"}]}`, ""},
		step{explain(`"filter":{"a.b":5}`), used}, step{explain(`"filter":{"a":7}`), used},
		step{explain(`"filter":{"s":"x"}`), none},
		step{`{"dropIndexes":"c","index":"a"}`, ""},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{"a":{"b":1},"s":1}}]}`,
			""},
		step{`{"listIndexes":"c"}`, `"wildcardProjection":{"a":{"b":1},"s":1}`},
		step{explain(`"filter":{"a.b":5}`), used}, step{explain(`"filter":{"s":"x"},"sort":{"s":-1}`), used},
		step{explain(`"filter":{"a":7}`), none},
		step{`{"dropIndexes":"c","index":"w"}`, ""},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{"a.c":0}}]}`, ""},
		step{explain(`"filter":{"a.b":5}`), used}, step{explain(`"filter":{"a.c":5}`), none},
		step{explain(`"filter":{"a":7}`), none},
		step{`{"dropIndexes":"c","index":"w"}`, ""},
		// One that never ran through an array sorts by the field that it finds by.
		step{`{"createIndexes":"d","indexes":[{"key":{"$**":1},"name":"w"}]}`, ""},
		step{`{"insert":"d","documents":[{"_id":1,"n":1},{"_id":2,"n":2}]}`, ""},
		step{`{"find":"d","filter":{"n":{"$gt":0}},"sort":{"n":-1}}`, `[{"_id":2,"n":2},{"_id":1,"n":1}]`},
		step{
			command: `{"explain":{"find":"d","filter":{"n":{"$gt":0}},"sort":{"n":-1}},"verbosity":"queryPlanner"}`,
			want:    `"direction":"backward"`,
		},
		// What can't be.
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1,"x":1},"name":"w"}]}`, `"code":238`},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":"hashed"},"name":"w"}]}`, `"code":67`},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":0},"name":"w"}]}`, `"code":67`},
		step{`{"createIndexes":"c","indexes":[{"key":{"a.$b.$**":1},"name":"w"}]}`, `"code":67`},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","unique":true}]}`, `"code":67`},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","expireAfterSeconds":1}]}`, `"code":67`},
		step{`{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"w","wildcardProjection":{"a":1}}]}`, `"code":2`},
		step{`{"createIndexes":"c","indexes":[{"key":{"a.$**":1},"name":"w","wildcardProjection":{"a":1}}]}`,
			`"code":2`},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{}}]}`, `"code":9`},
		step{
			command: `{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{"a":1,` +
				`"b":0}}]}`,
			want: `"code":31254`,
		},
		step{`{"createIndexes":"c","indexes":[{"key":{"$**":1},"name":"w","wildcardProjection":{"a":"x"}}]}`,
			`"code":9`},
	)
}
