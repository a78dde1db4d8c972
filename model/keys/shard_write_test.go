package keys_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestShardWrites(t *testing.T) {
	yes := true
	id := bson.ObjectID{1}
	whole, some, none := shardD("device", "a", "at", 1), shardD("device", "a"), shardD("n", 1)
	set := func(pairs ...any) bson.D { return shardD("$set", shardD(pairs...)) }
	one, ranged, all := keys.Target{Scope: keys.OneShard, Values: 1},
		keys.Target{Scope: keys.SomeShards, Ranges: 1}, keys.Target{Scope: keys.AllShards}
	no := keys.Target{Scope: keys.NoShard}
	later := func(t keys.Target) keys.Target {
		t.Since = "7.1"
		return t
	}
	for _, test := range []struct {
		reason string
		key    *keys.Shard[bson.D]
		model  mongo.WriteModel
		want   keys.Target
	}{
		{"insert", byDevice, &mongo.InsertOneModel{Document: shardD("_id", id, "device", "a", "at", 1)}, one},
		{"insert without a field", byDevice, &mongo.InsertOneModel{Document: shardD("_id", id, "at", 1)}, one},
		{
			reason: "insert of an array", key: byDevice,
			model: &mongo.InsertOneModel{Document: shardD("_id", id, "device", bson.A{"a"}, "at", 1)},
			want:  no,
		},
		{"updateOne by the key", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("n", 1)}, one},
		{"updateOne by _id", byDevice, &mongo.UpdateOneModel{Filter: shardD("_id", id), Update: set("n", 1)}, all},
		{
			reason: "updateOne by _id and a part", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: shardD("_id", id, "device", "a"), Update: set("n", 1)},
			want:  keys.Target{Scope: keys.AllShards, Ranges: 1},
		},
		{
			reason: "updateOne by two _ids", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: shardD("_id", shardD("$in", bson.A{id, 2})), Update: set("n", 1)},
			want:  later(all),
		},
		{"updateOne by a part", byDevice, &mongo.UpdateOneModel{Filter: some, Update: set("n", 1)}, later(ranged)},
		{"updateOne by neither", byDevice, &mongo.UpdateOneModel{Filter: none, Update: set("n", 1)}, later(all)},
		{"upsert by the key", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("n", 1), Upsert: &yes}, one},
		{"upsert by _id", byDevice, &mongo.UpdateOneModel{Filter: shardD("_id", id), Update: set("n", 1), Upsert: &yes}, no},
		{"upsert by a part", byDevice, &mongo.UpdateOneModel{Filter: some, Update: set("n", 1), Upsert: &yes}, no},
		{
			reason: "upsert by _id that is the key", key: byReading,
			model: &mongo.UpdateOneModel{
				Filter: shardD("_id", id),
				Update: shardD("$setOnInsert", shardD("_id", id)),
				Upsert: &yes,
			},
			want: one,
		},
		{"deleteOne by the key", byDevice, &mongo.DeleteOneModel{Filter: whole}, one},
		{"deleteOne by _id", byDevice, &mongo.DeleteOneModel{Filter: shardD("_id", id)}, all},
		{"deleteOne by neither", byDevice, &mongo.DeleteOneModel{Filter: none}, later(all)},
		{"deleteMany", byDevice, &mongo.DeleteManyModel{Filter: some}, keys.Target{Scope: keys.AllShards, Ranges: 1}},
		{"updateMany", byDevice, &mongo.UpdateManyModel{Filter: none, Update: set("n", 1)}, all},
		{"updateMany upsert", byDevice, &mongo.UpdateManyModel{Filter: none, Update: set("n", 1), Upsert: &yes}, no},
		{
			reason: "updateMany upsert by the key", key: byDevice,
			model: &mongo.UpdateManyModel{Filter: whole, Update: set("n", 1), Upsert: &yes},
			want:  one,
		},
		{"updateMany of the key", byDevice, &mongo.UpdateManyModel{Filter: some, Update: set("at", 1)}, no},
		{"the key changes", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("at", 2)}, one},
		{"the key stays", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("device", "a")}, one},
		{"the key changes its type", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("at", int64(1))}, one},
		{"the key becomes an array", byDevice, &mongo.UpdateOneModel{Filter: whole, Update: set("at", bson.A{1})}, no},
		{
			reason: "upsert of a missing key", key: byDevice,
			model: &mongo.UpdateOneModel{
				Filter: shardD("device", "a", "at", shardD("$exists", false)),
				Update: set("n", 1), Upsert: &yes,
			},
			want: no,
		},
		{
			reason: "the key changes, and isn't given", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: shardD("_id", id), Update: set("at", 2)},
			want:  no,
		},
		{
			reason: "a part of the key changes by $inc", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: some, Update: shardD("$inc", shardD("at", 2))},
			want:  no,
		},
		{"below the key", byDevice, &mongo.UpdateOneModel{Filter: some, Update: set("at.x", 2)}, no},
		{
			reason: "renamed to the key", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: some, Update: shardD("$rename", shardD("x", "at"))},
			want:  no,
		},
		{"by a pipeline", byDevice, &mongo.UpdateOneModel{Filter: some, Update: mongo.Pipeline{set("at", "$x")}}, no},
		{
			reason: "unset by a pipeline", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: some, Update: mongo.Pipeline{shardD("$unset", bson.A{"x", "at"})}},
			want:  no,
		},
		{
			reason: "a pipeline of other fields", key: byDevice,
			model: &mongo.UpdateOneModel{Filter: whole, Update: mongo.Pipeline{set("x", "$at"), shardD("$unset", "y")}},
			want:  one,
		},
		{
			reason: "the _id as key changes", key: byReading,
			model: &mongo.UpdateOneModel{Filter: shardD("_id", id), Update: set("_id", bson.ObjectID{2})},
			want:  no,
		},
		{"the _id as key stays", byReading, &mongo.UpdateOneModel{Filter: shardD("_id", id), Update: set("_id", id)}, one},
		{
			reason: "replaceOne by the key", key: byDevice,
			model: &mongo.ReplaceOneModel{Filter: whole, Replacement: shardD("device", "a", "at", "x")},
			want:  one,
		},
		{"replaceOne that moves", byDevice, &mongo.ReplaceOneModel{Filter: whole, Replacement: shardD("device", "a")}, one},
		{
			reason: "replaceOne by _id", key: byDevice,
			model: &mongo.ReplaceOneModel{Filter: shardD("_id", id), Replacement: shardD("device", "a")},
			want:  one,
		},
		{"replaceOne by neither", byDevice, &mongo.ReplaceOneModel{Filter: none, Replacement: shardD("device", "a")}, all},
		{"without a model", byDevice, nil, no},
	} {
		got := targetOf(test.key, model.Write{Collection: "readings", Model: test.model})
		if !sameTarget(got, test.want) {
			t.Errorf("%s: %+v", test.reason, got)
		}
		wantMove := strings.HasPrefix(test.reason, "the key changes") && test.want.Scope == keys.OneShard ||
			test.reason == "replaceOne that moves" || test.reason == "replaceOne by the key"
		if strings.Contains(got.Why, "retryable") != wantMove {
			t.Errorf("%s: %s", test.reason, got)
		}
	}
	for reason, test := range map[string]struct {
		m    model.FindAndModify
		want keys.Target
	}{
		"by the key":   {readings.Modify(whole, set("n", 1)).FindAndModify, one},
		"by a part":    {readings.Modify(some, set("n", 1)).FindAndModify, later(ranged)},
		"by _id alone": {readings.Modify(shardD("_id", id), set("n", 1)).FindAndModify, later(all)},
		"elsewhere":    {posts.Modify(shardD("n", 1), set("n", 1)).FindAndModify, keys.Target{Scope: keys.OneShard}},
	} {
		if got := targetOf(byDevice, test.m); !sameTarget(got, test.want) {
			t.Errorf("findAndModify %s: %+v", reason, got)
		}
	}
	p := model.NewPlan(readings.Insert(shardD("_id", id, "device", "a", "at", 1)), readings.Delete(id),
		posts.Insert(shardD("_id", "b :a1", "book", "b", "n", 1)),
		model.MergeInto{
			Collection: "readings",
			Pipeline:   mongo.Pipeline{shardD("$match", some), shardD("$merge", shardD("into", "x"))},
		})
	iot := model.New("iot", byDevice)
	if got := fmt.Sprint(keys.Targets(iot, p)); strings.Count(got, ": ") < 4 || len(keys.Targets(iot, p)) != 4 ||
		!sameTarget(keys.Targets(iot, p)[3], ranged) {
		t.Errorf("a plan: %s", got)
	}
	if got := targetOf(byDevice, model.Refused("readings", errors.New("no"))); got.Scope != keys.NoShard {
		t.Errorf("a refused write: %+v", got)
	}
}
