package advise_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/mongotest"
)

// wantGrowth counts by hand what was added in each third of the last 90 days. children are all of those that have a
// collection.
func wantGrowth(t *testing.T, r advise.SurveyResult, byParent [][]time.Time, children []surveyChild) {
	t.Helper()
	var until time.Time
	all := append([][]time.Time(nil), byParent...)
	for _, c := range children {
		all = append(all, []time.Time{c.ID.Timestamp()})
	}
	for _, times := range all {
		for _, at := range times {
			if at.After(until) {
				until = at
			}
		}
	}
	since, third := until.AddDate(0, 0, -90), 30*24*time.Hour
	var told [][3]int64
	daily := 0.0
	for _, times := range byParent {
		thirds, tells := [3]int64{}, false
		for _, at := range times {
			tells = tells || !at.After(since)
			if !at.Before(since) {
				thirds[min(2, int(at.Sub(since)/third))]++
				daily += 1. / 90
			}
		}
		if tells {
			told = append(told, thirds)
		}
	}
	if children != nil {
		daily = 0
		for _, c := range children {
			if !c.ID.Timestamp().Before(since) {
				daily += 1. / 90
			}
		}
	}
	if want := advise.GrowthOf(told, 90, 0.95); r.Growth != want ||
		r.Relation.Parent.Has.PerDay != want.PerDay || want.PerDay == 0 {
		t.Errorf("growth %+v, want %+v", r.Growth, want)
	}
	if math.Abs(r.Daily-daily) > 1e-9 {
		t.Errorf("in all %v a day, want %v", r.Daily, daily)
	}
}

// growing are parents whose children come at these days, tied in all three ways.
func growing(days ...[]float64) (w world) {
	for i, times := range days {
		p := surveyParent{ID: surveyID(0, i)}
		for j, at := range times {
			id := surveyID(at, 10000*(i+1)+j)
			p.Embedded = append(p.Embedded, surveyItem{ID: id, At: id.Timestamp()})
			p.Children = append(p.Children, id)
			w.children = append(w.children, surveyChild{ID: id, Parent: &p.ID, Parents: []bson.ObjectID{p.ID}})
		}
		w.parents = append(w.parents, p)
	}
	return w
}

// steps are n days from one on, so far apart.
func steps(from, apart float64, n int) (days []float64) {
	for i := range n {
		days = append(days, from+float64(i)*apart)
	}
	return days
}

// What growth is told of data whose growth is known.
func TestSurveyGrowth(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	var slow [][]float64 // children every hundred days or so, of 60 parents
	for range 60 {
		var days []float64
		for at := rng.ExpFloat64() * 50; at < 1000; at += rng.ExpFloat64() * 100 {
			days = append(days, at)
		}
		slow = append(slow, days)
	}
	tests := []struct {
		name     string
		days     [][]float64
		from, to float64 // what is told
		unknown  string
		choice   advise.Choice
	}{
		{"slow", slow, 0.005, 0.02, "", advise.Embed},
		{
			name: "slow, and a new one that has gained many at once",
			days: append(slow[:60:60], steps(990, 0.1, 100)), from: 0.005, to: 0.02, unknown: "", choice: advise.Embed,
		},
		{
			name: "slow, and an old one with a burst of late",
			days: append(slow[:60:60], append(steps(0, 50, 3), steps(950, 0.1, 100)...)),
			from: 0.005, to: 0.02, unknown: "", choice: advise.Embed,
		},
		{
			name: "slow, and an old one with a burst long ago", days: append(slow[:60:60], steps(10, 0.1, 250)), from: 0.005,
			to: 0.02, unknown: "", choice: advise.Embed,
		},
		{"slow, and one that gains one a day", append(slow[:60:60], steps(800, 1, 200)), 0.8, 1.05, "", advise.ParentRef},
		{"one", [][]float64{steps(0, 1, 200)}, 0.95, 1.05, "", advise.ParentRef},
		{"growth that has ended", [][]float64{steps(0, 1, 200), steps(0, 500, 2)}, 0, 0.02, "", advise.Embed},
		{"young", [][]float64{steps(0, 1, 80)}, 0, 0, "the children are of 79 days, and 90 are needed", advise.Embed},
		{"an import", [][]float64{steps(3, 0, 200)}, 0, 0, "the children are of 0 days, and 90 are needed", advise.Embed},
		{"a young one, and one that has ended", [][]float64{steps(0, 1, 60), steps(80, 1, 60)}, 0, 0.001, "", advise.Embed},
	}
	for _, test := range tests {
		w := growing(test.days...)
		t.Run(test.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				w.store(t, db)
				for _, s := range []*advise.Survey{embeddedSurvey, listSurvey, refSurvey, refsSurvey} {
					r := mustSurvey(t, s, db)
					g := r.Growth
					if g.PerDay < test.from || g.PerDay > test.to || g.Unknown != test.unknown ||
						r.Relation.Parent.Has.PerDay != g.PerDay || g.Days != 90 {
						t.Errorf("%+v\n%s", g, r)
					}
					if test.unknown != "" && !strings.Contains(r.String(), "children added a day: not known: "+test.unknown) {
						t.Errorf("%s", r)
					}
					if a := advise.Choose(embedded(r.Relation)); a.Choice != test.choice {
						t.Errorf("%s\n%s", r, a)
					}
				}
			})
		})
	}
}

