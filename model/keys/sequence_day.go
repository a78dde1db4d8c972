package keys

import (
	"cmp"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A DayBucket lists document keys for one owner and one day.
type DayBucket struct {
	ID   string   `bson:"_id"`            // owner and day, such as alice_2026-11-21
	Keys []string `bson:"keys,omitempty"` // in the order in which [Days.Pack] added them
}

// Days are a [Sequence]'s [DayBucket] documents, one for each owner and day. A day is a
// text in the format [time.DateOnly], "2026-11-21". In a query, a text that isn't a date,
// such as 2026-02-29, gives a [*model.ValueError].
type Days[D, K any] struct{ s *Sequence[D, K] }

// Parse returns the owner and the day of a bucket's _id, or a [*model.ValueError] for
// another string.
func (d *Days[D, K]) Parse(key string) (owner K, day string, err error) {
	day, err = d.s.in.ParseDay(key, &owner)
	return owner, day, err
}

// Pack returns the write that adds a document's key to the [DayBucket] of a day. Pass the
// document's owner and number n, and a time t of that day. The write is idempotent. A
// bucket can hold about 300,000 keys.
//
// Cost: one command, one document by _id.
func (d *Days[D, K]) Pack(owner K, n int64, t time.Time) model.Write {
	return d.s.in.Pack(owner, n, t, "$addToSet")
}

// Unpack returns the write that removes a document's key from a [DayBucket]. Pass the
// same arguments as to [Days.Pack]. The write can be run again.
//
// Cost: as [Days.Pack].
func (d *Days[D, K]) Unpack(owner K, n int64, t time.Time) model.Write {
	return d.s.in.Pack(owner, n, t, "$pull")
}

// Range returns the query of an owner's buckets between two days, both included, earliest
// first. For the bucket of one day, pass the day twice.
//
// Cost: one command, and one for each further batch; served by _id.
func (d *Days[D, K]) Range(owner K, start, end string) *model.Find[DayBucket] {
	filter, err := d.s.in.MatchDays(owner, "$gte", start, "$lte", end)
	return d.find(filter, 1, err)
}

// Before returns the query of an owner's buckets before a day, latest first.
//
// Cost: as [Days.Range].
func (d *Days[D, K]) Before(owner K, day string) *model.Find[DayBucket] {
	filter, err := d.s.in.MatchDays(owner, "$gte", "0000-01-01", "$lt", day)
	return d.find(filter, -1, err)
}

// After returns the query of an owner's buckets after a day, earliest first.
//
// Cost: as [Days.Range].
func (d *Days[D, K]) After(owner K, day string) *model.Find[DayBucket] {
	filter, err := d.s.in.MatchDays(owner, "$gt", day, "$lte", "9999-12-31")
	return d.find(filter, 1, err)
}

func (d *Days[D, K]) find(filter bson.D, direction int, err error) *model.Find[DayBucket] {
	if err = cmp.Or(err, d.s.in.RequireDays()); err != nil {
		return &model.Find[DayBucket]{Query: model.Query{Err: err}}
	}
	return inKeyOrder(d.s.days.Find(filter), direction, err)
}

// Packed returns the query of the documents that a bucket lists, in the order of _id.
//
// Cost: one command, served by _id.
func (d *Days[D, K]) Packed(bucket DayBucket) *model.Find[D] {
	return d.s.find(commands.MatchIDs(mql.Array(bucket.Keys)), 1, d.s.in.RequireDays())
}

// Unpacked returns an owner's documents that no bucket lists, because of a crash before
// [Days.Pack]. Call Pack for each, with the document's own time.
//
// Cost: one command that reads the owner's documents, and looks up a bucket for each by
// [Sequence].Indexes.
func (d *Days[D, K]) Unpacked(owner K) *model.Aggregate[D] {
	pipeline, err := d.s.in.FindUnpacked(owner)
	return commands.ServeAggregate(model.AggregateAs[D](d.s.docs, pipeline), model.IDIndex, err)
}
