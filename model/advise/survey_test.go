package advise_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func (w world) store(t *testing.T, db *mongo.Database) {
	t.Helper()
	if _, err := model.Concat(surveyParents.InsertMany(w.parents), surveyChildren.InsertMany(w.children)).
		Run(context.Background(), db); err != nil {
		t.Fatal(err)
	}
}

func mustSurvey(t *testing.T, s *advise.Survey, db *mongo.Database) advise.SurveyResult {
	t.Helper()
	r, err := s.Run(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// truth is a spread of everything, sorted by hand.
func truth(values []int64) (p50, p99, most int64) {
	slices.Sort(values)
	at := func(p float64) int64 {
		for i, v := range values {
			if float64(i+1) >= p*float64(len(values))-1e-9 {
				return v
			}
		}
		return 0
	}
	return at(0.5), at(0.99), values[len(values)-1]
}

func wantSpread(t *testing.T, name string, s advise.Spread, values []int64) {
	t.Helper()
	p50, p99, most := truth(values)
	if s.P50.Value != p50 || s.P99.Value != p99 || s.Max != most || s.N < s.Of ||
		s.N != int64(len(values)) || s.Beyond != 0 {
		t.Errorf("%s: got %+v; want %d, %d, %d of %d", name, s, p50, p99, most, len(values))
	}
	if s.P50.Low != p50 || s.P50.High != p50 {
		t.Errorf("%s: an interval of what is known: %+v", name, s)
	}
}

// A collection that is read whole gives what is true.
func TestSurveyWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	w := newWorld(rng, 40, 300)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w.store(t, db)
		t.Run("embedded", func(t *testing.T) { w.checkEmbedded(t, mustSurvey(t, embeddedSurvey, db)) })
		t.Run("list", func(t *testing.T) { w.checkList(t, mustSurvey(t, listSurvey, db)) })
		t.Run("ref", func(t *testing.T) { w.checkRef(t, mustSurvey(t, refSurvey, db)) })
		t.Run("refs", func(t *testing.T) {
			r := mustSurvey(t, refsSurvey, db)
			var counts, parents []int64
			for _, p := range w.parents {
				n := int64(0)
				for _, c := range w.children {
					if slices.Contains(c.Parents, p.ID) {
						n++
					}
				}
				counts = append(counts, n)
			}
			for _, c := range w.children {
				if len(c.Parents) > 0 {
					parents = append(parents, int64(len(c.Parents)))
				}
			}
			wantSpread(t, "children", r.PerParent, counts)
			wantSpread(t, "parents", r.PerChild, parents)
			r.Relation.Child.Shows = advise.None // nobody asks a child for its parents
			if a := advise.Choose(r.Relation); a.Err != nil || a.Choice.Structure() != advise.ChildRefs {
				t.Errorf("%s", a)
			}
		})
	})
}

func (w world) checkEmbedded(t *testing.T, r advise.SurveyResult) {
	var counts, own, largest []int64
	var added [][]time.Time
	for _, p := range w.parents {
		counts = append(counts, int64(len(p.Embedded)))
		whole, _ := advise.Size(p)
		array, _ := advise.Size(p.Embedded)
		if len(p.Embedded) == 0 {
			own = append(own, whole)
			continue
		}
		own = append(own, whole-array+5)
		most, times := int64(0), []time.Time(nil)
		for _, e := range p.Embedded {
			n, _ := advise.Size(e)
			most, times = max(most, n), append(times, e.ID.Timestamp())
		}
		largest, added = append(largest, most), append(added, times)
	}
	wantSpread(t, "children", r.PerParent, counts)
	wantSpread(t, "bytes of parents", r.ParentBytes, own)
	wantSpread(t, "bytes of children", r.ChildBytes, largest)
	wantGrowth(t, r, added, nil)
	if r.PerChild.N != 0 || r.Missing.Of != 0 || r.Relation.Child.Name != "embedded" || r.Parents.N < r.Parents.Of {
		t.Errorf("%s", r)
	}
	p50, _, most := truth(counts)
	if rel := r.Relation; rel.Parent.Has.Typical != p50 || rel.Parent.Has.Max != most || rel.Child.IDBytes != 0 ||
		rel.Child.Has != (advise.Count{}) {
		t.Errorf("%+v", rel)
	}
	if a := advise.Choose(r.Relation); a.Err != nil {
		t.Error(a.Err)
	}
}

