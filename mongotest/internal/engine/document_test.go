// These tests hold which documents every writing command refuses to store, and what it changes in the others.

package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What grows past 16 MiB is refused by what made it.
func TestTooLarge(t *testing.T) {
	half := strings.Repeat("x", 9<<20)
	for _, x := range []struct {
		reason, command string
		code            int
	}{
		{"an update", `{"update":"things","updates":[{"q":{"_id":1},"u":[{"$set":{"b":"$a"}}]}]}`, 17419},
		{
			reason:  "a replacement by a pipeline",
			command: `{"update":"things","updates":[{"q":{"_id":1},"u":[{"$replaceWith":{"_id":1,"b":["$a","$a"]}}]}]}`,
			code:    17419,
		},
		{
			reason: "an upsert",
			command: `{"update":"things","updates":[{"q":{"_id":2},"u":[{"$set":{"b":["$$x","$$x"]}}],` +
				`"c":{"x":"half"},"upsert":true}]}`,
			code: 17420,
		},
		{
			reason: "$merge into a document",
			command: `{"aggregate":"things","pipeline":[{"$merge":{"into":"things",` +
				`"whenMatched":[{"$set":{"b":"$a"}}]}}],"cursor":{}}`,
			code: 17419,
		},
		{"$out", `{"aggregate":"things","pipeline":[{"$set":{"b":"$a"}},{"$out":"others"}],"cursor":{}}`, 10334},
	} {
		c := collection(t)
		if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: half}}); err != nil {
			t.Fatal(err)
		}
		command := doc(t, x.command)
		if x.reason == "an upsert" {
			command[1].Value.(bson.A)[0].(bson.D)[2].Value = bson.D{{Key: "x", Value: half}}
		}
		if got := runCode(t, c.Database(), command); got != x.code {
			t.Errorf("%s: code %d, want %d", x.reason, got, x.code)
		}
	}
}

// deep is a value of so many documents within each other.
func deep(n int) any {
	var v any = int32(1)
	for range n {
		v = bson.D{{Key: "a", Value: v}}
	}
	return v
}

// A stored document nests to 180 levels, whatever made it.
func TestDepth(t *testing.T) {
	at := func(levels int) string { return "s" + strings.Repeat(".a", levels) }
	for _, x := range []struct {
		reason  string
		levels  int
		command bson.D
		code    int
	}{
		{"insert", 180, bson.D{{Key: "insert", Value: "things"}, {Key: "documents", Value: bson.A{deep(180)}}}, 0},
		{"insert", 181, bson.D{{Key: "insert", Value: "things"}, {Key: "documents", Value: bson.A{deep(181)}}}, 15},
		{"$set", 180, updateOf(bson.D{{Key: "$set", Value: bson.D{{Key: at(179), Value: 1}}}}), 0},
		{"$set", 181, updateOf(bson.D{{Key: "$set", Value: bson.D{{Key: at(180), Value: 1}}}}), 15},
		{
			reason: "a pipeline", levels: 181,
			command: updateOf(bson.A{bson.D{{Key: "$set",
				Value: bson.D{{Key: "d", Value: bson.D{{Key: "e", Value: "$d"}}}}}}}),
			code: 15,
		},
	} {
		c := collection(t)
		if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "d", Value: deep(179)}}); err != nil {
			t.Fatal(err)
		}
		if got := runCode(t, c.Database(), x.command); got != x.code {
			t.Errorf("%s of %d levels: code %d, want %d", x.reason, x.levels, got, x.code)
		}
	}
	for stage, code := range map[string]int{"$out": 15, "$merge": 15} {
		c := collection(t)
		if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "d", Value: deep(179)}}); err != nil {
			t.Fatal(err)
		}
		command := doc(t,
			`{"aggregate":"things","pipeline":[{"$set":{"d":{"e":"$d"}}},{"`+stage+`":"others"}],"cursor":{}}`)
		if got := runCode(t, c.Database(), command); got != code {
			t.Errorf("%s: code %d, want %d", stage, got, code)
		}
	}
}

