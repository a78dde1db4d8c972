package main

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/denorm/feed"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A record holds a bit of everything that one document can hold.
type (
	record struct {
		ID      int             `bson:"_id"`
		At      time.Time       `bson:"at"`
		Lines   []recordLine    `bson:"lines,omitempty"`
		Last    []int           `bson:"last,omitempty"`
		Stock   int64           `bson:"stock"`
		Views   int64           `bson:"views"`
		Version int64           `bson:"version"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
	recordLine struct {
		Key string `bson:"key"`
		N   int    `bson:"n"`
	}
)

const lines = 5

var (
	stored  = model.NewCollection[record, int]("records")
	inside  = embed.NewEmbedded[recordLine](stored, "lines", embed.EmbeddedSpec{Key: "key", Max: 100})
	counted = embed.NewVersioned(stored, embed.VersionedSpec{Tokens: "ops"})
	lastTen = bounded.New(stored, "last", bounded.Spec{Max: 10})
	views   = approximate.New(stored, "views", 100)
	aging   = schema.NewExpiry(stored, "at", schema.ExpirySpec{After: time.Hour, Archive: "recordsArchive"})
	seen    = feed.New(stored, "seen", record{ID: 1}, func(c feed.Change[record, int]) model.Plan {
		id, upsert := bson.D{{Key: "_id", Value: c.ID}}, true
		return model.NewPlan(model.Write{Collection: "seen", Model: &mongo.ReplaceOneModel{Filter: id, Replacement: bson.D{}, Upsert: &upsert}})
	}, feed.Spec{Since: "at"})

	firstRecord = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// recordAt is the time of a record, one of each minute.
func recordAt(i int) time.Time { return firstRecord.Add(time.Duration(i) * time.Minute) }

// records are n, by _id and by time.
var records = stock{
	name:    "records",
	indexes: []model.Technique{inside, counted, lastTen, views, aging}, // whose index on the time serves the feed too,
	load: func(ctx context.Context, s *site) error {
		return fill(ctx, s, s.n, stored.InsertMany, func(i int) record {
			r := record{ID: i, At: recordAt(i), Last: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Stock: 1_000_000, Version: 1}
			for k := range lines {
				r.Lines = append(r.Lines, recordLine{fmt.Sprint("line ", k), i})
			}
			return r
		})
	},
	trials: []trial{
		{"embed.Embedded", "Put", "the array", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write { return inside.Put(s.one(s.n), recordLine{"line 2", s.fresh()}) }, nil)
		}},
		{"embed.Embedded", "Elements", "the array", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 1, func() *model.Aggregate[embed.ElementOf[int, recordLine]] {
				return inside.Elements(bson.D{{Key: "key", Value: "line 2"}}, nil, s.one(s.n))
			})
		}},
		{"embed.Versioned", "Take", "nothing", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write { return counted.Take(s.one(s.n), "stock", 1, bson.NewObjectID()) }, nil)
		}},
		{"bounded.Bounded", "Push, of 10", "the kept few", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write { return lastTen.Push(s.one(s.n), s.fresh()) }, nil)
		}},
		{"approximate.Approximate", "Count, the one in 100 that is written", "nothing", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write { return views.Count(s.one(s.n), 1, 0) }, nil)
		}},
		{"schema.Expiry", "Live, 20 documents", "all documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 20, func() *model.Find[record] { return aging.Live(recordAt(s.n - 20).Add(time.Hour + time.Second)) })
		}},
		{"schema.Expiry", "Expired, 20 documents", "the documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 20, func() *model.Find[record] { return aging.Expired(recordAt(20).Add(time.Hour + time.Second)) })
		}},
		{"feed.Feed", "a poll, of nothing new", "what is new", func(ctx context.Context, s *site) step {
			poll := func() error {
				return seen.Stream().Run(ctx, s.db, model.StreamOptions{FromNow: true, Poll: true, Once: true, Wait: time.Millisecond})
			}
			begun := false
			return step{run: poll, before: func() error {
				if begun {
					return nil
				}
				begun = true
				return poll()
			}}
		}},
	},
}

// A letter is the n-th of its owner; a citizen is known by state, city and number.
type (
	letter struct {
		ID   string `bson:"_id"`
		Text string `bson:"text"`
	}
	citizen struct {
		ID    string `bson:"_id"`
		State string `bson:"state"`
		City  string `bson:"city"`
		User  int    `bson:"user"`
		Name  string `bson:"name"`
	}
)

const letters = 100 // of each owner

var (
	mail     = model.NewCollection[letter, string]("letters")
	counters = model.NewCollection[keys.SequenceCounter[string], string]("counters")
	mailbox  = keys.NewSequence(mail, counters, keys.SequenceSpec{Digits: 10})

	citizens = model.NewCollection[citizen, string]("citizens")
	known    = keys.NewComposite(citizens, keys.Text("state"), keys.Text("city"), keys.Int("user"))
)

func ownerOf(i int) string { return fmt.Sprintf("o%06d", i) }

// letterboxes are n letters, the first hundred of n/100 owners.
var letterboxes = stock{
	name:    "sequences",
	indexes: []model.Technique{mailbox},
	load: func(ctx context.Context, s *site) error {
		err := fill(ctx, s, s.n/letters, counters.InsertMany, func(i int) keys.SequenceCounter[string] {
			return keys.SequenceCounter[string]{ID: ownerOf(i), Last: letters}
		})
		if err != nil {
			return err
		}
		return fill(ctx, s, s.n/letters*letters, mail.InsertMany, func(i int) letter {
			key, _ := mailbox.Key(ownerOf((i-1)/letters+1), int64((i-1)%letters+1)) // an empty key would be taken
			return letter{key, fmt.Sprint("letter ", i)}
		})
	},
	trials: []trial{
		{"keys.Sequence", "Append, in a transaction", "nothing", func(ctx context.Context, s *site) step {
			return changing(ctx, s, func() model.ChangeOf[int64] {
				return mailbox.Append(ownerOf(s.one(s.n/letters)), letter{Text: "one more"})
			}, nil)
		}},
		{"keys.Sequence", "Take and Insert", "nothing", func(ctx context.Context, s *site) step {
			return step{run: func() error {
				owner := ownerOf(s.one(s.n / letters))
				take := mailbox.Take(owner, 1)
				counter, err := take.Run(ctx, s.db)
				if err != nil {
					return err
				}
				key, err := mailbox.Key(owner, counter.Last)
				if err != nil {
					return err
				}
				doc := letter{ID: key, Text: "one more"}
				s.price = take.Cost().Plus(mail.Insert(doc).Cost())
				return change(ctx, s, storeOf(mailbox, mail).Insert(doc))
			}}
		}},
		{"keys.Sequence", "Newest 20", "what is asked for", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 20, func() *model.Find[letter] { return mailbox.Newest(ownerOf(s.one(s.n / letters))).Limited(20) })
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		return s.clean(ctx, mailbox.Checks())
	},
}

// citizenOf is the i-th: twenty to a city, and ten cities to a state.
func citizenOf(i int) citizen {
	city := (i - 1) / children
	c := citizen{State: fmt.Sprint("state ", city/10), City: fmt.Sprint("city ", city), User: i, Name: fmt.Sprint("citizen ", i)}
	c.ID, _ = known.Key(&c)
	return c
}

// registry is n citizens.
var registry = stock{
	name:    "keys of several values",
	indexes: []model.Technique{known},
	load:    func(ctx context.Context, s *site) error { return fill(ctx, s, s.n, citizens.InsertMany, citizenOf) },
	trials: []trial{
		{"keys.Composite", "Prefix, a document", "nothing", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 1, func() *model.Find[citizen] {
				c := citizenOf(s.one(s.n))
				return known.Prefix(c.State, c.City, c.User)
			})
		}},
		{"keys.Composite", "Prefix, 20 documents", "the documents", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Find[citizen] {
				c := citizenOf(s.one(s.n / children * children))
				return known.Prefix(c.State, c.City)
			})
		}},
		{"keys.Composite", "Insert", "nothing", func(ctx context.Context, s *site) step {
			var key string
			return writing(ctx, s, func() write {
				c := citizenOf(s.one(s.n))
				c.ID, c.User = "", s.fresh()
				key, _ = known.Key(&c)
				c.ID = key
				return citizens.Insert(c)
			}, func() write { return citizens.Delete(key) })
		}},
	},
}