// Children that belong to nobody tell how long there have been any, but not how fast parents gain them.
func TestSurveyGrowthOfYoungParents(t *testing.T) {
	w := growing(steps(80, 1, 60))
	w.children = append(w.children, surveyChild{ID: surveyID(0, 77)})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w.store(t, db)
		for _, s := range []*advise.Survey{listSurvey, refSurvey} {
			r := mustSurvey(t, s, db)
			if r.Growth.Unknown != "no parent that was read has had children for 90 days" || r.Relation.Parent.Has.PerDay != 0 ||
				math.Abs(r.Daily-60./90) > 1e-9 {
				t.Errorf("%s", r)
			}
		}
	})
}

// embedded is a relation of which nothing but its figures speaks against embedding.
func embedded(r advise.Relation) advise.Relation {
	r.Child.Has = advise.Count{}
	return r
}

// Nothing is told without times, nor of an empty collection; dates tell as ObjectIDs do.
func TestSurveyWithoutTimes(t *testing.T) {
	byDate := advise.NewSurvey(surveyParents, surveyParents, advise.SurveySpec{
		Embedded: "embedded", At: "at", Window: 9 * 24 * time.Hour,
	})
	byText := advise.NewSurvey(surveyParents, surveyParents, advise.SurveySpec{Embedded: "embedded", At: "text"})
	w := growing(steps(0, 1, 20))
	for i := range w.parents[0].Embedded {
		w.parents[0].Embedded[i].ID = surveyID(3, i) // imported
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		var bad *model.ValueError
		if _, err := embeddedSurvey.Run(ctx, db); !errors.As(err, &bad) || bad.Collection != "parents" {
			t.Errorf("an empty collection: %v", err)
		}
		if _, err := surveyParents.InsertMany(w.parents).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, err := refSurvey.Run(ctx, db); !errors.As(err, &bad) || bad.Collection != "children" {
			t.Errorf("no children: %v", err)
		}
		if r := mustSurvey(t, byDate, db); r.Growth.Days != 9 ||
			math.Abs(r.Growth.PerDay-10./9) > 0.001 || r.Growth.Parents != 1 {
			t.Errorf("%s", r)
		}
		if r := mustSurvey(t, byText, db); r.Growth.PerDay != 0 || r.Growth.Unknown != "no child tells when it was added" {
			t.Errorf("%s", r)
		}
		if _, err := surveyParents.InsertMany([]surveyParent{
			{ID: surveyID(0, 7), Embedded: []surveyItem{{ID: surveyID(0, 8)}}},
			{ID: surveyID(0, 9), Embedded: []surveyItem{{ID: surveyID(80, 8)}}},
		}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if r := mustSurvey(t, embeddedSurvey, db); !strings.Contains(r.Growth.Unknown,
			"80 days, and 90 are needed") || r.Daily != 0 {
			t.Errorf("%s", r)
		}
	})
}

// A document that refers to another twice is one that refers to it.
func TestSurveyRepeatedReferences(t *testing.T) {
	w := growing([]float64{0, 100}, []float64{0})
	p, q := &w.parents[0], &w.parents[1]
	p.Children = append(p.Children, p.Children[0], p.Children[0])
	w.children[1].Parents = []bson.ObjectID{p.ID, p.ID, q.ID, p.ID}
	q.Children = append(q.Children, p.Children[1])
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w.store(t, db)
		for _, s := range []*advise.Survey{listSurvey, refsSurvey} {
			r := mustSurvey(t, s, db)
			wantSpread(t, "children", r.PerParent, []int64{2, 2})
			wantSpread(t, "parents", r.PerChild, []int64{1, 2, 1})
			if r.Growth.Parents != 2 || r.Growth.PerDay == 0 {
				t.Errorf("%s", r)
			}
			added := map[string]advise.SurveyLink{}
			ids := []bson.RawValue{{Type: bson.TypeObjectID, Value: p.ID[:]}, {Type: bson.TypeObjectID, Value: q.ID[:]}}
			for l, err := range s.CountAdded(surveyID(100, 0).Timestamp(), ids...).Each(context.Background(), db) {
				if err != nil {
					t.Fatal(err)
				}
				added[fmt.Sprintf("%x", l.ID.Value)] = l
			}
			for _, id := range ids {
				if l := added[fmt.Sprintf("%x", id.Value)]; l.N != 1 || l.Early != 0 || l.Late != 1 {
					t.Errorf("%+v", l)
				}
			}
		}
	})
}

// A reference that looks like a condition is looked up as none, and fails nothing.
func TestSurveyHostileReferences(t *testing.T) {
	p := surveyParent{ID: surveyID(0, 1)}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if _, err := surveyParents.Insert(p).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		for i, ref := range []any{
			p.ID, bson.Regex{Pattern: "."}, bson.D{{Key: "$gt", Value: ""}}, bson.D{{Key: "a", Value: 1}}, bson.A{bson.A{p.ID}},
		} {
			doc := bson.D{{Key: "_id", Value: surveyID(1, i)}, {Key: "text", Value: "x"}, {Key: "parent", Value: ref}}
			if _, err := surveyChildren.Of(db).InsertOne(ctx, doc); err != nil {
				t.Skipf("the server refuses to store %v: %v", ref, err)
			}
		}
		if r := mustSurvey(t, refSurvey, db); r.Missing != (advise.Share{N: 4, Of: 5}) || r.PerParent.Max != 1 {
			t.Errorf("%s", r)
		}
	})
}
