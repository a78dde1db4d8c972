package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A knot lists those that it is linked to, of the other side.
type knot struct {
	ID    int   `bson:"_id"`
	Links []int `bson:"links,omitempty"`
}

const perKnot = 3

var (
	lefts  = model.NewCollection[knot, int]("lefts")
	rights = model.NewCollection[knot, int]("rights")
	linked = twosided.NewManyToMany(lefts, "links", rights, "links", twosided.ManyToManySpec{})

	linkedLefts = storeOf(linked, lefts)

	early = bson.NewObjectIDFromTimestamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) // the operation of what was loaded
)

// knots are n/2 documents on each side. Each left document has three links: to its own
// number and the next two.
var knots = stock{
	name:    "many-to-many, lists on both sides",
	indexes: []model.Technique{linked},
	load: func(ctx context.Context, s *site) error {
		m := s.n / 2
		link := func(id int) int { return (id+m-1)%m + 1 }
		err := fill(ctx, s, m, lefts.InsertMany, func(i int) knot {
			return knot{ID: i, Links: []int{link(i), link(i + 1), link(i + 2)}}
		})
		if err != nil {
			return err
		}
		return fill(ctx, s, m, rights.InsertMany, func(i int) knot {
			return knot{ID: i, Links: []int{link(i), link(i - 1), link(i - 2)}}
		})
	},
	trials: []trial{
		{"twosided.ManyToMany", "Link", "the lists", func(ctx context.Context, s *site) step {
			left, right := 0, 0
			return changing(ctx, s, func() model.ChangeOf[model.Stored[knot]] {
				left = s.one(s.n / 2)
				right = (left+10)%(s.n/2) + 1
				return linkedLefts.Edit(left, func(k *knot) error { k.Links = append(k.Links, right); return nil })
			}, func() error {
				return change(ctx, s, linkedLefts.Edit(left, func(k *knot) error {
					k.Links = slices.DeleteFunc(k.Links, func(id int) bool { return id == right })
					return nil
				}))
			})
		}},
		{"twosided.ManyToMany", "Others 3", "the links", func(ctx context.Context, s *site) step {
			return reading(ctx, s, perKnot, func() *model.Find[knot] { return linked.Left.Others(s.one(s.n / 2)) })
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		for _, check := range linked.Checks() {
			found, err := check.All(ctx, s.db)
			if err := expect(len(found), 0, err); err != nil {
				return err
			}
		}
		return nil
	},
}

// A like ties a user to an item, as a document and as a column in two rows.
type (
	like struct {
		ID   int    `bson:"_id"`
		User string `bson:"user"`
		Item string `bson:"item"`
		At   int    `bson:"at"`
	}
	liked struct { // or who likes
		ID   string `bson:"_id"`
		Name string `bson:"name"`
	}
)

var (
	users = model.NewCollection[liked, string]("users")
	items = model.NewCollection[liked, string]("items")
	likes = model.NewCollection[like, int]("likes")

	likesOf   = joincollection.New(likes, "user", users, "item", items, joincollection.Spec{By: "at"})
	likeStore = storeOf(likesOf, likes)
)

func (s *site) users() int { return s.n / children }

func userOf(i int) liked { return liked{fmt.Sprintf("u%07d", i), fmt.Sprint("user ", i)} }

func itemOf(i int) liked { return liked{fmt.Sprintf("i%07d", i), fmt.Sprint("item ", i)} }

// nth returns the number of a user's k-th item, from 0, of twenty. Ten users like each
// item.
func (s *site) nth(user, k int) int { return (2*user+k)%(2*s.users()) + 1 }

func (s *site) ends(ctx context.Context) error {
	if err := fill(ctx, s, s.users(), users.InsertMany, userOf); err != nil {
		return err
	}
	return fill(ctx, s, 2*s.users(), items.InsertMany, itemOf)
}

// joins are n likes of n/20 users and n/10 items.
var joins = stock{
	name:    "many-to-many, a document for each pair",
	indexes: []model.Technique{likesOf},
	load: func(ctx context.Context, s *site) error {
		if err := s.ends(ctx); err != nil {
			return err
		}
		return fill(ctx, s, s.users()*children, likes.InsertMany, func(i int) like {
			u := (i-1)/children + 1
			return like{i, userOf(u).ID, itemOf(s.nth(u, (i-1)%children)).ID, i}
		})
	},
	trials: []trial{
		{"joincollection.JoinCollection", "Link", "nothing", func(ctx context.Context, s *site) step {
			var l like
			return changing(ctx, s, func() model.ChangeOf[model.Stored[like]] {
				u := s.one(s.users())
				l = like{s.fresh(), userOf(u).ID, itemOf(s.nth(u, children+5)).ID, 1}
				return likeStore.Insert(l)
			}, func() error {
				return change(ctx, s, likeStore.DeleteOne(bson.D{{Key: "user", Value: l.User}, {Key: "item", Value: l.Item}}))
			})
		}},
		{"joincollection.JoinCollection", "Others, a page of 20", "the page", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Aggregate[relate.Linked[like, liked]] {
				return likesOf.Left.Others(userOf(s.one(s.users())).ID, nil, children)
			})
		}},
	},
}

