package core_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"

	"github.com/docmodel/docmodel/internal/core"
)

// asReadDoc has fields that may not be there, and those that always are.
type asReadDoc struct {
	ID    string             `bson:"_id"`
	Name  string             `bson:"name"`
	Nick  string             `bson:"nick,omitempty"`
	N     int64              `bson:"n"`
	Small int64              `bson:"small,minsize"`
	Tags  []string           `bson:"tags,omitempty"`
	By    map[string]int     `bson:"by"`
	At    *time.Time         `bson:"at"`
	Inner struct{ X, Y int } `bson:"inner"`
}

// asReadOpen keeps fields of any name.
type asReadOpen struct {
	ID   string         `bson:"_id"`
	Nick string         `bson:"nick,omitempty"`
	Rest map[string]any `bson:",inline"`
}

// asReadRow is a document, what happens to it, and whether it is still as it was read.
type asReadRow struct {
	stored, update string
	same           bool
}

func asReadParse(t *testing.T, text string) bson.Raw {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}

func asReadRun[D any](
	t *testing.T, db *mongo.Database, guard func(c *model.Collection[D, string], stored bson.Raw) bson.D,
	rows []asReadRow,
) {
	t.Helper()
	c := model.NewCollection[D, string](fmt.Sprintf("c%T", *new(D))[:5])
	for _, row := range rows {
		if err := c.Of(db).Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		stored := asReadParse(t, row.stored)
		if _, err := c.Of(db).InsertOne(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		filter := guard(c, stored)
		if row.update != "" {
			if _, err := c.Of(db).UpdateByID(t.Context(), "a", asReadParse(t, row.update)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := c.Of(db).CountDocuments(t.Context(), filter)
		if err != nil || (n == 1) != row.same {
			t.Errorf("%T %s, then %s: %d, %v, by %s", *new(D), row.stored, row.update, n, err, model.Shell(filter))
		}
	}
}

// asReadTyped is the guard of a document that was read as its type.
func asReadTyped[D any](c *model.Collection[D, string], stored bson.Raw) bson.D {
	var doc D
	if err := bson.Unmarshal(stored, &doc); err != nil {
		panic(err)
	}
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return c.Docs().Shape().AsRead(raw)
}

// What the type reads is compared, whether it was there or not; what it reads alike is alike.
func TestAsReadByShape(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	const full = `{"_id":"a","name":"Ann","nick":"A","n":1,"small":2,"tags":["x"],"by":{"k":1},` +
		`"at":{"$date":"2026-11-21T00:00:00Z"},"inner":{"x":1,"y":2}}`
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		asReadRun(t, db, asReadTyped[asReadDoc], []asReadRow{
			{full, ``, true},
			{full, `{"$set":{"other":1}}`, true},
			{full, `{"$set":{"n":{"$numberDouble":"1"}}}`, true},
			{full, `{"$set":{"name":"Anna"}}`, false},
			{full, `{"$set":{"name":["Ann"]}}`, false},
			{full, `{"$set":{"tags":[["x"]]}}`, false},
			{full, `{"$unset":{"tags":""}}`, false},
			{full, `{"$set":{"at":null}}`, false},
			{full, `{"$set":{"inner.z":3}}`, false},
			{`{"_id":"a"}`, ``, true},
			{`{"_id":"a"}`, `{"$set":{"nick":"","n":0,"small":0,"tags":[],"by":{},"at":null,"name":null}}`, true},
			{`{"_id":"a"}`, `{"$set":{"nick":"A"}}`, false},
			{`{"_id":"a"}`, `{"$set":{"nick":[""]}}`, false},
			{`{"_id":"a"}`, `{"$set":{"nick":[null]}}`, false},
			{`{"_id":"a"}`, `{"$set":{"n":1}}`, false},
			{`{"_id":"a"}`, `{"$set":{"small":1}}`, false},
			{`{"_id":"a"}`, `{"$set":{"tags":["x"]}}`, false},
			{`{"_id":"a"}`, `{"$set":{"tags":[null]}}`, false},
			{`{"_id":"a"}`, `{"$set":{"by":{"k":1}}}`, false},
			{`{"_id":"a"}`, `{"$currentDate":{"at":true}}`, false},
			{`{"_id":"a"}`, `{"$set":{"inner.y":1}}`, false},
			{`{"_id":"a","nick":"","small":0,"tags":[],"by":null}`, ``, true},
			{`{"_id":"a","nick":"","small":0,"tags":[],"by":null}`, `{"$set":{"small":1}}`, false},
			{`{"_id":"a","nick":"$name","name":"$$ROOT"}`, ``, true},
			{`{"_id":"a","nick":"$name","name":"x"}`, `{"$set":{"nick":"x"}}`, false},
		})
		asReadRun(t, db, asReadTyped[asReadOpen], []asReadRow{
			{`{"_id":"a","x":1,"y":"$x"}`, ``, true},
			{`{"_id":"a","x":1}`, `{"$set":{"x":2}}`, false},
			{`{"_id":"a","x":1}`, `{"$set":{"z":1}}`, false},
			{`{"_id":"a","x":1}`, `{"$set":{"nick":""}}`, true},
			{`{"_id":"a","x":1}`, `{"$set":{"nick":"A"}}`, false},
		})
		asReadRun(t, db, asReadTyped[bson.M], []asReadRow{
			{`{"_id":"a","y":1,"x":[1,2],"b":"$y"}`, ``, true},
			{`{"_id":"a","x":1}`, `{"$set":{"x":[1]}}`, false},
			{`{"_id":"a","x":1}`, `{"$set":{"z":null}}`, false},
			{`{"_id":"a","x":null}`, `{"$unset":{"x":""}}`, false},
		})
		asReadRun(t, db, asReadTyped[bson.D], []asReadRow{
			{`{"_id":"a","y":1,"x":{"$numberDecimal":"1.0"}}`, ``, true},
			{`{"_id":"a","x":1}`, `{"$set":{"z":null}}`, false},
		})
	})
}

// The guard of a whole document holds in each command that takes a filter, alone and
// beside other conditions.
func TestAsReadWhole(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	const text = `{"_id":"a","x":{"$numberDecimal":"1.0"},"y":["$x",{"$literal":1}],"z":null}`
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		c := db.Collection("c")
		stored := asReadParse(t, text)
		changed := asReadParse(t, `{"_id":"a","x":{"$numberDecimal":"1.0"},"y":["$x",{"$literal":1}]}`)
		for name, send := range map[string]func(filter any) (int64, error){
			"find": func(filter any) (int64, error) { return c.CountDocuments(t.Context(), filter) },
			"delete": func(filter any) (int64, error) {
				res, err := c.DeleteOne(t.Context(), filter)
				return res.DeletedCount, err
			},
			"update": func(filter any) (int64, error) {
				res, err := c.UpdateOne(t.Context(), filter, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}})
				return res.MatchedCount, err
			},
			"updates": func(filter any) (int64, error) {
				set := mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}}}
				res, err := c.UpdateMany(t.Context(), filter, set)
				return res.MatchedCount, err
			},
			"replace": func(filter any) (int64, error) {
				res, err := c.ReplaceOne(t.Context(), filter, bson.D{{Key: "n", Value: 1}})
				return res.MatchedCount, err
			},
			"findAndModify": func(filter any) (int64, error) {
				err := c.FindOneAndDelete(t.Context(), filter).Err()
				if errors.Is(err, mongo.ErrNoDocuments) {
					return 0, nil
				}
				return 1, err
			},
		} {
			for _, row := range []struct {
				doc  bson.Raw
				want int64
			}{{stored, 1}, {changed, 0}} {
				for _, filter := range []bson.D{
					core.AsRead(row.doc),
					{{
						Key: "$and",
						Value: bson.A{core.AsRead(row.doc), bson.D{
							{Key: "y", Value: bson.D{{Key: "$exists", Value: true}}},
						}},
					}},
				} {
					if _, err := c.ReplaceOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}, stored,
						options.Replace().SetUpsert(true)); err != nil {
						t.Fatal(err)
					}
					if n, err := send(filter); err != nil || n != row.want {
						t.Errorf("%s: %d, %v, want %d, by %s", name, n, err, row.want, model.Shell(filter))
					}
				}
			}
		}
	})
}

