package main

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/outlier"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Elements come in pages: of a key, or of a tome that has more buyers than it holds.
type (
	buyer struct {
		ID   int64 `bson:"id"`
		Paid int64 `bson:"paid"`
	}
	page = bucket.Doc[string, buyer]
	tome struct {
		ID     string  `bson:"_id"`
		Extras bool    `bson:"extras,omitempty"`
		Buyers []buyer `bson:"buyers,omitempty"`
	}
)

const perPage = 10

var (
	bought     = model.NewCollection[page, string]("pages")
	tomes      = model.NewCollection[tome, string]("tomes")
	pageSpec   = bucket.Spec{Max: perPage, ElementKey: "id"}
	pagesOf    = bucket.New(bought, pageSpec)
	overflow   = bucket.New(bought.Named("overflow"), pageSpec)
	tomeBuyers = outlier.New(tomes, "buyers", overflow, outlier.Spec{Max: perPage, Flag: "extras"})
)

func tomeOf(i int) string { return fmt.Sprintf("t%07d", i) }

// buyersFrom are some buyers, numbered from one.
func buyersFrom(id, n int) (all []buyer) {
	for i := range n {
		all = append(all, buyer{int64(id + i), 10})
	}
	return all
}

// pageOf is a page of a key as it is stored.
func pageOf(key string, seq int, of []buyer) page {
	size := 0
	for _, b := range of {
		raw, err := bson.Marshal(b)
		if err != nil {
			panic(err)
		}
		size += len(raw)
	}
	return page{ID: fmt.Sprintf("%s#%010d", key, seq), Key: key, Seq: int64(seq), N: len(of), Bytes: int64(size), Items: of}
}

const pagesPerKey = 10

// pages are n elements: ten pages to a key, the last half full.
var pages = stock{
	name:    "pages",
	indexes: []model.Technique{pagesOf},
	load: func(ctx context.Context, s *site) error {
		return fill(ctx, s, s.pageKeys()*pagesPerKey, bought.InsertMany, func(i int) page {
			seq, n := (i-1)%pagesPerKey, perPage
			if seq == pagesPerKey-1 {
				n /= 2
			}
			return pageOf(tomeOf((i-1)/pagesPerKey+1), seq, buyersFrom(i*perPage, n))
		})
	},
	trials: []trial{
		{"bucket.Bucket", "Append", "the page", func(ctx context.Context, s *site) step {
			return changing(ctx, s, func() model.Change {
				return pagesOf.Append(tomeOf(s.one(s.pageKeys())), buyer{int64(s.fresh()), 10})
			}, nil)
		}},
		{"bucket.Bucket", "Newest page", "the page", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 1, func() *model.Find[page] { return pagesOf.Newest(tomeOf(s.one(s.pageKeys()))).Limited(1) })
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		return s.clean(ctx, pagesOf.Checks())
	},
}

func (s *site) pageKeys() int { return s.n / perPage / pagesPerKey }

const (
	usual   = 5  // buyers of a tome
	unusual = 20 // of so many tomes, one is an outlier
)

func (s *site) tomes() int { return s.n / usual / unusual * unusual }

func (s *site) outlier() int { return unusual * s.one(s.tomes()/unusual) }

// outliers are n/5 tomes of five buyers each. Every twentieth has thirty buyers, ten of
// them inside.
var outliers = stock{
	name:    "outliers",
	indexes: []model.Technique{overflow, tomeBuyers},
	load: func(ctx context.Context, s *site) error {
		err := fill(ctx, s, s.tomes(), tomes.InsertMany, func(i int) tome {
			if i%unusual == 0 {
				return tome{ID: tomeOf(i), Extras: true, Buyers: buyersFrom(10*i, perPage)}
			}
			return tome{ID: tomeOf(i), Buyers: buyersFrom(10*i, usual)}
		})
		if err != nil {
			return err
		}
		return fill(ctx, s, s.tomes()/unusual*2, bought.Named("overflow").InsertMany, func(i int) page {
			return pageOf(tomeOf((i+1)/2*unusual), (i-1)%2, buyersFrom(overflowing(i), perPage-5*((i-1)%2)))
		})
	},
	trials: []trial{
		{"outlier.Outlier", "Append to a usual owner", "the array", func(ctx context.Context, s *site) step {
			var b buyer
			var to string
			return changing(ctx, s, func() model.Change {
				to, b = tomeOf(s.outlier()-1), buyer{int64(s.fresh()), 10}
				return tomeBuyers.Append(to, b)
			}, func() error { return change(ctx, s, tomeBuyers.Remove(to, b.ID)) })
		}},
		{"outlier.Outlier", "Append to an outlier", "the page", func(ctx context.Context, s *site) step {
			return changing(ctx, s, func() model.Change {
				return tomeBuyers.Append(tomeOf(s.outlier()), buyer{int64(s.fresh()), 10})
			}, nil)
		}},
		{"outlier.Outlier", "Holding, in the overflow", "the page", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 1, func() *model.Aggregate[buyer] {
				i := s.outlier() / unusual
				return tomeBuyers.Holding(tomeOf(i*unusual), int64(overflowing(2*i-1)))
			})
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		return s.clean(ctx, tomeBuyers.Checks())
	},
}

// overflowing is the first buyer of the i-th page of overflow, whom nobody else has.
func overflowing(i int) int { return -10 * i }

type visit = uniquecount.Doc[string, string]

const week, visitors = 7, 20

var (
	visited  = model.NewCollection[visit, string]("visits")
	uniques  = uniquecount.New(visited, uniquecount.Spec{Period: denorm.Daily})
	firstDay = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
)

func (s *site) groups() int { return s.n / (week * visitors) }

func groupOf(i int) string { return fmt.Sprintf("g%06d", i) }

// visits are n: twenty members of each group on each of seven days.
var visits = stock{
	name:    "visits",
	indexes: []model.Technique{uniques},
	load: func(ctx context.Context, s *site) error {
		return fill(ctx, s, s.groups()*week*visitors, visited.InsertMany, func(i int) visit {
			group, member := groupOf((i-1)/(week*visitors)+1), fmt.Sprintf("m%02d", (i-1)%visitors)
			day := firstDay.AddDate(0, 0, (i-1)/visitors%week)
			period := day.Format(time.DateOnly)
			return visit{ID: group + "#" + period + "#" + member, Group: group, Member: member, Period: period, From: day}
		})
	},
	trials: []trial{
		{"uniquecount.UniqueCount", "Visit, of a new member", "nothing", func(ctx context.Context, s *site) step {
			return writing(ctx, s, func() write {
				return uniques.Visit(groupOf(s.one(s.groups())), fmt.Sprint("n", s.fresh()), firstDay.AddDate(0, 1, 0))
			}, nil)
		}},
		{"uniquecount.UniqueCount", "Count over a week, 20 members of 140 visits", "the visits", func(ctx context.Context, s *site) step {
			return reading(ctx, s, 1, func() *model.Aggregate[denorm.Count] {
				return uniques.Count(groupOf(s.one(s.groups())), firstDay, firstDay.AddDate(0, 0, week))
			})
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		day, err := uniques.Seen(groupOf(1), "m00", firstDay).All(ctx, s.db)
		if err := expect(len(day), 1, err); err != nil {
			return err
		}
		week, err := uniques.Count(groupOf(1), firstDay, firstDay.AddDate(0, 0, week)).One(ctx, s.db)
		return expect(int(week.N), visitors, err)
	},
}
