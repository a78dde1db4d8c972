package keys_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var byPlace = keys.NewShard(readings, shardD("place.site", 1, "at", 1), keys.ShardSpec{})

// A trial is a collection on three simulated shards, with random documents and chunks.
type trial struct {
	t       *testing.T
	r       *rand.Rand
	version string
	key     *keys.Shard[bson.D]
	pattern bson.D
	shards  *mongotest.Shards
	admin   *mongo.Database
	coll    *mongo.Collection
}

// Whatever a target says of a statement, the shards of a cluster see. The engine's router knows nothing of this
// package.
func TestShardTargetsOnACluster(t *testing.T) {
	tenancy.Differs(t, "documents have the tenant's fields too")
	rounds := 30
	if os.Getenv("DOCMODEL_FULL") != "" {
		rounds = 2000
	}
	for seed := range rounds {
		x := newTrial(t, seed)
		for range 25 {
			x.step()
			if t.Failed() {
				return
			}
		}
	}
}

func newTrial(t *testing.T, seed int) *trial {
	x := &trial{t: t, r: rand.New(rand.NewPCG(uint64(seed), 7)), version: []string{"7.0", "8.0"}[seed%2]}
	x.key = []*keys.Shard[bson.D]{byDevice, byHash, bySpread, byReading, byReading2, byPlace}[seed/2%6]
	x.shards = mongotest.NewShards(3)
	client := mongotest.NewClient(t, x.shards, mongotest.Settings{Version: x.version})
	x.admin, x.coll = client.Database("admin"), client.Database("iot").Collection("readings")
	first := x.key
	if seed%5 == 0 {
		first = byPlace
	}
	x.command(first.Command("iot"))
	x.pattern = x.key.Command("iot")[1].Value.(bson.D)
	for range 12 {
		if _, err := x.coll.InsertOne(t.Context(), x.document()); err != nil &&
			!mongo.IsDuplicateKeyError(err) && !x.isLimit(err) {
			t.Fatal(err)
		}
	}
	if first != x.key {
		x.command(x.key.Reshard("iot"))
	}
	for range x.r.IntN(12) {
		// where a chunk begins already it is refused
		_ = x.admin.RunCommand(t.Context(), shardD("split", "iot.readings", "middle", x.edge())).Err()
		found := slices.Clone(x.pattern)
		for i := range found {
			found[i].Value = x.value()
		}
		x.command(shardD("moveChunk", "iot.readings", "find", found, "to", fmt.Sprintf("shard%d", x.r.IntN(3))))
	}
	x.shards.Touched()
	return x
}

func (x *trial) command(c bson.D) {
	x.t.Helper()
	if err := x.admin.RunCommand(x.t.Context(), c).Err(); err != nil {
		x.t.Fatalf("%s: %v", model.Shell(c), err)
	}
}

// edge is a random key at which a chunk may begin.
func (x *trial) edge() bson.D {
	var at bson.D
	for i, e := range x.pattern {
		v := x.value()
		if i > 0 && x.r.IntN(2) == 0 {
			v = bson.MinKey{}
		} else if e.Value == "hashed" {
			v = x.r.Int64() - x.r.Int64()
		}
		at = append(at, bson.E{Key: e.Key, Value: v})
	}
	return at
}

func (x *trial) isLimit(err error) bool {
	var failed mongo.ServerError
	return errors.As(err, &failed) && failed.HasErrorCode(238)
}

func (x *trial) value() any {
	return []any{"a", "b", "c", "p", nil, 1, int64(1), 2.5, shardD("x", 1)}[x.r.IntN(9)]
}

func (x *trial) document() bson.D {
	d := shardD("_id", x.r.IntN(40), "n", x.r.IntN(3))
	for _, path := range []string{"device", "at", "site"} {
		if x.r.IntN(5) > 0 {
			d = append(d, bson.E{Key: path, Value: x.value()})
		}
	}
	return append(d, bson.E{Key: "place", Value: shardD("site", x.value())})
}

// paths are those that filters and updates of the trial name.
var paths = []string{"device", "at", "site", "place.site", "_id", "n"}

func (x *trial) condition(path string) any {
	v := func() any {
		if path == "_id" {
			return x.r.IntN(40)
		}
		return x.value()
	}
	switch x.r.IntN(14) {
	case 0:
		return shardD("$in", bson.A{v(), v()})
	case 1:
		return shardD("$in", bson.A{v()})
	case 2:
		return shardD("$in", bson.A{})
	case 3:
		return shardD("$gt", []any{"a", "b", 1, shardD("x", 1)}[x.r.IntN(4)]) // nothing is greater than null
	case 4:
		return shardD("$gte", "a", "$lt", "c")
	case 5:
		return shardD("$ne", v())
	case 6:
		return shardD("$exists", x.r.IntN(2) == 0)
	case 7:
		return bson.Regex{Pattern: "^a"}
	case 8:
		return shardD("$not", shardD("$gt", "b"))
	}
	return mql.Eq(v())
}

