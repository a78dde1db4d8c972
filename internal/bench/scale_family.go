package main

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/childrefs"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/join"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A press lists its titles, shows the newest three, and counts them. A title refers to
// its press.
type (
	press struct {
		ID     int          `bson:"_id"`
		Name   string       `bson:"name"`
		Titles []int        `bson:"titles,omitempty"`
		Recent []shownTitle `bson:"recent,omitempty"`
		Count  int          `bson:"count"`
	}
	shownTitle struct {
		ID   int    `bson:"_id"`
		Name string `bson:"name"`
		At   int    `bson:"at"`
	}
	title struct {
		ID    int    `bson:"_id"`
		Press int    `bson:"press"`
		At    int    `bson:"at"`
		Name  string `bson:"name"`
	}
)

const (
	children = 20 // of a parent
	shown    = 3
)

var (
	presses = model.NewCollection[press, int]("presses")
	titles  = model.NewCollection[title, int]("titles")

	listed    = childrefs.New(presses, "titles", titles)
	ofPress   = parentref.New(titles, "press", presses, parentref.Spec{By: "at"})
	published = twosided.NewTwoWay(presses, "titles", titles, "press", twosided.TwoWaySpec{})
	titleJoin = join.New(presses, "titles", titles, join.Spec{})
	lostPress = dangling.New(titles, "press", presses, dangling.Spec{})
	closing   = ondelete.New(presses, ondelete.Spec{Cascade: []relate.Referrer{ofPress}})
	pressName = copies.New(presses, titles, copies.Spec{KeyPath: "press", Fields: []copies.Field{{From: "name", To: "name"}}})
	newest    = subset.New(titles, "press", presses, "recent", subset.Spec{
		Max: shown, By: bson.D{{Key: "at", Value: -1}}, Fields: []string{"name"},
	})
	titleCount = counter.New(titles, "press", presses, counter.Spec{Count: "count"})

	assigned    = storeOf(published, titles)
	closed      = storeOf(closing, presses)
	namedPress  = storeOf(pressName, presses)
	shownTitles = storeOf(newest, titles)
	countTitles = storeOf(titleCount, titles)
)

// family is what is one-to-many: n titles of n/20 presses.
var family = stock{
	name:    "parents and children",
	indexes: []model.Technique{listed, ofPress, published, lostPress, closing, pressName, newest, titleCount},
	load: func(ctx context.Context, s *site) error {
		if err := fill(ctx, s, s.presses(), presses.InsertMany, pressOf); err != nil {
			return err
		}
		return fill(ctx, s, s.presses()*children, titles.InsertMany, titleOf)
	},
	trials: append(relateTrials, denormTrials...),
	sound: func(ctx context.Context, s *site) error {
		for _, check := range published.Checks() {
			found, err := check.All(ctx, s.db)
			if err := expect(len(found), 0, err); err != nil {
				return err
			}
		}
		drift, err := newest.Checks()[0].All(ctx, s.db)
		return expect(len(drift), 0, err)
	},
}

func (s *site) presses() int { return s.n / children }

func pressOf(i int) press {
	p := press{ID: i, Name: fmt.Sprint("press ", i), Count: children}
	for n := (i-1)*children + 1; n <= i*children; n++ {
		p.Titles = append(p.Titles, n)
	}
	for n := range shown {
		t := titleOf(i*children - n)
		p.Recent = append(p.Recent, shownTitle{t.ID, t.Name, t.At})
	}
	return p
}

func titleOf(i int) title {
	of := (i-1)/children + 1
	return title{ID: i, Press: of, At: i, Name: fmt.Sprint("press ", of)}
}

// newTitle is one more of some press, and the newest.
func newTitle(s *site) title {
	of, id := s.one(s.presses()), s.fresh()
	return title{ID: id, Press: of, At: id, Name: fmt.Sprint("press ", of)}
}

