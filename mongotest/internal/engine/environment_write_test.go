package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
)

// TestMergeModes holds each pair of modes of $merge, for a document that is in the target and for one that isn't: what
// comes of it, or the error with its code and the text that MongoDB gives it.
func TestMergeModes(t *testing.T) {
	const (
		old    = `{"_id":1,"n":1,"own":true}`
		merged = `{"_id":1,"n":10,"own":true,"x":5}`
		taken  = `{"_id":1,"n":10,"x":5}`
		added  = `{"_id":1,"n":11,"own":true,"was":5}`
		other  = `{"_id":2,"n":20,"x":5}`
		found  = "11000 $merge with whenMatched: fail found an existing document with the same values for the 'on' " +
			"fields :: caused by :: E11000 duplicate key error collection: test.out index: _id_ dup key: { _id: 1 }"
		none = "13113 $merge could not find a matching document in the target collection for at least one " +
			"document in the source collection"
		refused = "51181 Combination of $merge modes 'whenMatched: %s' and 'whenNotMatched: %s' is not supported"
		change  = "[{$set: {n: {$add: ['$n', '$$new.n']}, was: '$$v'}}]"
	)
	for _, c := range []struct{ matched, notMatched, there, missing string }{
		{"merge", "insert", merged, other},
		{"merge", "discard", merged, ""},
		{"merge", "fail", merged, none},
		{"replace", "insert", taken, other},
		{"replace", "discard", taken, ""},
		{"replace", "fail", taken, none},
		{"keepExisting", "insert", old, other},
		{"keepExisting", "discard", refused, refused},
		{"keepExisting", "fail", refused, refused},
		{"fail", "insert", found, other},
		{"fail", "discard", refused, refused},
		{"fail", "fail", refused, refused},
		{change, "insert", added, other},
		{change, "discard", added, ""},
		{change, "fail", added, none},
	} {
		into := fmt.Sprintf("{into: 'out', whenMatched: '%s', whenNotMatched: '%s'}", c.matched, c.notMatched)
		if c.matched == change {
			into = fmt.Sprintf("{into: 'out', let: {v: '$x'}, whenMatched: %s, whenNotMatched: '%s'}", change,
				c.notMatched)
		}
		for id, want := range map[int32]string{1: c.there, 2: c.missing} {
			if want == refused {
				want = fmt.Sprintf(refused, c.matched, c.notMatched)
			}
			if got := mergeOne(t, id, into); got != want {
				t.Errorf("%s / %s with _id %d:\n got %s\nwant %s", c.matched, c.notMatched, id, got, want)
			}
		}
	}
}

