// This file runs a case's operator by the driver, and describes what comes of it.

package operators

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
)

// The documents that the cases read.
const (
	// one is what expressions and accumulators see.
	one = `{_id: 1, n: 7, m: -2, f: 2.5, s: 'Héllo', t: ' a,b ', e: null, a: [3, 1, 2], p: [1, 2], o: {x: 1, y: {z: 2}},
		l: [{q: 1}, {q: 2}, {}], k: [{k: 'a', v: 1}], b: true, d: {$date: '2024-02-29T13:14:15.678Z'},
		i: {$oid: '507f1f77bcf86cd799439011'}}`
	// many is what filters, accumulators and stages see.
	many = `[{_id: 1, v: 1, w: 'a', c: [1, 2]}, {_id: 2, v: 2, w: 'b', c: [{x: 1, y: 2}]}, {_id: 3,
		v: null, w: null, c: null},
		{_id: 4}, {_id: 5, v: 'abc', w: 'a', c: []}, {_id: 6, v: [1, 5], w: 'c', c: [2, 1]}, {_id: 7, v: 4.0,
		w: 'a', c: 'x',
		g: {type: 'Point', coordinates: [10, 50]}}, {_id: 8, v: {x: 1}, w: 'b', c: {x: 1}, g: [10.5, 50.5]}]`
	// parts is the other collection.
	parts = `[{_id: 1, of: 1, name: 'x', up: null}, {_id: 2, of: 1, name: 'y', up: 1}, {_id: 3, of: null,
		name: 'z', up: 2},
		{_id: 4, name: 'w'}]`
)

func insert(ctx context.Context, db *mongo.Database, name, docs string) error {
	list := valuetest.Array(docs)
	_, err := db.Collection(name).InsertMany(ctx, []any(list))
	return err
}

