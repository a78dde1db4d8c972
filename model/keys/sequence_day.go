package keys

import (
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A DayBucket lists the keys of an owner's documents of one day.
type DayBucket struct {
	ID   string   `bson:"_id"`            // the owner and the day: alice_2026-11-21
	Keys []string `bson:"keys,omitempty"` // in the order of packing
}

// DayKey returns the _id of an owner's bucket of a day: "alice_2026-11-21". It returns a [*model.ValueError] for an owner that
// [Sequence.Key] refuses, and for a day that is not valid. It is for buckets of any kind, the caller's own too; as texts, the keys
// of an owner's days follow each other as the days do. Keep them in a collection of their own: they would lie among the numbers.
func (s *Sequence[D, K]) DayKey(owner K, day Day) (string, error) { return s.in.dayKey(owner, day) }

// ParseDayKey returns the owner and the day of a bucket's key, or a [*model.ValueError] for a string that [Sequence.DayKey] doesn't
// make.
func (s *Sequence[D, K]) ParseDayKey(key string) (owner K, day Day, err error) {
	day, err = s.in.parseDay(key, &owner)
	return owner, day, err
}

// Pack returns the write that lists an owner's document in the bucket of the day that a time belongs to, by the spec's Location. It is
// idempotent, so that one plan that inserts a document and packs it can be run again from any cut; packing it under another time as
// well lists it twice. A bucket must stay below 16 MiB: about 300,000 keys. It needs a spec with Days, as
// all methods that take or return a [DayBucket] do.
//
// Cost: one command, one document by _id. What was stored and not packed, [Sequence.Unpacked] finds.
func (s *Sequence[D, K]) Pack(owner K, n int64, at time.Time) model.Write {
	return s.in.pack(owner, n, at, "$addToSet")
}

// Unpack returns the write that takes a document's key off its day's bucket: for one that is deleted, or whose time changed. It can be
// run again.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Unpack(owner K, n int64, at time.Time) model.Write {
	return s.in.pack(owner, n, at, "$pull")
}

// Day returns the query of an owner's bucket of a day. None is model.ErrNotFound.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Day(owner K, day Day) model.Find[DayBucket] {
	key, err := s.in.dayKey(owner, day)
	return s.dayFind(bson.D{{Key: "_id", Value: key}}, 1, err)
}

// Days returns the query of an owner's buckets from one day to another, both included, the earliest first; days of which nothing was
// packed have none.
//
// Cost: one command, and one per further batch; served by _id.
func (s *Sequence[D, K]) Days(owner K, from, to Day) model.Find[DayBucket] {
	filter, err := s.in.dayRange(owner, "$gte", from, "$lte", to)
	return s.dayFind(filter, 1, err)
}

// DaysBefore returns the query of an owner's buckets before a day, the latest first: One gives the previous day that has any, or
// model.ErrNotFound.
//
// Cost: as [Sequence.Days].
func (s *Sequence[D, K]) DaysBefore(owner K, day Day) model.Find[DayBucket] {
	filter, err := s.in.dayRange(owner, "$gte", firstDay, "$lt", day)
	return s.dayFind(filter, -1, err)
}

// DaysAfter returns the query of an owner's buckets after a day, the earliest first: One gives the next day that has any, or
// model.ErrNotFound.
//
// Cost: as [Sequence.Days].
func (s *Sequence[D, K]) DaysAfter(owner K, day Day) model.Find[DayBucket] {
	filter, err := s.in.dayRange(owner, "$gt", day, "$lte", lastDay)
	return s.dayFind(filter, 1, err)
}

func (s *Sequence[D, K]) dayFind(filter bson.D, direction int, err error) model.Find[DayBucket] {
	if err == nil && s.days == nil {
		err = s.in.noDays()
	}
	if err != nil {
		return model.Find[DayBucket]{Query: model.Query{Collection: s.in.days, Err: err}}
	}
	f := s.days.Find(filter)
	f.Sort, f.Index = bson.D{{Key: "_id", Value: direction}}, model.IDIndex
	return f
}