func (w world) checkList(t *testing.T, r advise.SurveyResult) {
	var counts, parents, bytes []int64
	listed := map[bson.ObjectID]int64{}
	looked := 0
	for _, p := range w.parents {
		counts = append(counts, int64(len(p.Children)))
		looked += min(10, len(p.Children))
		for _, id := range p.Children {
			listed[id]++
		}
	}
	for _, c := range w.children {
		n, _ := advise.Size(c)
		bytes = append(bytes, n)
		if listed[c.ID] > 0 {
			parents = append(parents, listed[c.ID])
		}
	}
	wantSpread(t, "children", r.PerParent, counts)
	wantSpread(t, "parents", r.PerChild, parents)
	wantSpread(t, "bytes", r.ChildBytes, bytes)
	var added [][]time.Time
	for _, p := range w.parents {
		var times []time.Time
		for _, id := range p.Children {
			times = append(times, id.Timestamp())
		}
		added = append(added, times)
	}
	wantGrowth(t, r, added, w.children)
	lost := int64(0)
	if len(w.parents[0].Children) <= 10 {
		lost = 1
	}
	if r.Missing != (advise.Share{N: lost, Of: int64(looked)}) || r.Relation.Child.IDBytes != 12 {
		t.Errorf("missing %+v, want %d of %d", r.Missing, lost, looked)
	}
}

func (w world) checkRef(t *testing.T, r advise.SurveyResult) {
	n := map[bson.ObjectID]int64{}
	missing := int64(0)
	for _, c := range w.children {
		if c.Parent == nil || !slices.ContainsFunc(w.parents, func(p surveyParent) bool { return p.ID == *c.Parent }) {
			missing++
		}
		if c.Parent != nil {
			n[*c.Parent]++
		}
	}
	var counts []int64
	for _, p := range w.parents {
		counts = append(counts, n[p.ID])
	}
	wantSpread(t, "children", r.PerParent, counts)
	if r.Missing != (advise.Share{N: missing, Of: int64(len(w.children))}) ||
		r.Relation.Child.Has != (advise.Count{Typical: 1, Max: 1}) {
		t.Errorf("missing %+v, want %d; %+v", r.Missing, missing, r.Relation.Child.Has)
	}
	added := map[bson.ObjectID][]time.Time{}
	for _, c := range w.children {
		if c.Parent != nil {
			added[*c.Parent] = append(added[*c.Parent], c.ID.Timestamp())
		}
	}
	var byParent [][]time.Time
	for _, p := range w.parents {
		byParent = append(byParent, added[p.ID])
	}
	wantGrowth(t, r, byParent, w.children)
	if a := advise.Choose(r.Relation); a.Err != nil ||
		!slices.ContainsFunc(r.Measured, func(m advise.Measure) bool { return m.Field == "Parent.Has.PerDay" }) {
		t.Errorf("%s\n%+v", a, r.Measured)
	}
	for _, m := range r.Measured {
		if m.How == "" || !strings.Contains(fmt.Sprintf("%+v", r.Relation), fmt.Sprint(m.Value)) {
			t.Errorf("%+v isn't in %+v", m, r.Relation)
		}
	}
}

// A sample says that it is one, and its intervals hold the truth.
func TestSurveySampled(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(5, 6)), 400, 1200)
	for i := range w.children {
		w.children[i].Text = bytesOf(int64(i / 5)) // neighbours are alike
	}
	sampled := advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{
		Ref: "parent", Scan: true, Sample: 100, Confidence: 0.999999,
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w.store(t, db)
		r := mustSurvey(t, sampled, db)
		if r.Parents != (advise.Share{N: 100, Of: 400}) ||
			r.Children != (advise.Share{N: 100, Of: 1200}) || r.Parents.N == r.Parents.Of {
			t.Errorf("%+v, %+v", r.Parents, r.Children)
		}
		var all []int64
		for _, c := range w.children {
			n, _ := advise.Size(c)
			all = append(all, n)
		}
		p50, p99, most := truth(all)
		s := r.ChildBytes
		if s.P50.Low > p50 || s.P50.High < p50 || s.P99.Low > p99 || !s.P99.OpenHigh && s.P99.High < p99 || s.Max > most ||
			s.Beyond <= 0 || s.Beyond > 0.2 {
			t.Errorf("%+v; the truth is %d, %d, %d", s, p50, p99, most)
		}
		if !strings.Contains(r.String(), "100 of 1,200 sampled") || !strings.Contains(r.String(), "may have more") {
			t.Errorf("%s", r)
		}
		if how := r.Measured[1].How; !strings.Contains(how, "at least") {
			t.Errorf("a maximum of a sample: %s", how)
		}
	})
}

func TestSurveyCost(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(7, 8)), 20, 50)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w.store(t, db)
		for name, test := range map[string]struct {
			s    *advise.Survey
			want int
		}{"embedded": {embeddedSurvey, 3}, "list": {listSurvey, 7}, "ref": {refSurvey, 7}} {
			cost, err := modeltest.Measure(monitor, func() error { _, err := test.s.Run(context.Background(), db); return err })
			if err != nil || cost.Commands != test.want || cost.Written != 0 {
				t.Errorf("%s: %s, %v", name, cost, err)
			}
		}
		for _, c := range monitor.Commands() {
			if strings.Contains(c.Body.String(), `"$sum": {"$numberInt":"1"}`) {
				t.Errorf("counts by reading: %s", c)
			}
		}
	}, monitor)
}

