// Package plan chooses how to find a query's documents, by an index where one fits, and finds them.
//
// An index {a: 1, b: -1}, a filter, and the scan that it becomes, as explain shows it:
//
//	{a: {$gte: 1, $lt: 5}, b: 3}
//	a: ["[1, 5)"], b: ["[3, 3]"]
//
// The steps:
//
//  1. [Choose] reads the sort and the hint. Distances and text searches need an index of their own kind
//     (special.go).
//  2. Otherwise each index becomes a candidate: the intervals of package query are laid on its fields
//     (candidate.go, wildcard.go). An index fits when the filter bounds its first field, or when it delivers the
//     documents in the order that the query asks for.
//  3. Among those that fit, the one that leaves the least wins, by a fixed estimate: equality before ranges, more
//     fields before fewer, and then the order asked for. An $or may be a union of scans, one for each branch.
//  4. [Plan.Open] starts the plan on one version of the collection, and [Exec.Next] returns one record after the
//     other (exec.go, scan.go). Each is matched against the whole filter.
//
// Invariants:
//
//   - A scan finds at least the documents that match. Bounds only save work; the matcher decides.
//   - The choice depends on the indexes and the query alone, so a test sees the same plan every time. MongoDB tries
//     plans out and may choose another (https://www.mongodb.com/docs/manual/core/query-plans/).
//   - A record is returned once, even if a multikey index has several keys of it, or several branches find it.
//   - A sparse or partial index serves a query only if it has every document that the filter matches
//     (https://www.mongodb.com/docs/manual/core/index-partial/).
//   - A plan reads one version of the collection. Writes that come later don't change what it finds.
//
// The engine's commands call Choose for reads, updates and deletes; explain shows what Plan, Scan and Exec tell of
// themselves.
package plan

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Query is what documents to find, and in which order. Filter and Matcher are the same condition, as a document and
// parsed.
type Query struct {
	Filter bson.D
	// Matcher is Filter, parsed.
	Matcher *query.Matcher
	// Sort may be nil or empty, for any order.
	Sort bson.D
	Skip int64
	// Limit is the most documents to return; 0 means all.
	Limit int64
	// Hint is the name of an index, or its key; nil means none.
	Hint any

	// Watch ends the plan when the command is over.
	Watch *interrupt.Watch
	// Keyed is set if Exec.Key is asked for, by returnKey.
	Keyed bool
	// NoDisk is set if a sort may hold no more than order.MaxMemory, as allowDiskUse: false asks for.
	NoDisk bool
}

// Plan is how a query runs on one version of a collection. It may be opened several times.
type Plan struct {
	query Query
	// coll is nil when there is no collection, so nothing is found.
	coll *store.Collection
	// scans are none for all documents; several mean a union.
	scans []*Scan
	// reverse is set to read all documents, last first.
	reverse bool
	// sort sorts what was found; nil when it comes in order.
	sort *order.Sort
	near *query.Near // the condition that gives a distance
	text *fts.Search // the text search
}

// Choose returns the plan for a query. coll may be nil.
func Choose(coll *store.Collection, q Query) (*Plan, error) {
	p := &Plan{query: q, coll: coll}
	natural, spec, err := takeNatural(q.Sort)
	if err != nil {
		return nil, err
	}
	p.query.Sort = spec
	p.reverse = natural < 0
	if err := p.parseSort(spec); err != nil {
		return nil, err
	}
	// A special query has its plan now, or can't have any.
	if done, err := p.planSpecial(natural); done || err != nil {
		if err == nil {
			err = p.checkKeyed()
		}
		return p, err
	}
	switch {
	case q.Hint != nil:
		err = p.useHint(natural)
	case coll == nil, natural != 0:
	default:
		p.chooseScans()
	}
	p.readClustered()
	if err == nil {
		err = p.checkKeyed()
	}
	return p, err
}

