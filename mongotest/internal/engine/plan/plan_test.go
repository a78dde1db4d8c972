package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var ns = store.Namespace{DB: "db", Coll: "c"}

// generator makes documents, filters, sorts and indexes over few fields and
// values, so that they often meet.
type generator struct{ *rand.Rand }

func (g generator) pickOne(list ...any) any { return list[g.IntN(len(list))] }

func (g generator) scalar() any {
	switch g.IntN(8) {
	case 0:
		return nil
	case 1:
		return g.pickOne("", "a", "ab", "b")
	case 2:
		return float64(g.IntN(4)) + 0.5
	case 3:
		return g.pickOne(true, bson.DateTime(5), bson.MinKey{}, bson.D{{Key: "x", Value: int32(1)}})
	}
	return int32(g.IntN(5))
}

func (g generator) value(depth int) any {
	switch n := g.IntN(10); {
	case n < 2 && depth > 0:
		a := make(bson.A, g.IntN(4))
		for i := range a {
			a[i] = g.value(depth - 1)
		}
		return a
	case n < 5 && depth > 0:
		var d bson.D
		for _, f := range []string{"x", "y"} {
			if g.IntN(3) > 0 {
				d = append(d, bson.E{Key: f, Value: g.value(depth - 1)})
			}
		}
		return d
	}
	return g.scalar()
}

func (g generator) doc(id int) bson.D {
	d := bson.D{{Key: "_id", Value: int32(id)}}
	for _, f := range []string{"a", "b", "c"} {
		if g.IntN(5) > 0 {
			d = append(d, bson.E{Key: f, Value: g.value(2)})
		}
	}
	return d
}

func (g generator) path() string {
	return g.pickOne("a", "b", "c", "a.x", "a.y", "b.x").(string)
}