var relateTrials = []trial{
	{"childrefs.ChildRefs", "ChildrenOf a parent, 20", "the children", func(ctx context.Context, s *site) step {
		return reading(ctx, s, children, func() *model.Aggregate[title] { return listed.ChildrenOf(s.one(s.presses())) })
	}},
	{"childrefs.ChildRefs", "ParentsOf a child", "the parents", func(ctx context.Context, s *site) step {
		return reading(ctx, s, 1, func() *model.Find[press] { return listed.ParentsOf(s.one(s.presses() * children)) })
	}},
	{"childrefs.ChildRefs", "Add", "the list", func(ctx context.Context, s *site) step {
		var of, id int
		return writing(ctx, s, func() write {
			of, id = s.one(s.presses()), s.fresh()
			return listed.Add(of, id)
		}, func() write { return listed.Remove(of, id) })
	}},
	{"parentref.ParentRef", "Children, newest 20", "what is asked for", func(ctx context.Context, s *site) step {
		return reading(ctx, s, children, func() *model.Find[title] { return ofPress.Children(s.one(s.presses())).Limited(children) })
	}},
	{"parentref.ParentRef", "insert a child", "nothing", func(ctx context.Context, s *site) step {
		var t title
		return writing(ctx, s, func() write { t = newTitle(s); return titles.Insert(t) }, func() write { return titles.Delete(t.ID) })
	}},
	{"twosided.TwoWay", "Assign to another owner", "the lists", func(ctx context.Context, s *site) step {
		var t title
		assign := func(of int) model.ChangeOf[model.Stored[title]] {
			return assigned.Set(t.ID, bson.D{{Key: "press", Value: of}})
		}
		return changing(ctx, s, func() model.ChangeOf[model.Stored[title]] {
			t = titleOf(s.one(s.presses() * children))
			return assign(t.Press%s.presses() + 1)
		}, func() error { return change(ctx, s, assign(t.Press)) })
	}},
	{"join.Join", "Load of 50 parents' 1,000 children", "the children", func(ctx context.Context, s *site) step {
		var of []press
		return step{before: func() error {
			of = of[:0]
			for range min(50, s.presses()) {
				of = append(of, pressOf(s.one(s.presses())))
			}
			return nil
		}, run: func() error {
			found, err := titleJoin.Load(ctx, s.db, of)
			return expect(len(found), len(of), err)
		}}
	}},
	{"dangling.Dangling", "Checks", "all documents", func(ctx context.Context, s *site) step {
		return reading(ctx, s, 0, func() *model.Aggregate[bson.Raw] { return lostPress.Checks()[0].Find() })
	}},
	{"ondelete.OnDelete", "Delete with 20 dependents", "the dependents", func(ctx context.Context, s *site) step {
		of := 0
		return changing(ctx, s, func() model.ChangeOf[model.Stored[press]] { of = s.one(s.presses()); return closed.Delete(of) }, func() error {
			p := pressOf(of)
			all := make([]title, 0, children)
			for _, id := range p.Titles {
				all = append(all, titleOf(id))
			}
			return s.run(ctx, model.Concat(titles.InsertMany(all), model.NewPlan(presses.Insert(p))))
		})
	}},
}

var denormTrials = []trial{
	{"copies.Copy", "Set with 20 copies", "the copies", func(ctx context.Context, s *site) step {
		var p press
		rename := func(name string) model.ChangeOf[model.Stored[press]] {
			return namedPress.Set(p.ID, bson.D{{Key: "name", Value: name}})
		}
		return changing(ctx, s, func() model.ChangeOf[model.Stored[press]] {
			p = pressOf(s.one(s.presses()))
			return rename("another name")
		},
			func() error { return change(ctx, s, rename(p.Name)) })
	}},
	{"copies.Copy", "Check", "all documents", func(ctx context.Context, s *site) step {
		return reading(ctx, s, 0, func() *model.Aggregate[bson.Raw] { return pressName.Checks()[0].Find() })
	}},
	{"subset.Subset", "Insert", "the kept few", func(ctx context.Context, s *site) step {
		var t title
		return changing(ctx, s, func() model.ChangeOf[model.Stored[title]] { t = newTitle(s); return shownTitles.Insert(t) },
			func() error { return change(ctx, s, shownTitles.Delete(t.ID)) })
	}},
	{"counter.Counter", "Insert with tokens", "nothing", func(ctx context.Context, s *site) step {
		var t title
		return changing(ctx, s, func() model.ChangeOf[model.Stored[title]] { t = newTitle(s); return countTitles.Insert(t) },
			func() error { return change(ctx, s, countTitles.Delete(t.ID)) })
	}},
	{"counter.Counter", "Check", "all documents", func(ctx context.Context, s *site) step {
		return reading(ctx, s, 0, func() *model.Aggregate[bson.Raw] { return titleCount.Checks()[0].Find() })
	}},
}