// readClustered makes a plan that walks all of a clustered index one that reads all documents: that is what they are.
func (p *Plan) readClustered() {
	if len(p.scans) == 1 && p.scans[0].Index.Spec.Clustered && p.scans[0].bounds[0].free {
		p.reverse, p.scans = p.scans[0].Reverse, nil
	}
}

// Scans returns the index scans of the plan: none when it reads all documents, several for a union.
func (p *Plan) Scans() []*Scan { return p.scans }

// Exists reports whether the collection is there.
func (p *Plan) Exists() bool { return p.coll != nil }

// Sorts reports whether the plan sorts what it has found.
func (p *Plan) Sorts() bool { return p.sort != nil }

// Query returns the query that the plan is for.
func (p *Plan) Query() Query { return p.query }

// Reverse reports whether a plan that reads all documents begins with the last.
func (p *Plan) Reverse() bool { return p.reverse }

// chooseScans sets the plan to the best that the indexes allow. A point on _id comes first, without looking at the
// other indexes. A union is tried if no index bounds the query as a whole.
func (p *Plan) chooseScans() {
	if s := p.pointOnID(); s != nil {
		p.scans, p.sort = []*Scan{s}, nil
		return
	}
	// Nothing to bound and nothing to sort: all documents are read.
	if len(p.coll.Indexes) == 1 && p.query.Matcher.IsEmpty() && p.sort == nil {
		return
	}
	best := findBest(p.coll, p.query.Filter, p.query.Matcher, p.query.Sort)
	// An index that only sorts loses to a union of bounded scans.
	if best == nil || !best.bounded {
		if scans := p.planUnion(); scans != nil {
			p.scans = scans
			return
		}
	}
	if best != nil {
		p.useCandidate(best)
	}
}

// planUnion returns a scan for each branch of the first $or whose branches all have an index, or nil when there is
// none. Other conditions narrow the branches' scans.
func (p *Plan) planUnion() []*Scan {
	list, _ := bsonval.Get(p.query.Filter, "$or")
	filters, _ := list.(bson.A)
	if len(p.query.Filter) != 1 { // they are other branches' perhaps
		filters = nil
	}
next:
	for _, branches := range p.query.Matcher.SplitOr() {
		scans := make([]*Scan, len(branches))
		for i, m := range branches {
			var filter bson.D
			if len(filters) == len(branches) {
				filter, _ = filters[i].(bson.D)
			}
			if text := m.FindText(true); text != nil && p.text != nil {
				s, err := p.textScan(text)
				if err != nil {
					continue next
				}
				scans[i] = s
				continue
			}
			// The branches' scans come one after the other, so none can deliver an order.
			c := findBest(p.coll, filter, m, nil)
			if c == nil {
				continue next
			}
			scans[i] = c.scan
		}
		return scans
	}
	return nil
}

// useCandidate makes a candidate the plan's only scan. If it delivers the order asked for, nothing is sorted.
func (p *Plan) useCandidate(c *candidate) {
	p.scans = []*Scan{c.scan}
	if c.sorted {
		p.sort = nil
	}
}

// pointOnID returns the scan for a filter that is {_id: v} and nothing else, with a v that only equals itself: the
// fast path.
func (p *Plan) pointOnID() *Scan {
	f := p.query.Filter
	if len(f) != 1 || f[0].Key != "_id" || p.coll.Indexes[0].Spec.Internal {
		return nil
	}
	id := p.coll.Indexes[0]
	if by := id.Spec.Collation; by != nil || p.query.Matcher.Collation() != nil {
		if _, ok := f[0].Value.(string); ok { // the key may be another's too
			return nil
		}
	}
	switch v := f[0].Value.(type) {
	case bson.ObjectID, string, int32, int64, bool, bson.DateTime, bson.Binary:
		var all struct { // one allocation
			scan  Scan
			field [1]bounds
			value [1]query.Interval
		}
		all.value[0] = query.Point(v)
		all.field[0].list = all.value[:]
		all.scan = Scan{Index: id, bounds: all.field[:]}
		return &all.scan
	}
	return nil
}