func (g generator) condition(path string) bson.E {
	ops := func(pairs ...any) bson.E {
		var d bson.D
		for i := 0; i < len(pairs); i += 2 {
			d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return bson.E{Key: path, Value: d}
	}
	switch g.IntN(9) {
	case 0:
		return ops("$gt", g.scalar())
	case 1:
		return ops("$gte", g.scalar(), "$lt", g.scalar())
	case 2:
		return ops("$in", bson.A{g.scalar(), g.scalar(), g.scalar()})
	case 3:
		return ops("$elemMatch", bson.D{{Key: "x", Value: g.scalar()}, {Key: "y", Value: g.scalar()}})
	case 4:
		return ops("$elemMatch", bson.D{{Key: "$gte", Value: g.scalar()}, {Key: "$lte", Value: g.scalar()}})
	case 5:
		return ops("$ne", g.scalar())
	case 6:
		return ops("$exists", g.IntN(2) == 0)
	case 7:
		return bson.E{Key: path, Value: bson.Regex{Pattern: "^a"}}
	}
	return bson.E{Key: path, Value: g.scalar()}
}

func (g generator) filter(depth int) bson.D {
	var d bson.D
	used := map[string]bool{}
	for range g.IntN(3) + 1 {
		if p := g.path(); !used[p] {
			used[p] = true
			d = append(d, g.condition(p))
		}
	}
	if depth > 0 && g.IntN(5) == 0 {
		op := g.pickOne("$or", "$and").(string)
		branches := bson.E{Key: op, Value: bson.A{g.filter(depth - 1), g.filter(depth - 1)}}
		if g.IntN(2) == 0 {
			return bson.D{branches}
		}
		d = append(d, branches)
	}
	return d
}

func (g generator) keys() bson.D {
	var d bson.D
	used := map[string]bool{}
	for range g.IntN(3) + 1 {
		if p := g.path(); !used[p] {
			used[p] = true
			d = append(d, bson.E{Key: p, Value: g.pickOne(int32(1), int32(-1))})
		}
	}
	return d
}

func (g generator) index(t *testing.T, n int) *store.IndexSpec {
	s := &store.IndexSpec{Name: fmt.Sprint("index", n), Key: g.keys()}
	for _, e := range s.Key {
		s.Fields = append(s.Fields, store.NewField(e.Key, store.Ordered, e.Value == int32(-1)))
	}
	switch g.IntN(5) {
	case 4:
		s.Wild = g.pickOne(&store.Wildcard{Excludes: true}, &store.Wildcard{Paths: []string{"a"}},
			&store.Wildcard{Paths: []string{"a.x"}, Excludes: true}).(*store.Wildcard)
		s.Key = bson.D{{Key: "$**", Value: g.pickOne(int32(1), int32(-1))}}
		s.Fields = store.WildcardFields(s.Key[0].Value == int32(-1))
	case 0:
		s.Sparse = true
	case 1:
		s.Partial = g.pickOne(
			bson.D{{Key: "a", Value: bson.D{{Key: "$exists", Value: true}}}},
			bson.D{{Key: "b", Value: bson.D{{Key: "$gte", Value: int32(1)}}}},
			bson.D{{Key: "c", Value: int32(2)}},
			bson.D{{Key: "a.x", Value: bson.D{{Key: "$gt", Value: int32(0)}}}},
		).(bson.D)
		m, err := query.Parse(s.Partial, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Covers = m.Match
	}
	return s
}

// TestPlansFindTheSame compares what plans find with and without indexes, and
// the order in which they do, over random collections.
func TestPlansFindTheSame(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	used, partial := 0, 0
	for seed := range seeds {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		plain, indexed := collections(t, g)
		for range 60 {
			filter := g.filter(1)
			m, err := query.Parse(filter, query.Options{})
			if err != nil {
				t.Fatalf("%v: %v", filter, err)
			}
			q := plan.Query{Filter: filter, Matcher: m}
			if g.IntN(2) == 0 {
				q.Sort = g.keys()
			}
			want, _ := find(t, plain, q)
			got, p := find(t, indexed, q)
			if len(p.Scans()) > 0 {
				used++
			}
			checkSame(t, seed, p, q, got, want)
			q.Filter = nil // as a join knows its condition: by the matcher alone
			got, p = find(t, indexed, q)
			if slices.ContainsFunc(p.Scans(), func(s *plan.Scan) bool { return s.Index.Spec.Partial != nil }) {
				partial++
			}
			checkSame(t, seed, p, q, got, want)
		}
	}
	if used < int(seeds)*10 || partial < int(seeds)/2 {
		t.Errorf("only %d plans used an index, and %d without a filter a partial one", used, partial)
	}
}

// What one element must fulfill bounds several fields of an index together, whatever else is asked of others.
func TestBoundsOfOneElement(t *testing.T) {
	s := store.New()
	docs := []string{
		`{_id: 1, a: [{x: 1, y: 9}, {x: 2, y: 3}]}`, `{_id: 2, a: [{x: 2, y: 9}, {x: 1, y: 3}]}`,
		`{_id: 3, a: [{x: 2, y: 3}]}`,
	}
	err := s.Write(context.Background(), func(w *store.Writer) error {
		if err := w.Create(ns, nil); err != nil {
			return err
		}
		spec := &store.IndexSpec{
			Name: "a.x_1_a.y_1",
			Key:  bson.D{{Key: "a.x", Value: int32(1)}, {Key: "a.y", Value: int32(1)}},
		}
		for _, e := range spec.Key {
			spec.Fields = append(spec.Fields, store.NewField(e.Key, store.Ordered, false))
		}
		if err := w.AddIndex(ns, spec); err != nil {
			return err
		}
		for _, d := range docs {
			if _, err := w.Insert(ns, valuetest.Doc(d)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Snapshot().Collection(ns)
	for filter, want := range map[string]struct{ ids, keys string }{
		`{a: {$elemMatch: {x: 2, y: 3}}}`:           {"[1 3]", `{"a.x":["[2, 2]"],"a.y":["[3, 3]"]}`},
		`{"a.x": 1, a: {$elemMatch: {x: 2, y: 3}}}`: {"[1]", `{"a.x":["[2, 2]"],"a.y":["[3, 3]"]}`},
		`{"a.x": 2, "a.y": 3}`: {
			ids:  "[1 2 3]",
			keys: `{"a.x":["[2, 2]"],"a.y":["[3, 3]","[MinKey, MaxKey]"]}`,
		},
		`{a: {$elemMatch: {x: 2}}, "a.y": 3}`: {
			ids:  "[1 2 3]",
			keys: `{"a.x":["[2, 2]"],"a.y":["[3, 3]","[MinKey, MaxKey]"]}`,
		},
		`{$and: [{a: {$elemMatch: {x: 2, y: 3}}}]}`:     {"[1 3]", `{"a.x":["[2, 2]"],"a.y":["[3, 3]"]}`},
		`{a: {$elemMatch: {x: {$gt: 1}, y: {$lt: 4}}}}`: {"[1 3]", `{"a.x":["(1, inf.0]"],"a.y":["[-inf.0, 4)"]}`},
	} {
		doc := valuetest.Doc(filter)
		found, p := find(t, c, plan.Query{Filter: doc, Matcher: query.MustParse(doc)})
		var ids []any
		for _, d := range found {
			ids = append(ids, d[0].Value)
		}
		slices.SortFunc(ids, func(a, b any) int { return int(a.(int32) - b.(int32)) })
		if got := fmt.Sprint(ids); got != want.ids {
			t.Errorf("%s finds %s, want %s", filter, got, want.ids)
		}
		if len(p.Scans()) != 1 {
			t.Fatalf("%s: %d scans", filter, len(p.Scans()))
		}
		if got := fmt.Sprint(p.Scans()[0].Bounds()); got != want.keys {
			t.Errorf("%s: bounds %s, want %s", filter, got, want.keys)
		}
	}
}

// collections makes two collections of the same documents, the second of which
// has indexes, some made before and some after the documents.
func collections(t *testing.T, g generator) (plain, indexed *store.Collection) {
	var docs []bson.D
	for i := range 5 + g.IntN(60) {
		docs = append(docs, g.doc(i))
	}
	build := func(indexes bool) *store.Collection {
		s := store.New()
		err := s.Write(context.Background(), func(w *store.Writer) error {
			if err := w.Create(ns, nil); err != nil {
				return err
			}
			n := 0
			add := func() error {
				for n++; n%4 != 0; n++ {
					err := w.AddIndex(ns, g.index(t, n))
					if err != nil && mongoerr.CodeOf(err) != mongoerr.CannotIndexParallelArrays {
						return err
					}
				}
				return nil
			}
			if indexes {
				if err := add(); err != nil {
					return err
				}
			}
			for _, d := range docs {
				_, err := w.Insert(ns, d)
				if err != nil && mongoerr.CodeOf(err) != mongoerr.CannotIndexParallelArrays {
					return err
				}
			}
			if indexes {
				return add()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s.Snapshot().Collection(ns)
	}
	indexed = build(true)
	docs = docs[:0]
	for r := range indexed.Records.All() {
		docs = append(docs, r.Doc)
	}
	return build(false), indexed
}

func find(t *testing.T, c *store.Collection, q plan.Query) ([]bson.D, *plan.Plan) {
	p, err := plan.Choose(c, q)
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.D
	for e := p.Open(); ; {
		r, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return docs, p
		}
		docs = append(docs, r.Doc)
	}
}

func checkSame(t *testing.T, seed uint64, p *plan.Plan, q plan.Query, got, want []bson.D) {
	t.Helper()
	how := ""
	for _, s := range p.Scans() {
		how += fmt.Sprintf(" %v sparse %v partial %v %v;", s.Index.Spec.Key, s.Index.Spec.Sparse,
			s.Index.Spec.Partial, s.Bounds())
	}
	if s, err := order.Parse(q.Sort); err != nil || !slices.IsSortedFunc(got, s.Compare) {
		t.Errorf("seed %d: %v by%s isn't sorted by %v", seed, q.Filter, how, q.Sort)
	}
	byID := func(a, b bson.D) int { return int(a[0].Value.(int32) - b[0].Value.(int32)) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	if !slices.EqualFunc(got, want, func(a, b bson.D) bool { return byID(a, b) == 0 }) {
		t.Errorf("seed %d: %v sort %v by%s finds %d documents, want %d:\n%v\nwant\n%v", seed, q.Filter, q.Sort, how,
			len(got), len(want), got, want)
	}
}
