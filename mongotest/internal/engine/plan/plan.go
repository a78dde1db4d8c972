// Package plan chooses how to find a query's documents, by an index where one
// fits, and finds them.
//
// An index fits when the filter bounds its first field, or when it delivers
// the documents in the order that the query asks for. Among those that fit,
// the one that leaves the least wins, by a fixed estimate: equality before
// ranges, more fields before fewer, and then the order asked for. The choice
// depends on the indexes and the query alone, so a test sees the same plan
// every time.
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

// Query is what documents to find, and in which order.
type Query struct {
	Filter  bson.D
	Matcher *query.Matcher // of Filter
	Sort    bson.D         // nil or empty means any order
	Skip    int64
	Limit   int64 // 0 means all
	Hint    any   // the name of an index, or its key; nil means none

	Watch  *interrupt.Watch // ends the plan
	Keyed  bool             // Exec.Key is asked for
	NoDisk bool             // a sort may hold no more than order.MaxMemory
}

// Plan is how a query runs on one version of a collection.
type Plan struct {
	query   Query
	coll    *store.Collection // nil when there is none, so nothing is found
	scans   []*Scan           // none means all documents; several mean a union
	reverse bool              // all documents, last first
	sort    *order.Sort       // sorts what was found; nil when it comes in order
	near    *query.Near       // the condition that gives a distance
	text    *fts.Search       // the text search
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
	if done, err := p.special(natural); done || err != nil {
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
		p.choose()
	}
	p.clustered()
	if err == nil {
		err = p.checkKeyed()
	}
	return p, err
}

// clustered makes a plan that walks all of a clustered index one that reads all documents: that is what they are.
func (p *Plan) clustered() {
	if len(p.scans) == 1 && p.scans[0].Index.Spec.Clustered && p.scans[0].bounds[0].free {
		p.reverse, p.scans = p.scans[0].Reverse, nil
	}
}

// Scans returns the index scans of the plan: none when it reads all documents.
func (p *Plan) Scans() []*Scan { return p.scans }

// Exists reports whether the collection is there.
func (p *Plan) Exists() bool { return p.coll != nil }

// Sorts reports whether the plan sorts what it has found.
func (p *Plan) Sorts() bool { return p.sort != nil }

// Query returns the query that the plan is for.
func (p *Plan) Query() Query { return p.query }

// Reverse reports whether a plan that reads all documents begins with the last.
func (p *Plan) Reverse() bool { return p.reverse }

// choose sets the plan to the best that the indexes allow.
func (p *Plan) choose() {
	if s := p.pointOnID(); s != nil {
		p.scans, p.sort = []*Scan{s}, nil
		return
	}
	if len(p.coll.Indexes) == 1 && p.query.Matcher.IsEmpty() && p.sort == nil {
		return
	}
	best := bestFor(p.coll, p.query.Filter, p.query.Matcher, p.query.Sort)
	if best == nil || !best.bounded {
		if scans := p.union(); scans != nil {
			p.scans = scans
			return
		}
	}
	if best != nil {
		p.use(best)
	}
}

// union returns a scan for each branch of the first $or whose branches all
// have an index, or nil when there is none. Other conditions narrow the
// branches' scans.
func (p *Plan) union() []*Scan {
	list, _ := bsonval.Get(p.query.Filter, "$or")
	filters, _ := list.(bson.A)
	if len(p.query.Filter) != 1 { // they are other branches' perhaps
		filters = nil
	}
next:
	for _, branches := range p.query.Matcher.Or() {
		scans := make([]*Scan, len(branches))
		for i, m := range branches {
			var filter bson.D
			if len(filters) == len(branches) {
				filter, _ = filters[i].(bson.D)
			}
			if text := m.Text(true); text != nil && p.text != nil {
				s, err := p.textScan(text)
				if err != nil {
					continue next
				}
				scans[i] = s
				continue
			}
			c := bestFor(p.coll, filter, m, nil)
			if c == nil {
				continue next
			}
			scans[i] = c.scan
		}
		return scans
	}
	return nil
}

func (p *Plan) use(c *candidate) {
	p.scans = []*Scan{c.scan}
	if c.sorted {
		p.sort = nil
	}
}

// pointOnID returns the scan for a filter that is {_id: v} and nothing else,
// with a v that only equals itself: the fast path.
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
