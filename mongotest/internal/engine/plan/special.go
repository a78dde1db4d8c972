package plan

// This file has the queries that only one kind of index can serve: distances, regions and texts.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// NearCondition returns the condition whose distances the plan finds, and the index that it needs; nil if there is
// none.
func (p *Plan) NearCondition() (*query.Near, *store.Index) {
	if p.near == nil || len(p.scans) == 0 {
		return nil, nil
	}
	return p.near, p.scans[0].Index
}

// Text returns the text search of the plan and the index that it needs; nil if there is none.
func (p *Plan) Text() (*fts.Search, *store.Index) {
	if p.text == nil {
		return nil, nil
	}
	for _, s := range p.scans {
		if s.Index.Spec.Text != nil {
			return p.text, s.Index
		}
	}
	return nil, nil
}

// planSpecial plans a query with a condition that an index must serve, false if it has none. These conditions allow
// no $natural, and a text search allows no hint.
func (p *Plan) planSpecial(natural int64) (bool, error) {
	p.near, p.text = p.query.Matcher.FindNear(), p.query.Matcher.FindText(false)
	switch {
	case p.near == nil && p.text == nil:
		return false, nil
	case natural != 0 && p.near != nil:
		return true, mongoerr.New(mongoerr.BadValue, "geoNear expression not allowed with $natural sort order")
	case natural != 0:
		return true, mongoerr.New(mongoerr.BadValue, "text expression not allowed with $natural sort order")
	case p.text != nil && p.query.Hint != nil:
		return true, mongoerr.New(mongoerr.BadValue, "text and hint not allowed in same query")
	case p.coll == nil:
		return true, nil
	case p.near != nil:
		return true, p.planDistance()
	}
	return true, p.planText()
}

// noPlan is MongoDB's error for a query that no index can serve, though one must.
func (p *Plan) noPlan(format string, args ...any) error {
	err := mongoerr.New(mongoerr.NoQueryExecutionPlans, format, args...)
	return err.Prefix("error processing query: ns=%s: planner returned error :: caused by :: ", p.coll.NS)
}

// planDistance scans the cells around a point. What it finds is sorted by distance afterwards, since cells are in no
// such order.
func (p *Plan) planDistance() error {
	n := p.near
	hinted, err := p.findHinted()
	if err != nil {
		return err
	}
	for _, x := range p.coll.Indexes {
		kind, ok := store.Sphere, n.UsesSphere()
		if f := x.Spec.Field(store.Plane); f != nil {
			kind, ok = store.Plane, n.UsesPlain()
		}
		f := x.Spec.Field(kind)
		partial := x.Spec.Partial != nil &&
			!implies(p.query.Filter, p.query.Matcher.Bounds(), x.Spec, p.query.Matcher.Collation())
		if !ok || f == nil || f.Name != n.Path || x.Spec.Hidden || partial || hinted != nil && hinted != x {
			continue
		}
		p.scans = []*Scan{cellScan(x, f.Name, n.Rects())}
		return nil
	}
	return p.noPlan("unable to find index for $geoNear query")
}

// findHinted returns the index that the query's hint names, nil if it has none.
func (p *Plan) findHinted() (*store.Index, error) {
	hint := p.query.Hint
	if d, ok := hint.(bson.D); hint == nil || ok && len(d) == 0 {
		return nil, nil
	}
	for _, x := range p.coll.Indexes {
		if hint == x.Spec.Name || bsonval.Equal(x.Spec.Key, hint) {
			return x, nil
		}
	}
	return nil, mongoerr.New(mongoerr.BadValue,
		"error processing query: ns=%s: planner returned error :: caused by :: "+
			"hint provided does not correspond to an existing index", p.coll.NS)
}

// cellScan scans the keys of a geospatial index that a document in one of the rectangles has one of. The key
// Everywhere is among them: it stands for shapes that meet too many cells.
func cellScan(x *store.Index, name string, rects []geo.Rect) *Scan {
	b := bounds{list: []query.Interval{query.Point(geo.Everywhere)}}
	var cells []geo.Cells
	for _, r := range rects {
		cells = append(cells, x.Spec.Grid.CellsIn(r)...)
	}
	for _, c := range geo.Join(cells) {
		b.list = append(b.list, query.Interval{Lo: c.First, Hi: c.Last, LoInc: true, HiInc: true})
	}
	return &Scan{Index: x, bounds: []bounds{b}, derived: name}
}