// Each thousand costs what it says, and indexes serve what is asked of references.
func TestSurveyLarge(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(8, 8)), 1100, 3000)
	monitor := mongotest.NewMonitor()
	twoThousand := advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{Ref: "parent", Sample: 2000})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		set := model.IndexSet{Needed: []model.Index{model.NewIndex("children", bson.D{{Key: "parent", Value: 1}})}}
		if err := set.Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		w.store(t, db)
		var r advise.SurveyResult
		cost, err := modeltest.Measure(monitor, func() (err error) {
			r, err = twoThousand.Run(context.Background(), db)
			return err
		})
		// Two counts, 1100 parents in two batches, 2000 children in two, links of 1100 parents, the parents, some 900, of
		// 2000 children, and those that gained some lately.
		if err != nil || cost.Commands != 2+2+2+2+1+1 || r.Parents != (advise.Share{N: 1100, Of: 1100}) ||
			r.Children != (advise.Share{N: 2000, Of: 3000}) {
			t.Errorf("%s, %v\n%s", cost, err, r)
		}
		id := w.parents[7].ID
		raw := bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}
		modeltest.WantIndexed(t, db, twoThousand.CountLinks(raw), "parent_1")
		modeltest.WantIndexed(t, db, twoThousand.FindExisting(raw), "_id_")
		modeltest.WantIndexed(t, db, twoThousand.CountAdded(time.Now(), raw), "parent_1")
		modeltest.WantIndexed(t, db, listSurvey.CountAdded(time.Now(), raw), "_id_")
	}, monitor)
}

func TestSurveyDeclarations(t *testing.T) {
	type spec = advise.SurveySpec
	for _, test := range []struct {
		want string
		spec spec
	}{
		{"exactly one of", spec{}},
		{"exactly one of", spec{List: "children", Ref: "parent"}},
		{"no field", spec{List: "childs"}},
		{"no field", spec{Ref: "parnet"}},
		{"doesn't go through one array", spec{List: "name"}},
		{"doesn't go through one array", spec{Embedded: "name"}},
		{"At is only for", spec{Ref: "parent", At: "at"}},
		{"Window", spec{Ref: "parent", Window: time.Hour}},
		{"Window", spec{Ref: "parent", Window: -time.Hour}},
		{"Sample", spec{Ref: "parent", Sample: -1}},
		{"Confidence", spec{Ref: "parent", Confidence: 1}},
		{"Confidence", spec{Ref: "parent", Confidence: math.NaN()}},
		{"dollar", spec{Embedded: "embedded", At: "$at"}},
	} {
		wantDeclaration(t, fmt.Sprintf("%+v", test.spec), test.want, func() {
			advise.NewSurvey(surveyParents, surveyChildren, test.spec)
		})
	}
}

// TestSurveyCommands pins the pipelines that surveys send, in testdata/survey.txt.
func TestSurveyCommands(t *testing.T) {
	id := bson.RawValue{Type: bson.TypeString, Value: []byte("\x03\x00\x00\x00p1\x00")}
	end := time.Date(2024, 4, 1, 12, 0, 0, 0, time.UTC)
	scanned := advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{
		List: "children", Sample: 50, Scan: true,
	})
	var b strings.Builder
	for _, c := range []struct {
		name  string
		query fmt.Stringer
	}{
		{"parents that list their children", listSurvey.MeasureParents(false)},
		{"all scanned parents, but for a sample", scanned.MeasureParents(false)},
		{"all parents with embedded children", embeddedSurvey.MeasureParents(true)},
		{"parents whose children refer to them", refSurvey.MeasureParents(false)},
		{"children that refer to their parent", refSurvey.MeasureChildren(false)},
		{"children that refer to several parents", refsSurvey.MeasureChildren(false)},
		{"all listed children", listSurvey.MeasureChildren(true)},
		{"parents that list each child", listSurvey.CountLinks(id)},
		{"children of each parent", refSurvey.CountLinks(id)},
		{"new children of parents that list them", listSurvey.CountAdded(end, id)},
		{"new embedded children", embeddedSurvey.CountAdded(end, id)},
		{"new children that refer to their parent", refSurvey.CountAdded(end, id)},
		{"listed children that exist", listSurvey.FindExisting(id)},
		{"parents that exist", refSurvey.FindExisting(id)},
	} {
		fmt.Fprintf(&b, "// %s\n%s\n\n", c.name, c.query)
	}
	golden(t, "survey.txt", b.String())
}