func (x *trial) filter(depth int) bson.D {
	d := bson.D{}
	for _, path := range paths {
		isKey := slices.ContainsFunc(x.pattern, func(e bson.E) bool { return e.Key == path })
		if isKey && x.r.IntN(6) > 0 || !isKey && x.r.IntN(5) == 0 {
			d = append(d, bson.E{Key: path, Value: x.condition(path)})
		}
	}
	if x.r.IntN(12) == 0 {
		d = append(d, bson.E{Key: "place", Value: shardD("site", x.value())})
	}
	if depth > 0 && x.r.IntN(4) == 0 {
		d = append(d, bson.E{
			Key:   []string{"$or", "$and"}[x.r.IntN(2)],
			Value: bson.A{x.filter(depth - 1), x.filter(depth - 1)},
		})
	}
	return d
}

// whole is a filter by the key of a stored document, or a random one.
func (x *trial) whole() bson.D {
	var docs []bson.D
	cur, err := x.coll.Find(x.t.Context(), bson.D{})
	if err == nil {
		err = cur.All(x.t.Context(), &docs)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	x.shards.Touched()
	if len(docs) == 0 || x.r.IntN(3) > 0 {
		return x.filter(2)
	}
	doc, _ := bson.Marshal(docs[x.r.IntN(len(docs))])
	var d bson.D
	for _, e := range x.pattern {
		v, err := bson.Raw(doc).LookupErr(strings.Split(e.Key, ".")...)
		if err != nil {
			v = bson.RawValue{Type: bson.TypeNull}
		}
		d = append(d, bson.E{Key: e.Key, Value: shardD("$eq", v)})
	}
	return d
}

func (x *trial) update() any {
	path := paths[x.r.IntN(len(paths))]
	switch x.r.IntN(10) {
	case 0:
		return shardD("$set", shardD(path, x.value()))
	case 1:
		return shardD("$unset", shardD(path, ""))
	case 2:
		return mongo.Pipeline{shardD("$set", shardD("m", "$at"))}
	case 3:
		return shardD("$setOnInsert", shardD("m", 1))
	case 4:
		return shardD("$set", shardD("at", bson.A{1}))
	}
	return shardD("$inc", shardD("m", 1))
}

// A statement is what a trial does, and what the target says of it.
type statement struct {
	text               string
	target             keys.Target
	run                func() error
	multi, replacement bool
	modify             bool
}

func (x *trial) step() {
	x.t.Helper()
	s := x.statement()
	before := x.stored()
	x.shards.Touched()
	err := s.run()
	touched := x.shards.Touched()
	if len(touched) == 0 && err != nil { // refused as it was read
		return
	}
	if len(touched) != 1 {
		x.t.Fatalf("%s: %d statements: %+v, %v", s.text, len(touched), touched, err)
	}
	if problem := x.compare(s, touched[0], slices.Equal(before, x.stored())); problem != "" {
		x.t.Errorf("MongoDB %s, key %s: %s: %+v, but %s: %+v", x.version, model.Shell(x.pattern), s.text,
			s.target, problem, touched[0])
	}
}

// stored are the shard keys that are stored, byte by byte.
func (x *trial) stored() (out []string) {
	cur, err := x.coll.Find(x.t.Context(), bson.D{}, options.Find().SetSort(shardD("_id", 1)))
	var docs []bson.Raw
	if err == nil {
		err = cur.All(x.t.Context(), &docs)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	for _, doc := range docs {
		s := fmt.Sprint(doc.Lookup("_id"))
		for _, e := range x.pattern {
			v, _ := doc.LookupErr(strings.Split(e.Key, ".")...)
			s += fmt.Sprintf(" %v %x", v.Type, v.Value)
		}
		out = append(out, s)
	}
	return out
}

// compare says how a statement and its target differ.
func (x *trial) compare(s statement, touch mongotest.Touch, sameKeys bool) string {
	refused := slices.Contains([]int32{61, 72, 54, 20, 31025}, touch.Code)
	n := len(touch.Shards)
	switch {
	case touch.Code == 238, touch.Code == 11000, touch.Code == 66: // the simulated cluster's limit, or not about shards
		return ""
	case touch.Code == 54 && strings.HasSuffix(s.text, "upsert true"): // the filter gives a field twice
		return ""
	case s.target.Since != "" && x.version == "7.0":
		if !refused && (n > 1 || s.modify) {
			return "MongoDB 7.0 doesn't refuse it"
		}
		return ""
	case s.target.Scope == keys.NoShard && strings.HasPrefix(s.target.Why, "no document can match"):
		if refused || n > 1 {
			return "it isn't one shard"
		}
		return ""
	case s.target.Scope == keys.NoShard:
		found := strings.HasPrefix(s.target.Why, "changes") || strings.HasPrefix(s.target.Why, "updateMany can't change") ||
			strings.HasPrefix(s.target.Why, "makes") || strings.HasPrefix(s.target.Why, "the _id")
		if !refused && !(found && sameKeys) { // what no document is found for isn't refused
			return "it isn't refused"
		}
		return ""
	case refused && touch.Code == 31025 && s.replacement && strings.Contains(s.target.Why, "replacement"):
		return ""
	case refused:
		return "it is refused"
	case s.target.Scope == keys.OneShard && (n != 1 || touch.Broadcast && !s.replacement):
		return "it isn't one shard"
	case s.target.Scope == keys.SomeShards && touch.Broadcast:
		return "it is broadcast"
	case s.target.Scope == keys.SomeShards && s.target.Ranges == 0 && n > s.target.Values:
		return "there are more shards than values"
	case s.target.Scope == keys.AllShards && s.target.Values+s.target.Ranges == 0 && !touch.Broadcast &&
		!(s.replacement && n == 1):
		return "it is targeted"
	}
	return ""
}

func (x *trial) statement() statement {
	ctx := x.t.Context()
	collection := func(m mongo.WriteModel) keys.Target {
		return targetOf(x.key, model.Write{Collection: "readings", Model: m})
	}
	filter, update, upsert := x.whole(), x.update(), x.r.IntN(4) == 0
	text := func(kind string, list ...any) string {
		for _, v := range list {
			kind += " " + model.Shell(v)
		}
		return fmt.Sprintf("%s, upsert %v", kind, upsert)
	}
	switch x.r.IntN(10) {
	case 0:
		m := &mongo.UpdateOneModel{Filter: filter, Update: update, Upsert: &upsert}
		return statement{text: text("updateOne", filter, update), target: collection(m), run: func() error {
			_, err := x.coll.UpdateOne(ctx, filter, update, options.UpdateOne().SetUpsert(upsert))
			return err
		}}
	case 1:
		m := &mongo.UpdateManyModel{Filter: filter, Update: update, Upsert: &upsert}
		return statement{text: text("updateMany", filter, update), target: collection(m), multi: true, run: func() error {
			_, err := x.coll.UpdateMany(ctx, filter, update, options.UpdateMany().SetUpsert(upsert))
			return err
		}}
	case 2:
		doc := x.document()[1:]
		m := &mongo.ReplaceOneModel{Filter: filter, Replacement: doc, Upsert: &upsert}
		return statement{text: text("replaceOne", filter, doc), target: collection(m), replacement: true, run: func() error {
			_, err := x.coll.ReplaceOne(ctx, filter, doc, options.Replace().SetUpsert(upsert))
			return err
		}}
	case 3:
		return statement{
			text:   text("deleteOne", filter),
			target: collection(&mongo.DeleteOneModel{Filter: filter}),
			run: func() error {
				_, err := x.coll.DeleteOne(ctx, filter)
				return err
			},
		}
	case 4:
		return statement{
			text:   text("deleteMany", filter),
			target: collection(&mongo.DeleteManyModel{Filter: filter}),
			multi:  true,
			run: func() error {
				_, err := x.coll.DeleteMany(ctx, filter)
				return err
			},
		}
	case 5:
		m := model.FindAndModify{Collection: "readings", Filter: filter, Update: update, Upsert: upsert}
		return statement{
			text: text("findAndModify", filter, update), target: targetOf(x.key, m), modify: true,
			run: func() error {
				err := x.coll.FindOneAndUpdate(ctx, filter, update, options.FindOneAndUpdate().SetUpsert(upsert)).Err()
				if errors.Is(err, mongo.ErrNoDocuments) {
					return nil
				}
				return err
			},
		}
	case 6:
		doc := x.document()
		if x.r.IntN(4) == 0 {
			doc = append(doc[:2:2], bson.E{Key: "device", Value: bson.A{"a"}})
		}
		return statement{
			text:   text("insert", doc),
			target: collection(&mongo.InsertOneModel{Document: doc}),
			run: func() error {
				_, err := x.coll.InsertOne(ctx, doc)
				return err
			},
		}
	case 7:
		pipeline := mongo.Pipeline{shardD("$match", filter), shardD("$match", x.filter(0)), shardD("$count", "n")}
		a := model.Aggregation{Collection: "readings", Pipeline: pipeline}
		return statement{text: text("aggregate", pipeline), target: targetOf(x.key, a), run: func() error {
			_, err := x.coll.Aggregate(ctx, pipeline)
			return err
		}}
	}
	q := model.Query{Collection: "readings", Filter: filter}
	opts := options.Find()
	if x.r.IntN(4) == 0 {
		q.Options.Collation = &options.Collation{Locale: "de"}
		opts.SetCollation(q.Options.Collation)
	}
	return statement{text: text("find", filter), target: targetOf(x.key, q), run: func() error {
		_, err := x.coll.Find(ctx, filter, opts)
		return err
	}}
}
