package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// expandEvents asks for the events that only showExpandedEvents shows.
func expandEvents() *options.ChangeStreamOptionsBuilder { return quick().SetShowExpandedEvents(true) }

// expandedEvents reads what there is as events does, with UUIDs numbered in the order in which the stream has them.
func expandedEvents(t testing.TB, cs *mongo.ChangeStream) (list []string) {
	t.Helper()
	seen := map[string]int{}
	cs.SetBatchSize(0)
	for tryNext(cs) {
		var d bson.D
		if err := cs.Decode(&d); err != nil {
			t.Fatal(err)
		}
		list = append(list, brief(t, countUUIDs(d, seen).(bson.D)))
	}
	if err := cs.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func countUUIDs(v any, seen map[string]int) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			out = append(out, bson.E{Key: e.Key, Value: countUUIDs(e.Value, seen)})
		}
		return out
	case bson.Binary:
		n, ok := seen[string(v.Data)]
		if !ok {
			n = len(seen) + 1
			seen[string(v.Data)] = n
		}
		return fmt.Sprintf("uuid%d", n)
	}
	return v
}

// expandedEvent is one of the collection c, of that UUID.
func expandedEvent(kind, uuid, rest string) string {
	return `{"operationType":"` + kind + `","collectionUUID":"` + uuid + `","ns":{"db":"test","coll":"c"}` + rest + `}`
}

func describeOperation(what string) string { return `,"operationDescription":{` + what + `}` }

const (
	idIndex  = `"idIndex":{"v":2,"key":{"_id":1},"name":"_id_"}`
	ofNsType = `,"nsType":"collection"`
	indexA   = `{"v":2,"key":{"a":1},"name":"a_1"}`
)

// expandedCase is what streams of a database show of commands, one a line, after others.
type expandedCase struct {
	reason, before, commands string
	want                     []string
}

// expandedSteps runs the cases. Without showExpandedEvents only events of older kinds come, without the new fields.
func expandedSteps(t *testing.T, cases []expandedCase) {
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			client, _ := start(t)
			db := client.Database("test")
			commands(t, db, c.before)
			on, off := watch(t, db, expandEvents()), watch(t, db, quick())
			commands(t, db, c.commands)
			wantEvents(t, c.reason, expandedEvents(t, on), c.want...)
			wantEvents(t, "without showExpandedEvents", events(t, off), classic(c.want)...)
		})
	}
}

const (
	madeC    = `{"create":"c"}`
	filledC  = `{"insert":"c","documents":[{"_id":1}]}`
	indexedC = `{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a_1"},{"key":{"b":1},"name":"b_1",` +
		`"sparse":true}]}`
	indexB = `{"v":2,"key":{"b":1},"name":"b_1","sparse":true}`
)

func TestExpandedEvents(t *testing.T) {
	created := expandedEvent("create", "uuid1", describeOperation(idIndex)+ofNsType)
	inserted :=
		`{"operationType":"insert","collectionUUID":"uuid1","fullDocument":{"_id":1},"ns":{"db":"test","coll":"c"},` +
			`"documentKey":{"_id":1}}`
	expandedSteps(t, []expandedCase{
		{"create", "", madeC, []string{created}},
		{"create of what is there", madeC, madeC, nil},
		{"create with options", "", `{"create":"c","capped":true,"size":4096,"max":10}`,
			[]string{expandedEvent("create", "uuid1",
				describeOperation(`"capped":true,"size":4096,"max":10,`+idIndex)+ofNsType)}},
		{
			reason: "create with a validator", before: "",
			commands: `{"create":"c","validator":{"a":1},"validationLevel":"off","validationAction":"warn"}`,

			want: []string{
				expandedEvent("create", "uuid1",
					describeOperation(`"validator":{"a":1},"validationLevel":"off","validationAction":"warn",`+
						idIndex)+ofNsType),
			},
		},
		{"create by an insert", "", filledC, []string{created, inserted}},
		{
			reason: "create by an upsert", before: "",
			commands: `{"update":"c","updates":[{"q":{"_id":1},"u":{},"upsert":true}]}`,
			want:     []string{created, inserted},
		},
		{"create by an index", "", `{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a_1"}]}`,
			[]string{created, expandedEvent("createIndexes", "uuid1", describeOperation(`"indexes":[`+indexA+`]`))}},
		{"indexes of an empty collection", madeC, indexedC, []string{
			expandedEvent("createIndexes", "uuid1", describeOperation(`"indexes":[`+indexA+`]`)),
			expandedEvent("createIndexes", "uuid1", describeOperation(`"indexes":[`+indexB+`]`))}},
		{"indexes of another", filledC, indexedC,
			[]string{expandedEvent("createIndexes", "uuid1", describeOperation(`"indexes":[`+indexA+`,`+indexB+`]`))}},
		{"indexes that are there", indexedC, indexedC, nil},
		{"one that isn't", `{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a_1"}]}`, indexedC,
			[]string{expandedEvent("createIndexes", "uuid1", describeOperation(`"indexes":[`+indexB+`]`))}},
		{"dropIndexes", indexedC, `{"dropIndexes":"c","index":{"b":1}}`,
			[]string{expandedEvent("dropIndexes", "uuid1", describeOperation(`"indexes":[`+indexB+`]`))}},
		{"dropIndexes of all", indexedC, `{"dropIndexes":"c","index":"*"}`, []string{
			expandedEvent("dropIndexes", "uuid1", describeOperation(`"indexes":[`+indexA+`]`)),
			expandedEvent("dropIndexes", "uuid1", describeOperation(`"indexes":[`+indexB+`]`))}},
		{"dropIndexes of none", madeC, `{"dropIndexes":"c","index":"*"}`, nil},
	})
}

