// These tests hold the stages behind $changeStream, and what a change stream refuses.

package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestChangeStages(t *testing.T) {
	c := collection(t)
	cs, err := c.Watch(ctx,
		stagesFrom(t, `{"$match":{"operationType":{"$in":["insert","invalidate"]},"fullDocument.n":{"$ne":1}}}`,
			`{"$set":{"m":{"$add":["$fullDocument.n",1]}}}`, `{"$project":{"m":1}}`), quick())
	if err != nil {
		t.Fatal(err)
	}
	before := cs.ResumeToken()
	insert(t, c, `{"_id":1,"n":1}`)
	wantEvents(t, "a stage left it out", events(t, cs))
	if got := cs.ResumeToken(); got.String() <= before.String() {
		t.Errorf("the token went from %s to %s: it has to move past what is left out", before, got)
	}
	insert(t, c, `{"_id":2,"n":2}`)
	wantEvents(t, "$set, $project", events(t, cs), `{"m":3}`)

	cs, err = c.Watch(ctx, stagesFrom(t, `{"$replaceWith":{"_id":"$documentKey"}}`), quick())
	if err != nil {
		t.Fatal(err)
	}
	insert(t, c, `{"_id":3}`)
	if tryNext(cs) {
		t.Error("an event without its token was given")
	}
	wantCode(t, "a changed _id", cs.Err(), 280)
}

func TestChangeRefusals(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	cs := watch(t, db.Collection("gone"), quick())
	insert(t, db.Collection("gone"), `{"_id":1}`)
	if err := db.Collection("gone").Drop(ctx); err != nil {
		t.Fatal(err)
	}
	events(t, cs)
	invalid := cs.ResumeToken().String()
	unknown := `{"_data":"82` + strings.Repeat("F", 24) + `00"}`
	for _, c := range []struct {
		reason, db, coll, stages string
		code                     int
	}{
		{"not first", "test", `"c"`, `{"$match":{}},{"$changeStream":{}}`, 40602},
		{"a stage that isn't allowed", "test", `"c"`, `{"$changeStream":{}},{"$group":{"_id":1}}`, 20},
		{"a stage that isn't implemented", "test", `"c"`, `{"$changeStream":{}},{"$changeStreamSplitLargeEvent":{}}`,
			238},
		{"no stage", "test", `"c"`, `{"$changeStream":{}},{"$foo":1}`, 40324},
		{"no document", "test", `"c"`, `{"$changeStream":1}`, 50808},
		{"an unknown option", "test", `"c"`, `{"$changeStream":{"foo":1}}`, 40415},
		{"no boolean", "test", `"c"`, `{"$changeStream":{"showExpandedEvents":"yes"}}`, 14},
		{"an unknown mode", "test", `"c"`, `{"$changeStream":{"fullDocument":"foo"}}`, 2},
		{"two tokens", "test", `"c"`, `{"$changeStream":{"resumeAfter":{"_data":"00"},"startAfter":{"_data":"00"}}}`,
			50865},
		{
			reason: "a token and a time", db: "test", coll: `"c"`,
			stages: `{"$changeStream":{"resumeAfter":{"_data":"00"},"startAtOperationTime":{"$timestamp":{"t":1,` +
				`"i":1}}}}`,
			code: 40674,
		},
		{"no token", "test", `"c"`, `{"$changeStream":{"resumeAfter":{}}}`, 40647},
		{"a token of something else", "test", `"c"`, `{"$changeStream":{"resumeAfter":{"_data":"8263"}}}`, 9},
		{"no digits", "test", `"c"`, `{"$changeStream":{"resumeAfter":{"_data":"xyz"}}}`, 9},
		{"a token of no event", "test", `"c"`, `{"$changeStream":{"resumeAfter":` + unknown + `}}`, 280},
		{"an invalidate event's token", "test", `"gone"`, `{"$changeStream":{"resumeAfter":` + invalid + `}}`, 260},
		{"another collection's", "test", `"c"`, `{"$changeStream":{"startAfter":` + invalid + `}}`, 280},
		{"a time long ago", "test", `"c"`, `{"$changeStream":{"startAtOperationTime":{"$timestamp":{"t":1,"i":1}}}}`,
			286},
		{"no time", "test", `"c"`, `{"$changeStream":{"startAtOperationTime":1}}`, 14},
		{"the admin database", "admin", `1`, `{"$changeStream":{}}`, 73},
		{"a collection of it", "admin", `"c"`, `{"$changeStream":{}}`, 73},
		{"a system collection", "test", `"system.views"`, `{"$changeStream":{}}`, 73},
		{"the whole cluster from elsewhere", "test", `1`, `{"$changeStream":{"allChangesForCluster":true}}`, 72},
		{"the whole cluster from a collection", "admin", `"c"`, `{"$changeStream":{"allChangesForCluster":true}}`, 72},
	} {
		cmd := doc(t, `{"aggregate":`+c.coll+`,"pipeline":[`+c.stages+`],"cursor":{}}`)
		wantCode(t, c.reason, client.Database(c.db).RunCommand(ctx, cmd).Err(), c.code)
	}
	_, tx := begin(t, db.Collection("c"))
	_, err := db.Collection("c").Watch(tx, mongo.Pipeline{})
	wantCode(t, "in a transaction", err, 263)
}