// planText scans the terms of a search, and what else an $or has beside it. A text search below an $or needs indexes
// for all branches.
func (p *Plan) planText() error {
	// The search is a condition of all matches, not of a branch.
	if top := p.query.Matcher.FindText(true); top != nil {
		s, err := p.textScan(top)
		if err == nil {
			p.scans = []*Scan{s}
		}
		return err
	}
	if p.scans = p.planUnion(); p.scans == nil {
		return p.noPlan("Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to " +
			"be indexed as well.")
	}
	return nil
}

// textScan scans the terms of a search in the text index. The fields before the texts in a compound index must be
// bound to one value each, as the manual says
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/).
func (p *Plan) textScan(s *fts.Search) (*Scan, error) {
	for _, x := range p.coll.Indexes {
		if x.Spec.Text == nil || x.Spec.Hidden {
			continue
		}
		if x.Spec.Partial != nil &&
			!implies(p.query.Filter, p.query.Matcher.Bounds(), x.Spec, p.query.Matcher.Collation()) {
			continue
		}
		for _, f := range x.Spec.Fields {
			// Fields behind the texts don't matter for the search.
			if f.Kind == store.Text {
				break
			}
			list := p.query.Matcher.TightBounds()[f.Name]
			// Terms are stored behind the fields before them, so the scan must know their values.
			if len(list) != 1 || !list[0].IsPoint() {
				return nil,
					p.noPlan("failed to use text index to satisfy $text query (if text index is compound, are " +
						"equality " +
						"predicates given for all prefix fields?)")
			}
		}
		b := bounds{}
		for _, term := range s.Terms() {
			b.list = append(b.list, query.Point(term))
		}
		return &Scan{Index: x, bounds: []bounds{b}, derived: "_fts"}, nil
	}
	return nil, p.noPlan("failed to use text index to satisfy $text query (if text index is compound, are equality " +
		"predicates given for all prefix fields?)")
}

// findRegion returns the scan of a geospatial index for where the matches must be, nil if it serves none. Such a scan
// is estimated at a fifth of the keys.
func findRegion(x *store.Index, filter bson.D, m *query.Matcher) *candidate {
	if x.Spec.Text != nil || x.Spec.Partial != nil && !implies(filter, m.Bounds(), x.Spec, m.Collation()) {
		return nil
	}
	for _, r := range m.Regions() {
		f := x.Spec.Field(store.Sphere)
		ok := r.Round
		if f == nil {
			f, ok = x.Spec.Field(store.Plane), r.Plane
		}
		if ok && f != nil && f.Name == r.Path {
			return &candidate{scan: cellScan(x, f.Name, r.Area.Rects()), bounded: true, left: 0.2}
		}
	}
	return nil
}

// parseSort reads what the plan must sort by: a sort that the query asks for, or the distance. It is dropped when a
// candidate delivers the order.
func (p *Plan) parseSort(spec bson.D) (err error) {
	if len(spec) == 0 {
		return nil
	}
	if p.sort, err = order.ParseScored(spec, p.query.Matcher.FindText(false) != nil); err == nil {
		p.sort = p.query.Matcher.Collation().Sort(p.sort)
	}
	return err
}

// key returns what a document is sorted by.
func (p *Plan) key(d bson.D) bson.A {
	switch {
	case p.sort == nil:
		distance, _, _ := p.near.Distance(d)
		return bson.A{distance}
	case p.sort.UsesScore():
		return p.sort.ScoredKey(d, p.query.Matcher.TextScore(d))
	}
	return p.sort.Key(d)
}

// compare compares what two documents are sorted by.
func (p *Plan) compare(a, b bson.A) int {
	if p.sort == nil {
		return bsonval.Compare(a[0], b[0])
	}
	return p.sort.CompareKeys(a, b)
}