func TestExpandedModify(t *testing.T) {
	modified := func(asked, before string) string {
		return expandedEvent("modify", "uuid1", describeOperation(asked)+`,"stateBeforeChange":{`+before+`}`)
	}
	const plain = `"collectionOptions":{"uuid":"uuid1"}`
	expandedSteps(t, []expandedCase{
		{"collMod of nothing", madeC, `{"collMod":"c","comment":"x"}`, []string{modified("", plain)}},
		{
			reason: "collMod of a validator", before: madeC,
			commands: `{"collMod":"c","validator":{"a":1}}` + "\n" + `{"collMod":"c","validationLevel":"off"}`,
			want: []string{
				modified(`"validator":{"a":1}`, plain),
				modified(`"validationLevel":"off"`,
					`"collectionOptions":{"uuid":"uuid1","validator":{"a":1},"validationLevel":"strict",`+
						`"validationAction":"error"}`)},
		},
		{"collMod of an index", indexedC, `{"collMod":"c","index":{"keyPattern":{"a":1},"hidden":true}}`,
			[]string{modified(`"index":{"name":"a_1","hidden":true}`, plain+`,"indexOptions":{"hidden":false}`)}},
		{"collMod of an expiry",
			`{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a_1","expireAfterSeconds":5}]}`,
			`{"collMod":"c","index":{"name":"a_1","expireAfterSeconds":7}}`,
			[]string{
				modified(`"index":{"name":"a_1","expireAfterSeconds":7}`,
					plain+`,"indexOptions":{"expireAfterSeconds":5}`),
			}},
		{"collMod to unique", indexedC, `{"collMod":"c","index":{"name":"a_1","prepareUnique":true}}` + "\n" +
			`{"collMod":"c","index":{"name":"a_1","unique":true},"dryRun":true}` + "\n" +
			`{"collMod":"c","index":{"name":"a_1","unique":true}}`, []string{
			modified(`"index":{"name":"a_1","prepareUnique":true}`, plain+`,"indexOptions":{"prepareUnique":false}`),
			modified(`"index":{"name":"a_1","unique":true}`, plain+`,"indexOptions":{}`)}},
	})
}