func load(ctx context.Context, db *mongo.Database) error {
	for name, docs := range map[string]string{"one": "[" + one + "]", "many": many, "parts": parts} {
		if err := insert(ctx, db, name, docs); err != nil {
			return err
		}
	}
	for name, keys := range map[string]string{
		"one": "{s: 'text'}", "many": "{g: '2dsphere'}", "parts": "{name: 'text'}",
	} {
		index := mongo.IndexModel{Keys: valuetest.Doc(keys), Options: options.Index().SetDefaultLanguage("none")}
		if name == "many" {
			index.Options = nil
		}
		if _, err := db.Collection(name).Indexes().CreateOne(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// outcome runs an operator with its argument, and says what came of it.
func outcome(ctx context.Context, db *mongo.Database, k Kind, input string) string {
	v, err := run(ctx, db, k, valuetest.Value(input))
	if err != nil {
		var x mongo.ServerError
		if !errors.As(err, &x) {
			return "FAILED " + err.Error()
		}
		message, code := err.Error(), 0
		for _, c := range x.ErrorCodes() {
			code = c
		}
		var command mongo.CommandError
		var write mongo.WriteException
		switch {
		case errors.As(err, &command):
			message = command.Message
		case errors.As(err, &write) && len(write.WriteErrors) > 0:
			message = write.WriteErrors[0].Message
		}
		message = strings.NewReplacer("\n", " ", db.Name()+".", "db.").Replace(message)
		return fmt.Sprintf("error %d: %s", code, message)
	}
	return text(v)
}

func run(ctx context.Context, db *mongo.Database, k Kind, v any) (any, error) {
	stage := func(name string, arg any) bson.D { return bson.D{{Key: name, Value: arg}} }
	byID := stage("$sort", stage("_id", 1))
	switch k {
	case Expression:
		var search bson.A
		if strings.Contains(text(v), "$meta") { // of a score, which needs a search
			search = bson.A{stage("$match", valuetest.Doc("{$text: {$search: 'Héllo'}}"))}
		}
		return aggregate(ctx, db, "one",
			append(search, stage("$project", bson.D{{Key: "_id", Value: 0}, {Key: "r", Value: v}})), "r")
	case Accumulator:
		return aggregate(ctx, db, "many",
			bson.A{byID, stage("$group", bson.D{{Key: "_id", Value: nil}, {Key: "r", Value: v}})}, "r")
	case Query, Area:
		if d, ok := v.(bson.D); ok && len(d) > 0 && d[0].Key == "$text" {
			return findIn(ctx, db, "parts",
				bson.D{{Key: "filter", Value: v}, {Key: "projection", Value: stage("_id", 1)}}, "_id")
		}
		return find(ctx, db, bson.D{{Key: "filter", Value: v}, {Key: "projection", Value: stage("_id", 1)}}, "_id")
	case Projection:
		if strings.Contains(text(v), "$text") {
			return findIn(ctx, db, "parts", v.(bson.D), "")
		}
		return find(ctx, db, v.(bson.D), "")
	case Update, Modifier:
		return updateOne(ctx, db, v.(bson.D))
	}
	list, ok := v.(bson.A)
	if !ok {
		list = bson.A{v}
	}
	got, err := aggregate(ctx, db, "many", list, "")
	last, _ := list[len(list)-1].(bson.D)
	if err != nil || len(last) == 0 || last[0].Key != "$out" && last[0].Key != "$merge" {
		return got, err
	}
	got, err = aggregate(ctx, db, "out", bson.A{byID}, "")
	if err == nil {
		err = db.Collection("out").Drop(ctx)
	}
	return got, err
}

// aggregate returns the documents; or the field of the first.
func aggregate(ctx context.Context, db *mongo.Database, name string, stages bson.A, field string) (any, error) {
	over := db.Collection(name).Aggregate
	if first, _ := stages[0].(bson.D); len(first) == 1 &&
		(first[0].Key == "$documents" || first[0].Key == "$listLocalSessions") {
		over = db.Aggregate
	}
	c, err := over(ctx, stages)
	if err != nil {
		return nil, err
	}
	list := bson.A{}
	if err := all(ctx, c, &list); err != nil || field == "" {
		return list, err
	}
	if len(list) == 0 {
		return missing{}, nil
	}
	for _, f := range list[0].(bson.D) {
		if f.Key == field {
			return f.Value, nil
		}
	}
	return missing{}, nil
}

type missing struct{}

func all(ctx context.Context, c *mongo.Cursor, list *bson.A) error {
	var docs []bson.D
	err := c.All(ctx, &docs)
	for _, d := range docs {
		*list = append(*list, d)
	}
	return err
}

// find returns the documents by _id, or a field of each. spec has filter and projection.
func find(ctx context.Context, db *mongo.Database, spec bson.D, field string) (any, error) {
	return findIn(ctx, db, "many", spec, field)
}

func findIn(ctx context.Context, db *mongo.Database, name string, spec bson.D, field string) (any, error) {
	var filter any = bson.D{}
	opt := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	for _, f := range spec {
		if f.Key == "filter" {
			filter = f.Value
		} else {
			opt.SetProjection(f.Value)
		}
	}
	c, err := db.Collection(name).Find(ctx, filter, opt)
	if err != nil {
		return nil, err
	}
	list := bson.A{}
	if err := all(ctx, c, &list); err != nil || field == "" {
		return list, err
	}
	for i, d := range list {
		list[i] = d.(bson.D)[0].Value
	}
	return list, nil
}

// updateOne returns what {doc, q, u, arrayFilters, upsert} leaves; without doc there is no document before.
func updateOne(ctx context.Context, db *mongo.Database, spec bson.D) (any, error) {
	coll := db.Collection("updated")
	if _, err := coll.DeleteMany(ctx, bson.D{}); err != nil {
		return nil, err
	}
	var q, u any = bson.D{{Key: "_id", Value: 1}}, nil
	opt := options.UpdateOne()
	for _, f := range spec {
		switch f.Key {
		case "doc":
			if _, err := coll.InsertOne(ctx, append(bson.D{{Key: "_id", Value: 1}}, f.Value.(bson.D)...)); err != nil {
				return nil, err
			}
		case "q":
			q = f.Value
		case "u":
			u = f.Value
		case "arrayFilters":
			opt.SetArrayFilters([]any(f.Value.(bson.A)))
		case "upsert":
			opt.SetUpsert(true)
		}
	}
	if _, err := coll.UpdateOne(ctx, q, u, opt); err != nil {
		return nil, err
	}
	var d bson.D
	err := coll.FindOne(ctx, bson.D{}).Decode(&d)
	return d, err
}

var (
	plainInt    = regexp.MustCompile(`\{"\$numberInt":"(-?\d+)"\}`)
	plainDouble = regexp.MustCompile(`\{"\$numberDouble":"(-?[\d.]+)"\}`)
	plainName   = regexp.MustCompile(`"([\p{L}_$][\p{L}\d_$]*)":`)
)

// text is a value in extended JSON, with ints and doubles as they are read: 2 and 2.0.
func text(v any) string {
	if _, ok := v.(missing); ok {
		return "missing"
	}
	b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: recent(v)}}, true, false)
	if err != nil {
		return err.Error()
	}
	s := string(b[len(`{"v":`) : len(b)-1])
	s = plainDouble.ReplaceAllString(plainInt.ReplaceAllString(s, "$1"), "$1")
	s = plainName.ReplaceAllString(s, "$1:")
	return strings.ReplaceAll(s, `,`, `, `)
}

// recent writes times that have just been as text, whose values nobody knows before.
func recent(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, f := range v {
			out[i] = bson.E{Key: f.Key, Value: recent(f.Value)}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = recent(x)
		}
		return out
	case bson.DateTime:
		if time.Since(v.Time()).Abs() < time.Hour {
			return "date: now"
		}
	case bson.Timestamp:
		if time.Since(time.Unix(int64(v.T), 0)).Abs() < time.Hour {
			return "timestamp: now"
		}
	}
	return v
}