// A likeRow is what a WideRow stores.
type (
	likeRow struct {
		ID   string   `bson:"_id"`
		Row  string   `bson:"row"`
		Low  string   `bson:"low"`
		High string   `bson:"hi"`
		N    int      `bson:"n"`
		Rev  int64    `bson:"rev"`
		Cols []column `bson:"cols"`
	}
	column = widerow.Column[string]
)

var (
	itemByUser = model.NewCollection[likeRow, string]("itemByUser")
	userByItem = model.NewCollection[likeRow, string]("userByItem")

	likeRows = widerow.New(users, items, widerow.Spec{
		LeftRows: itemByUser.Name(), RightRows: userByItem.Name(), LeftCopies: []string{"name"}, RightCopies: []string{"name"},
	})
)

var firstLike = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// rowOf is a row of the columns to others, which were linked at some seconds.
func rowOf(of string, others []liked, at []int) likeRow {
	r := likeRow{ID: of + "#", Row: of, High: "~", N: len(others), Rev: int64(len(others))}
	for i, o := range others {
		t := firstLike.Add(time.Duration(at[i]) * time.Second)
		doc, err := bson.Marshal(bson.D{{Key: "name", Value: o.Name}})
		if err != nil {
			panic(err)
		}
		r.Cols = append(r.Cols, column{Key: widerow.ColumnsFrom(t) + "|" + o.ID, At: t, ID: o.ID, Op: early, Doc: doc})
	}
	slices.SortFunc(r.Cols, func(a, b column) int { return strings.Compare(a.Key, b.Key) })
	return r
}

// rows are n likes too, in n/20 rows of users and n/10 of items.
var rows = stock{
	name:    "many-to-many, as rows",
	indexes: []model.Technique{likeRows},
	load: func(ctx context.Context, s *site) error {
		if err := s.ends(ctx); err != nil {
			return err
		}
		err := fill(ctx, s, s.users(), itemByUser.InsertMany, func(u int) likeRow {
			var others []liked
			var at []int
			for k := range children {
				others, at = append(others, itemOf(s.nth(u, k))), append(at, u*children+k)
			}
			return rowOf(userOf(u).ID, others, at)
		})
		if err != nil {
			return err
		}
		return fill(ctx, s, 2*s.users(), userByItem.InsertMany, func(i int) likeRow {
			var others []liked
			var at []int
			for k := (i - 1) % 2; k < children; k += 2 { // the user u of (2u+k) mod 2m = i-1
				u := ((i-1-k)/2%s.users()+s.users()-1)%s.users() + 1
				others, at = append(others, userOf(u)), append(at, u*children+k)
			}
			return rowOf(itemOf(i).ID, others, at)
		})
	},
	trials: []trial{
		{"widerow.WideRow", "Link", "the row's document, 500 columns at most", func(ctx context.Context, s *site) step {
			var user, item string
			return changing(ctx, s, func() model.Change {
				u := s.one(s.users())
				user, item = userOf(u).ID, itemOf(s.nth(u, children+5)).ID
				return likeRows.Link(user, item, firstLike.AddDate(1, 0, 0), bson.NewObjectID())
			}, func() error { return change(ctx, s, likeRows.Unlink(user, item)) })
		}},
		{"widerow.WideRow", "Newest 20", "the page", func(ctx context.Context, s *site) step {
			return reading(ctx, s, children, func() *model.Aggregate[column] {
				return likeRows.Left.Newest(userOf(s.one(s.users())).ID, "", children)
			})
		}},
	},
	sound: func(ctx context.Context, s *site) error {
		found, err := likeRows.Checks()[0].All(ctx, s.db)
		return expect(len(found), 0, err)
	},
}