// What older events have beside their fields.
func TestExpandedFields(t *testing.T) {
	expandedSteps(t, []expandedCase{
		{"drop", madeC, `{"drop":"c"}`, []string{expandedEvent("drop", "uuid1", "")}},
		{"documents", filledC, `{"update":"c","updates":[{"q":{},"u":{"$set":{"a":1}}}]}` + "\n" +
			`{"update":"c","updates":[{"q":{},"u":{"a":2}}]}` + "\n" + `{"delete":"c","deletes":[{"q":{},"limit":1}]}`,
			[]string{
				expandedEvent("update", "uuid1",
					`,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"a":1},"removedFields":[],`+
						`"truncatedArrays":[],"disambiguatedPaths":{}}`),
				`{"operationType":"replace","collectionUUID":"uuid1","fullDocument":{"_id":1,"a":2},` +
					`"ns":{"db":"test","coll":"c"},"documentKey":{"_id":1}}`,
				expandedEvent("delete", "uuid1", `,"documentKey":{"_id":1}`)}},
		{
			reason:   "ambiguous paths",
			before:   `{"insert":"c","documents":[{"_id":1,"a":{"1":[1]}}]}`,
			commands: `{"update":"c","updates":[{"q":{},"u":{"$set":{"a.1.0":2}}}]}`,

			want: []string{
				expandedEvent("update", "uuid1",
					`,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"a.1.0":2},"removedFields":[],`+
						`"truncatedArrays":[],"disambiguatedPaths":{"a.1.0":["a","1",0]}}`),
			},
		},
		{
			reason: "dropDatabase",
			before: madeC + "\n" + `{"create":"v","viewOn":"c"}` + "\n" +
				`{"create":"s","timeseries":{"timeField":"t"}}`,
			commands: `{"dropDatabase":1}`,

			want: []string{
				expandedEvent("drop", "uuid1", ""),
				`{"operationType":"dropDatabase","ns":{"db":"test"}}`,
				`{"operationType":"invalidate"}`,
			},
		},
	})
}

func commands(t testing.TB, db *mongo.Database, lines string) {
	t.Helper()
	for _, line := range strings.FieldsFunc(lines, func(r rune) bool { return r == '\n' }) {
		if err := db.RunCommand(ctx, doc(t, line)).Err(); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// classic is what a stream shows without showExpandedEvents in the place of expanded events.
func classic(list []string) (out []string) {
	for _, s := range list {
		kind := strings.Split(s, `"`)[3]
		if strings.HasPrefix(kind, "create") || kind == "dropIndexes" || kind == "modify" ||
			strings.Contains(s, `"coll":"v"`) {
			continue
		}
		s = strings.NewReplacer(`"collectionUUID":"uuid1",`, "", `,"disambiguatedPaths":{}`, "",
			`,"disambiguatedPaths":{"a.1.0":["a","1",0]}`, "").Replace(s)
		out = append(out, s)
	}
	return out
}

// TestManualUpdateEvent is the example of the manual's page reference/change-events/update, with and without
// updateLookup.
func TestManualUpdateEvent(t *testing.T) {
	client, _ := start(t)
	users := client.Database("engineering").Collection("users")
	id := must1[bson.ObjectID](t)(bson.ObjectIDFromHex("58a4eb4a30c75625e00d2820"))
	vacation := make(bson.A, 40)
	for i := range vacation {
		vacation[i] = i
	}
	must1[*mongo.InsertOneResult](t)(users.InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "name", Value: "Alice"},
		{Key: "userName", Value: "alice123"}, {Key: "email", Value: "alice@mongodb.com"},
		{Key: "phoneNumber", Value: "555"},
		{Key: "team", Value: "replication"}, {Key: "vacation_time", Value: vacation}}))
	plain, full := watch(t, users, quick()), watch(t, users, quick().SetFullDocument(options.UpdateLookup))
	must1[*mongo.UpdateResult](t)(users.UpdateByID(ctx, id, stagesFrom(t,
		`{"$set":{"email":"alice@10gen.com","vacation_time":{"$slice":["$vacation_time",36]}}}`,
		`{"$unset":"phoneNumber"}`)))
	const key = `"ns":{"db":"engineering","coll":"users"},"documentKey":{"_id":{"$oid":"58a4eb4a30c75625e00d2820"}},` +
		`"updateDescription":{"updatedFields":{"email":"alice@10gen.com"},"removedFields":["phoneNumber"],` +
		`"truncatedArrays":[{"field":"vacation_time","newSize":36}]}}`
	wantEvents(t, "update", events(t, plain), `{"operationType":"update",`+key)
	got := events(t, full)
	if len(got) != 1 ||
		!strings.Contains(got[0],
			`"fullDocument":{"_id":{"$oid":"58a4eb4a30c75625e00d2820"},"name":"Alice","userName":`+
				`"alice123","email":"alice@10gen.com","team":"replication"`) || !strings.HasSuffix(got[0], key) {
		t.Errorf("updateLookup: %s", got)
	}
}
