// These operations of each technique are what the tests of package_keyed_worlds_test.go run.

package keys_test

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func sequenceSteps() []worldStep {
	s := worldSequence
	out := []worldStep{
		wrote("open", s.Open("alice")), wrote("open again", s.Open("alice")),
		{"take", func(ctx context.Context, db model.DB) (any, error) { return s.Take("alice", 3).Run(ctx, db) }},
		changed("insert 1", worldMail.Insert(keyedLetter{ID: "alice_001", Text: "one"})),
		changed("insert 1 again", worldMail.Insert(keyedLetter{ID: "alice_001", Text: "one"})),
		changed("a taken number", worldMail.Insert(keyedLetter{ID: "alice_001", Text: "other"})),
		changed("insert 3", worldMail.Insert(keyedLetter{ID: "alice_003", Text: "three"})),
		{"allocate", func(ctx context.Context, db model.DB) (any, error) { return s.Allocator(db, 2).Next(ctx, "alice") }},
		changed("insert 4", worldMail.Insert(keyedLetter{ID: "alice_004", Text: "four"})),
		changed("insert of bob", worldMail.Insert(keyedLetter{ID: "bob_002", Text: "b"})), found("at", s.At("alice", 3)),
		found("at none", s.At("alice", 2)), found("previous", s.Previous("alice", 4)),
		found("following", s.Following("alice", 1)), found("range", s.Range("alice", 2, 4)),
		found("newest", s.Newest("alice")), found("gaps", s.Gaps()), paged("pages", s.Newest("alice")),
		wrote("pack", s.Days.Pack("alice", 1, worldDay)), wrote("pack 3", s.Days.Pack("alice", 3, worldDay)),
		wrote("unpack", s.Days.Unpack("alice", 1, worldDay)),
		found("day", s.Days.Range("alice", "2026-11-29", "2026-11-29")),
		found("days", s.Days.Range("alice", "2026-11-01", "2026-12-01")),
		found("days before", s.Days.Before("alice", "2026-11-30")),
		found("days after", s.Days.After("alice", "2026-11-28")),
		found("packed", s.Days.Packed(keys.DayBucket{Keys: []string{"alice_003", "alice_004"}})),
		found("unpacked", s.Days.Unpacked("alice")),
	}
	out = append(out, checked(s.Checks())...)
	out = append(out, worldStep{"repair", func(ctx context.Context, db model.DB) (any, error) {
		return nil, second(s.Checks()[0].Job().Run(ctx, db, model.JobOptions{}))
	}})
	out = append(out, checked(s.Checks())...)
	return append(out,
		wrote("raise", s.Raise("alice", 9)),
		wrote("a stranger", worldLetters.Insert(keyedLetter{ID: "stranger"})), checked(s.Checks())[2],
		found("by id", worldLetters.ByID("alice_003")),
		found("by ids",
			worldLetters.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: []string{"alice_003", "bob_002"}}}}})),
		found("by pattern",
			worldLetters.Find(bson.D{{Key: "_id", Value: bson.Regex{Pattern: "^alice"}}}).
				Sorted(bson.D{{Key: "_id", Value: -1}})),
		found("by patterns",
			worldLetters.Find(bson.D{{
				Key:   "_id",
				Value: bson.D{{Key: "$in", Value: bson.A{bson.Regex{Pattern: "^alice"}, "bob_002"}}},
			}}).Sorted(bson.D{{Key: "_id", Value: -1}})),
		found("from an id",
			worldLetters.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: "alice_003"}}}}).
				Sorted(bson.D{{Key: "_id", Value: 1}})),
		found("to an id",
			worldLetters.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$lte", Value: "bob"}}}}).
				Sorted(bson.D{{Key: "_id", Value: 1}})),
		wrote("update", worldLetters.Update("alice_003", bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 5}}}})),
		wrote("an update by a pipeline", model.Write{
			Collection: "wLetters", Idempotent: true,
			Model: &mongo.UpdateManyModel{Filter: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 0}}}},
				Update: mongo.Pipeline{{{
					Key:   "$set",
					Value: bson.D{{Key: "text", Value: bson.D{{Key: "$concat", Value: bson.A{"$text", " of ", "$_id"}}}}},
				}}}},
		}),
		wrote("a replacement by a pipeline", model.Write{
			Collection: "wLetters", Idempotent: true,
			Model: &mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: "bob_002"}},
				Update: mongo.Pipeline{{{
					Key:   "$replaceWith",
					Value: bson.D{{Key: "$mergeObjects", Value: bson.A{"$$ROOT", bson.D{{Key: "text", Value: "$$ROOT._id"}}}}},
				}}}},
		}),
		worldStep{"modify", func(ctx context.Context, db model.DB) (any, error) {
			m := worldLetters.Modify(bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: "alice"}}}}, bson.D{{
				Key: "$inc", Value: bson.D{{Key: "n", Value: 1}},
			}})
			m.Sort, m.After, m.Projection = bson.D{{Key: "_id", Value: -1}}, true, bson.D{{Key: "n", Value: 1}}
			return m.Run(ctx, db)
		}},
		worldStep{"count", func(ctx context.Context, db model.DB) (any, error) {
			return worldLetters.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: "b"}}}}).Count(ctx, db)
		}},
		wrote("delete", worldLetters.Delete("stranger")), wrote("delete again", worldLetters.Delete("stranger")),
		found("all", worldLetters.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}})),
	)
}