// TestMergeRefuses holds the errors of $merge's other parts.
func TestMergeRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"1", "14 $merge requires a string or object argument, but found int"},
		{"{into: 'out', let: {v: 1}}", "51199 Cannot use 'let' variables with 'whenMatched: merge' mode"},
		{
			"{into: 'out', whenMatched: 'replace', let: {v: 1}}",
			"51199 Cannot use 'let' variables with 'whenMatched: replace' mode",
		},
		{
			"{into: 'out', let: {new: 1}, whenMatched: [{$set: {n: '$$new'}}]}",
			"51273 'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
		},
		{
			"{into: 'out', whenMatched: [{$set: {n: '$$v'}}]}",
			"17276 Invalid $set :: caused by :: Use of undefined variable: v",
		},
		{"{into: 'out', whenMatched: [{$group: {_id: 1}}]}", "72 $group is not allowed to be used within an update"},
		{
			"{into: 'out', whenMatched: [{$set: {_id: 7}}]}",
			"66 $merge failed to update the matching document, did you attempt to modify the _id or the shard " +
				"key? :: caused by :: Performing an update on the path '_id' would modify the immutable field '_id'",
		},
		{
			"{into: 'out', on: 'sku', whenMatched: 'replace'}",
			"66 $merge failed to update the matching document, did you attempt to modify the _id or the shard " +
				"key? :: caused by :: After applying the update, the (immutable) field '_id' was found to have " +
				"been altered to _id: 5",
		},
		{"{into: 'out', on: 'nope'}", "51183 Cannot find index to verify that join fields will be unique"},
		{
			"{into: 'out', on: [], whenMatched: 'replace'}",
			"51187 If explicitly specifying $merge 'on', must include at least one field",
		},
		{"{into: 'out', whenMatched: [{$set: {u: 'taken'}}]}", ""},
		{
			"{into: 'out', on: 'sku', whenMatched: [{$set: {u: 'taken'}}]}",
			"11000 $merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error " +
				"collection: test.out index: u_1 dup key: { u: \"taken\" }",
		},
		{
			"{into: 'out', on: 'sku', whenMatched: 'fail'}",
			"11000 $merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error " +
				"collection: test.out index: _id_ dup key: { _id: 5 }",
		},
		{"{into: 'out', on: 'sku', let: {by: '$n'}, whenMatched: [{$set: {n: {$add: ['$n', '$$by']}}}]}", ""},
	} {
		into, want := c[0], c[1]
		ctx := context.Background()
		db := collection(t).Database()
		for name, docs := range map[string]string{"things": "[{_id: 5, sku: 'a', n: 1, u: 'free'}]",
			"out": "[{_id: 1, sku: 'a', n: 1, u: 'old'}, {_id: 5, sku: 'b', n: 5, u: 'other'}, {_id: 6, sku: 'c', n: " +
				"6, u: 'taken'}]"} {
			if _, err := db.Collection(name).InsertMany(ctx, []any(valuetest.Array(docs))); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range []string{"sku", "u"} {
			index := mongo.IndexModel{Keys: bson.D{{Key: key, Value: 1}}, Options: options.Index().SetUnique(true)}
			if _, err := db.Collection("out").Indexes().CreateOne(ctx, index); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if _, err := db.Collection("things").Aggregate(ctx, valuetest.Array("[{$merge: "+into+"}]")); err != nil {
			got = codeAndText(err)
		}
		if strings.Contains(into, "'taken'") && !strings.Contains(into, "on:") {
			want =
				"11000 $merge failed due to a DuplicateKey error :: caused by :: E11000 duplicate key error " +
					"collection: test.out index: u_1 dup key: { u: \"taken\" }"
		}
		if got != want {
			t.Errorf("$merge: %s:\n got %s\nwant %s", into, got, want)
		}
	}
}

// mergeOne merges a document into a collection that has that of _id 1, and returns what it has of the document then, or
// the error.
func mergeOne(t *testing.T, id int32, into string) string {
	t.Helper()
	ctx := context.Background()
	db := collection(t).Database()
	if _, err := db.Collection("out").InsertOne(ctx, valuetest.Doc("{_id: 1, n: 1, own: true}")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("things").
		InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 10 * id},
			{Key: "x", Value: int32(5)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("things").Aggregate(ctx, valuetest.Array("[{$merge: "+into+"}]")); err != nil {
		return codeAndText(err)
	}
	var doc bson.D
	err := db.Collection("out").FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return valuetest.Text(doc)
}

func codeAndText(err error) string {
	var e mongo.CommandError
	if !errors.As(err, &e) {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", e.Code, e.Message)
}

// $merge upserts by $set, or by $setOnInsert: new fields come in the order of their names. What replaces keeps its
// order.
func TestMergeOrder(t *testing.T) {
	for modes, want := range map[string][]string{
		`{}`:                             {`{"_id":1,"z":0,"a":1,"c":3}`, `{"_id":2,"a":1,"c":3,"z":2}`},
		`{"whenMatched":"keepExisting"}`: {`{"_id":1,"z":0}`, `{"_id":2,"a":1,"c":3,"z":2}`},
		`{"whenMatched":"replace"}`:      {`{"_id":1,"z":2,"c":3,"a":1}`, `{"_id":2,"z":2,"c":3,"a":1}`},
		`{"whenMatched":[]}`:             {`{"_id":1,"z":0}`, `{"_id":2,"z":2,"c":3,"a":1}`},
	} {
		c := collection(t)
		insert(t, c, `{"_id":1,"z":0}`)
		insert(t, c.Database().Collection("from"), `{"_id":1,"z":2,"c":3,"a":1}`, `{"_id":2,"z":2,"c":3,"a":1}`)
		spec := append(bson.D{{Key: "into", Value: "things"}}, doc(t, modes)...)
		must(t, c.Database().RunCommand(ctx, bson.D{{Key: "aggregate", Value: "from"}, {Key: "cursor", Value: bson.D{}},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$merge", Value: spec}}}}}).Err())
		if modes == `{}` {
			want[0] = `{"_id":1,"z":2,"a":1,"c":3}`
		}
		wantAll(t, c, want...)
	}
}