func updateOf(u any) bson.D {
	return bson.D{
		{Key: "update", Value: "things"},
		{Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: 1}}},
			{Key: "u", Value: u}}}},
	}
}

// An empty timestamp at the top of a document that is inserted, or that replaces one, is the server's time.
func TestEmptyTimestamp(t *testing.T) {
	c := collection(t)
	var zero bson.Timestamp
	filled := func(what string, id any, want ...bool) {
		t.Helper()
		raw, err := c.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range [][]string{{"a"}, {"b"}, {"c", "d"}} {
			s, n, ok := raw.Lookup(path...).TimestampOK()
			got := (bson.Timestamp{T: s, I: n}) != zero
			if ok && got != want[i] {
				t.Errorf("%s: %v is filled: %t", what, path, got)
			}
		}
	}
	fields := bson.D{{Key: "a", Value: zero}, {Key: "b", Value: zero},
		{Key: "c", Value: bson.D{{Key: "d", Value: zero}}}}
	must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, append(bson.D{{Key: "_id", Value: 1}}, fields...)))
	filled("insert", 1, true, true, false)
	must1[*mongo.UpdateResult](t)(c.UpdateByID(ctx, 1, bson.D{{Key: "$set", Value: bson.D{{Key: "b", Value: zero}}}}))
	filled("$set", 1, true, false, false)
	must1[*mongo.UpdateResult](t)(c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: 1}}, fields))
	filled("replacement", 1, true, true, false)
	must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, append(bson.D{{Key: "_id", Value: zero}}, fields...)))
	filled("with an empty _id, which stays", zero, true, true, false)
	var x struct{ A, B bson.Timestamp }
	must(t, c.FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Decode(&x))
	if x.A == x.B {
		t.Errorf("both are %v", x.A)
	}
}

// Since 5.0 names at the top of a document may begin with a dollar, but in updates by operators and replacements, and
// below _id.
func TestDollarNames(t *testing.T) {
	for _, x := range []struct {
		command, want string
		code          int
	}{
		{`{"insert":"things","documents":[{"_id":2,"$a":1,"b":{"$c":1}}]}`, `{"_id":2,"$a":1,"b":{"$c":1}}`, 0},
		{`{"insert":"things","documents":[{"_id":{"$a":1}}]}`, ``, 52},
		{`{"update":"things","updates":[{"q":{"_id":2},"u":{"a":1,"$b":1},"upsert":true}]}`, ``, 52},
		{`{"update":"things","updates":[{"q":{"_id":2},"u":{"$set":{"$a":1}},"upsert":true}]}`, ``, 52},
		{
			command: `{"update":"things","updates":[{"q":{"_id":2},"u":{"$set":{"a":{"$b":1}}},"upsert":true}]}`,
			want:    `{"_id":2,"a":{"$b":1}}`, code: 0,
		},
		{
			command: `{"update":"things","updates":[{"q":{"_id":2},` +
				`"u":[{"$replaceWith":{"$setField":{"field":{"$literal":"$a"},"input":"$$ROOT","value":1}}}],` +
				`"upsert":true}]}`,
			want: `{"_id":2,"$a":1}`, code: 0,
		},
		{`{"aggregate":"dollars","pipeline":[{"$out":"things"}],"cursor":{}}`, `{"_id":2,"$a":1}`, 0},
	} {
		c := collection(t)
		must1[*mongo.InsertOneResult](t)(c.Database().Collection("dollars").InsertOne(ctx, doc(t, `{"_id":2,"$a":1}`)))
		if got := runCode(t, c.Database(), doc(t, x.command)); got != x.code {
			t.Errorf("%s: code %d, want %d", x.command, got, x.code)
		}
		if x.want != "" {
			wantAll(t, c, x.want)
		}
	}
}