func compositeSteps() []worldStep {
	c, s := worldComposite, worldStore
	place := func(state, city string, user int64) keyedPlace {
		return keyedPlace{State: state, City: city, User: user}
	}
	moved := place("CA", "San Francisco", 2)
	moved.ID, _ = c.Key(&moved)
	again := moved
	return []worldStep{
		changed("insert", s.Insert(place("CA", "San Francisco", 1))),
		changed("insert again", s.Insert(place("CA", "San Francisco", 1))),
		changed("insert many",
			s.InsertMany(place("CA", "San Francisco", 2), place("CA", "San Jose", -3), place("NV", "Reno", 10),
				place("NV", "Reno", 9))),
		changed("a taken key", s.Insert(keyedPlace{State: "NV", City: "Reno", User: 10, Near: []string{"x"}})),
		found("prefix", c.Prefix("CA")), found("prefix of two", c.Prefix("CA", "San Francisco")),
		found("prefix of three", c.Prefix("NV", "Reno", 10)), found("no prefix", c.Prefix()),
		found("part of a text", c.Prefix("CA", "San")), found("range", c.Range([]any{"NV", "Reno"}, 9, 10)),
		found("open range", c.Range([]any{"CA"}, "San G", nil)), found("starting with", c.StartingWith([]any{"CA"}, "San")),
		found("counts", c.Counts("CA")), found("all counts", c.Counts()), paged("pages", c.Prefix()),
		paged("pages backwards", c.Prefix("CA").Sorted(bson.D{{Key: "_id", Value: -1}})),
		{"move", func(ctx context.Context, db model.DB) (any, error) {
			p := c.Move(&moved, place("CA", "Oakland", 2))
			p.Options.AllowPartial = true
			return nil, second(p.Run(ctx, db))
		}},
		{"move again", func(ctx context.Context, db model.DB) (any, error) {
			p := c.Move(&again, place("CA", "Oakland", 2))
			p.Options.AllowPartial = true
			return nil, second(p.Run(ctx, db))
		}},
		wrote("a part",
			worldPlaces.Update("NV :Reno :a9", bson.D{{Key: "$set", Value: bson.D{{Key: "city", Value: "Elko"}}}})),
		{"rekey", func(ctx context.Context, db model.DB) (any, error) {
			return nil, second(c.Rekey().Run(ctx, db, model.JobOptions{BatchSize: 2}))
		}},
		found("all", c.Prefix()),
		wrote("nearby",
			worldPlaces.Update("NV :Elko :a9", bson.D{{
				Key:   "$set",
				Value: bson.D{{Key: "near", Value: []string{"NV :Reno :b10"}}},
			}})),
		wrote("nearby again",
			worldPlaces.Update("NV :Reno :b10", bson.D{{
				Key:   "$set",
				Value: bson.D{{Key: "near", Value: []string{"CA :Oakland :a2"}}},
			}})),
		found("graph", model.AggregateAs[bson.D](worldPlaces, mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: "NV :Elko :a9"}}}},
			{{
				Key: "$graphLookup",
				Value: bson.D{
					{Key: "from", Value: "wPlaces"}, {Key: "startWith", Value: "$near"}, {Key: "connectFromField", Value: "near"},

					{Key: "connectToField", Value: "_id"}, {Key: "as", Value: "all"},
				},
			}},
			{{
				Key: "$set",
				Value: bson.D{{
					Key:   "all",
					Value: bson.D{{Key: "$sortArray", Value: bson.D{{Key: "input", Value: "$all._id"}, {Key: "sortBy", Value: 1}}}},
				}},
			}},
		})),
		found("graph back", model.AggregateAs[bson.D](worldPlaces, mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: "CA :Oakland :a2"}}}},
			{{
				Key: "$graphLookup",
				Value: bson.D{
					{Key: "from", Value: "wPlaces"}, {Key: "startWith", Value: "$_id"}, {Key: "connectFromField", Value: "_id"},

					{Key: "connectToField", Value: "near"}, {Key: "as", Value: "all"},
				},
			}},
			{{
				Key: "$set",
				Value: bson.D{{
					Key:   "all",
					Value: bson.D{{Key: "$sortArray", Value: bson.D{{Key: "input", Value: "$all._id"}, {Key: "sortBy", Value: 1}}}},
				}},
			}},
		})),
	}
}

