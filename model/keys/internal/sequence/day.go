package sequence

import (
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// This file has the day buckets, which keys.Days shows to callers. A bucket lists the keys of one owner's documents of
// one day, in the collection that the spec names:
//
//	{_id: "alice_2026-11-21", keys: ["alice_000000000000000007", "alice_000000000000000008"]}

// RequireDays returns an error if the sequence has no day buckets.
func (s *Sequence) RequireDays() error {
	if s.days != "" {
		return nil
	}
	return s.Refuse("Days", nil, "the sequence has no day buckets: declare Days in its spec")
}

// isDay reports whether the calendar has a day of the years 0000 to 9999, such as 2026-11-21.
func isDay(day string) bool {
	_, err := time.Parse(time.DateOnly, day)
	return err == nil
}

// MakeDayKey returns the _id of an owner's bucket of a day.
func (s *Sequence) MakeDayKey(owner any, day string) (string, error) {
	text, err := s.encodeOwner(owner)
	if err == nil && !isDay(day) {
		err = s.Refuse("day", day, "isn't a day like 2006-01-02")
	}
	if err != nil {
		return "", err
	}
	return text + "_" + day, nil
}

// ParseDay decodes a bucket's _id. into is a pointer to an owner.
func (s *Sequence) ParseDay(key string, into any) (string, error) {
	text, day, _ := strings.Cut(key, "_")
	if !isDay(day) || !s.decodeOwner(text, into) {
		return "", s.Refuse("key", key, "isn't an owner, \"_\" and a day like 2006-01-02")
	}
	return day, nil
}

// Pack returns the update that adds the key of an owner's n-th document to the bucket of the day of at, or removes it.
// operator is $addToSet or $pull. Only the first creates a missing bucket.
func (s *Sequence) Pack(owner any, n int64, at time.Time, operator string) model.Write {
	key, err := s.MakeKey(owner, n)
	var id string
	if err == nil {
		id, err = s.MakeDayKey(owner, at.In(s.location).Format(time.DateOnly))
	}
	if err == nil {
		err = s.RequireDays()
	}
	if err != nil {
		return model.Refused(s.days, err)
	}
	m := &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: id}},
		Update: bson.D{{Key: operator, Value: bson.D{{Key: "keys", Value: key}}}},
	}
	w := model.Write{Collection: s.days, Index: model.IDIndex, Keyed: true, Model: m}
	if operator == "$addToSet" {
		upsert := true
		m.Upsert = &upsert
	}
	return w
}

// MatchDays matches an owner's buckets between two days. low and high are operators, as in matchNumbers. Days have a
// fixed length, so their texts sort as the days.
func (s *Sequence) MatchDays(owner any, low, from, high, to string) (bson.D, error) {
	first, err := s.MakeDayKey(owner, from)
	if err != nil {
		return nil, err
	}
	last, err := s.MakeDayKey(owner, to)
	return matchRange(low, first, high, last), err
}

// FindUnpacked returns the pipeline of an owner's documents whose keys are in no bucket. A crash between the insert of
// a document and Pack leaves such a document.
func (s *Sequence) FindUnpacked(owner any) (mongo.Pipeline, error) {
	filter, err := s.MatchBetween(owner, 0, s.Max)
	if err == nil {
		err = s.RequireDays()
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		// The document is put into a field, because it may have a field "day" of its own.
		{{Key: "$replaceWith", Value: bson.D{{Key: "doc", Value: "$$ROOT"}}}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.days}, {Key: "localField", Value: "doc._id"}, {Key: "foreignField", Value: "keys"},
			{
				Key: "pipeline",
				Value: mongo.Pipeline{{{Key: "$limit", Value: 1}},
					{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}},
			},
			{Key: "as", Value: "day"},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "day", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$replaceWith", Value: "$doc"}},
	}, err
}