// Packed returns the query of the documents that a bucket lists, in the order of keys; those that were deleted are left out.
//
// Cost: one command, served by _id.
func (s *Sequence[D, K]) Packed(bucket DayBucket) model.Find[D] {
	list := make(bson.A, len(bucket.Keys))
	for i, key := range bucket.Keys {
		list[i] = key
	}
	return s.find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: list}}}}, 1, nil)
}

// Unpacked returns the pipeline of an owner's documents that no bucket lists: stored by a writer who died before packing. Each is
// packed by its own time. Documents that were just stored may be about to be packed; packing them too does no harm.
//
// Cost: one command that reads the owner's documents, and looks for each into one bucket that lists it, by the index of
// [Sequence.Indexes]; of that it takes the _id alone.
func (s *Sequence[D, K]) Unpacked(owner K) model.Aggregate[D] {
	pipeline, err := s.in.unpacked(owner)
	a := model.AggregateAs[D](s.docs, pipeline)
	a.Index = model.IDIndex
	if err != nil {
		a.Err = err
	}
	return a
}

var firstDay, lastDay = Day{0, time.January, 1}, Day{9999, time.December, 31}

func (s *sequence) noDays() error {
	return s.refused("Days", nil, "the sequence has no day buckets: give its spec Days")
}

func (s *sequence) dayKey(owner any, day Day) (string, error) {
	text, err := s.text(owner)
	if err == nil && !day.Valid() {
		err = s.refused("day", day.String(), "is no day of the years 0 to 9999")
	}
	if err != nil {
		return "", err
	}
	return text + "_" + day.String(), nil
}

func (s *sequence) parseDay(key string, into any) (Day, error) {
	text, of, _ := strings.Cut(key, "_")
	day, err := ParseDay(of)
	if err != nil || !s.owner(text, into) {
		return Day{}, s.refused("key", key, "is no owner and day, with \"_\" between")
	}
	return day, nil
}

func (s *sequence) pack(owner any, n int64, at time.Time, operator string) model.Write {
	key, err := s.key(owner, n)
	var id string
	if err == nil {
		id, err = s.dayKey(owner, DayOf(at, s.location))
	}
	if err == nil && s.days == "" {
		err = s.noDays()
	}
	if err != nil {
		return model.Refused(s.days, err)
	}
	m := &mongo.UpdateOneModel{Filter: bson.D{{Key: "_id", Value: id}}, Update: bson.D{{Key: operator, Value: bson.D{{Key: "keys", Value: key}}}}}
	w := model.Write{Collection: s.days, Index: model.IDIndex, Model: m}
	if operator == "$addToSet" {
		upsert := true
		m.Upsert = &upsert
	}
	return w
}

func (s *sequence) dayRange(owner any, low string, from Day, high string, to Day) (bson.D, error) {
	first, err := s.dayKey(owner, from)
	if err != nil {
		return nil, err
	}
	last, err := s.dayKey(owner, to)
	return seqRange(low, first, high, last), err
}

func (s *sequence) unpacked(owner any) (mongo.Pipeline, error) {
	filter, err := s.all(owner)
	if err == nil && s.days == "" {
		err = s.noDays()
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$replaceWith", Value: bson.D{{Key: "doc", Value: "$$ROOT"}}}}, // whose own fields are in nobody's way
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.days}, {Key: "localField", Value: "doc._id"}, {Key: "foreignField", Value: "keys"},
			{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$limit", Value: 1}}, {{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}}},
			{Key: "as", Value: "day"},
		}}},
		{{Key: "$match", Value: bson.D{{Key: "day", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$replaceWith", Value: "$doc"}},
	}, err
}

func (s *sequence) indexes() []model.Index {
	if s.days == "" {
		return nil
	}
	x := model.NewIndex(s.days, bson.D{{Key: "keys", Value: 1}})
	x.Why = "documents that no day bucket lists"
	return []model.Index{x}
}