func documentKeySteps() []worldStep {
	x := worldDocuments
	room := func(house string, floor int64, door string) keyedRoom {
		return keyedRoom{ID: keyedRoomID{house, floor, door}, Name: house + door}
	}
	out := []worldStep{
		wrote("insert", worldRooms.Insert(room("a", 1, "x"))), wrote("insert again", worldRooms.Insert(room("a", 1, "x"))),
		wrote("insert many",
			worldRooms.InsertMany([]keyedRoom{room("a", 1, "y"), room("a", 2, "x"), room("b", 1, "x"), room("a", 10, "z")})),
		wrote("another", worldRooms.Insert(keyedRoom{ID: keyedRoomID{"a", 1, "x"}, Name: "other"})),
		found("prefix", x.Prefix("a")), found("prefix of two", x.Prefix("a", 1)),
		found("prefix of three", x.Prefix("a", 1, "x")), found("no prefix", x.Prefix()),
		found("range", x.Range([]any{"a"}, 2, 10)), found("open range", x.Range([]any{"a"}, 2, nil)),
		paged("pages", x.Prefix("a")),
		found("by a part",
			worldRooms.Find(bson.D{{Key: "_id.house", Value: "a"}, {Key: "_id.floor", Value: bson.D{{Key: "$gt", Value: 1}}}}).
				Sorted(bson.D{{Key: "_id", Value: 1}})),
		found("sorted by parts",
			worldRooms.Find(nil).
				Sorted(bson.D{{Key: "_id.door", Value: 1}, {Key: "_id.floor", Value: -1}, {Key: "_id.house", Value: 1}})),
		paged("pages by a part", worldRooms.Find(nil).Sorted(bson.D{{Key: "_id.door", Value: -1}})),
		found("by an expression",
			worldRooms.Find(bson.D{{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{"$_id.door", "x"}}}}}).
				Sorted(bson.D{{Key: "_id", Value: 1}})),
		found("a projection", projected(worldRooms.Find(nil), bson.D{{Key: "_id.door", Value: 1}, {Key: "name", Value: 1}})),
		found("without a part", projected(worldRooms.Find(nil), bson.D{{Key: "_id.door", Value: 0}})),
		found("a pipeline", model.AggregateAs[bson.D](worldRooms, mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id.house", Value: "a"}}}},
			{{Key: "$sort", Value: bson.D{{Key: "_id.door", Value: 1}, {Key: "_id.floor", Value: 1}}}},
			{{
				Key:   "$group",
				Value: bson.D{{Key: "_id", Value: "$_id.floor"}, {Key: "doors", Value: bson.D{{Key: "$push", Value: "$_id.door"}}}},
			}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		})),
		wrote("update",
			worldRooms.Update(keyedRoomID{"a", 1, "x"}, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "new"}}}})),
		wrote("a copy of a part", model.Write{
			Collection: "wRooms", Idempotent: true,
			Model: &mongo.UpdateManyModel{Filter: bson.D{{Key: "_id.house", Value: "a"}},
				Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "up", Value: "$_id.door"}}}}}},
		}),
		wrote("delete", worldRooms.Delete(keyedRoomID{"a", 1, "y"})), found("all", x.Prefix()),
		note(keyedNote{Letter: "alice_003", Places: []string{"CA :Oakland :a2", "NV :Elko :a9", "none"}, Rooms: []struct {
			Doors []string `bson:"doors"`
		}{{[]string{"alice_001", "none"}}, {[]string{"alice_004"}}}}),
	}
	join := func(name, from, collection, local, foreign string) worldStep {
		return found(name, model.AggregateAs[bson.D](model.NewCollection[bson.D, any](from), mongo.Pipeline{
			{{
				Key: "$lookup",
				Value: bson.D{
					{Key: "from", Value: collection}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign},
					{Key: "as", Value: "all"},

					{Key: "pipeline", Value: bson.A{bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}}},
				},
			}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		}))
	}
	return append(out,
		join("to one", "wNotes", "wLetters", "letter", "_id"), join("to many", "wNotes", "wPlaces", "places", "_id"),
		join("through arrays", "wNotes", "wLetters", "rooms.doors", "_id"),
		join("from one", "wLetters", "wNotes", "_id", "letter"), join("from many", "wPlaces", "wNotes", "_id", "places"),
		join("by a part", "wRooms", "wRooms", "_id.door", "_id.door"),
		join("to oneself", "wRooms", "wRooms", "_id", "_id"), join("from a part", "wRooms", "wLetters", "_id.house", "text"),
		found("united", model.AggregateAs[bson.D](worldNotes, mongo.Pipeline{
			{{Key: "$unionWith", Value: "wLetters"}}, {{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		})),
		found("an expression", model.AggregateAs[bson.D](worldNotes, mongo.Pipeline{{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: "wLetters"}, {Key: "let", Value: bson.D{{Key: "l", Value: "$letter"}}},
			{Key: "as", Value: "all"},
			{
				Key: "pipeline",
				Value: mongo.Pipeline{{{
					Key:   "$match",
					Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{"$_id", "$$l"}}}}},
				}}},
			},
		}}}})),
		wrote("merge", model.NewPlan(model.MergeInto{Collection: "wNotes", Idempotent: true, Pipeline: mongo.Pipeline{
			{{Key: "$project", Value: bson.D{{Key: "_id", Value: "$letter"}, {Key: "text", Value: "$_id"}}}},
			{{
				Key: "$merge",
				Value: bson.D{{Key: "into", Value: "wLetters"}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: bson.A{
					bson.D{{
						Key: "$set",
						Value: bson.D{{
							Key:   "text",
							Value: bson.D{{Key: "$concat", Value: bson.A{"$$new.text", " into ", "$_id", " by ", "$$new._id"}}},
						}},
					}},
				}}, {Key: "whenNotMatched", Value: "insert"}},
			}},
		}})),
		found("letters at the end", worldLetters.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}})),
	)
}