// Of fields that are named, those that were missing are missing still.
func TestFieldsAsRead(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		guard := func(_ *model.Collection[bson.Raw, string], stored bson.Raw) bson.D {
			return core.FieldsAsRead(stored, "x", "y", "$z", "a.b")
		}
		asReadRun(t, db, guard, []asReadRow{
			{`{"_id":"a","x":1}`, ``, true},
			{`{"_id":"a","x":1}`, `{"$set":{"z":1}}`, true},
			{`{"_id":"a","x":1}`, `{"$set":{"y":null}}`, false},
			{`{"_id":"a","x":1}`, `{"$set":{"x":[1]}}`, false},
			{`{"_id":"a","x":null}`, `{"$unset":{"x":""}}`, false},
		})
	})
}

// What is returned holds nothing of the caller's.
func TestAsReadIsACopy(t *testing.T) {
	c := model.NewCollection[asReadDoc, string]("c")
	const text = `{"_id":"a","name":"Ann","n":1}`
	for name, guard := range map[string]func(bson.Raw) bson.D{
		"AsRead":        core.AsRead,
		"FieldsAsRead":  func(doc bson.Raw) bson.D { return core.FieldsAsRead(doc, "name") },
		"Shape.AsRead":  c.Docs().Shape().AsRead,
		"of a document": model.NewCollection[bson.D, string]("c").Docs().Shape().AsRead,
	} {
		doc := asReadParse(t, text)
		filter := guard(doc)
		before := model.Shell(filter)
		clear(doc[4:])
		if after := model.Shell(filter); after != before {
			t.Errorf("%s: %s became %s", name, before, after)
		}
	}
}
