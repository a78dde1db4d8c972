package plan

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Exec is a plan that runs. It reads one version of the collection, from which
// it returns one record after the other.
type Exec struct {
	plan    *Plan
	records store.Cursor[*store.Record] // when there are no scans
	ids     store.Cursor[store.Entry]   // in the place of records, of a clustered collection
	started bool
	ended   bool
	walkers []walker
	at      int              // the walker whose turn it is
	seen    map[int64]bool   // records returned, when one may come again
	keys    map[int64]bson.D // of the records examined, if the query is Keyed
	sorted  []*store.Record
	loaded  bool
	skipped int64
	count   int64
	docs    int
}

// Open starts the plan for a command, which uses the indexes of the plan.
func (p *Plan) Open() *Exec {
	for i, s := range p.scans {
		if !slices.ContainsFunc(p.scans[:i], func(before *Scan) bool { return before.Index.Spec == s.Index.Spec }) {
			s.Index.Spec.Uses.Add()
		}
	}
	return p.Try()
}

// Try starts the plan only to see what it does.
func (p *Plan) Try() *Exec {
	e := &Exec{plan: p}
	if p.coll == nil {
		return e
	}
	switch id := p.coll.Indexes[0]; {
	case len(p.scans) > 0:
	case id.Spec.Clustered:
		e.ids = id.Entries.Cursor()
	default:
		e.records = p.coll.Records.Cursor()
	}
	e.walkers = make([]walker, len(p.scans))
	for i, s := range p.scans {
		e.walkers[i] = walker{scan: s, cursor: s.Index.Entries.Cursor(), watch: p.query.Watch}
	}
	if len(p.scans) > 1 || len(p.scans) == 1 && p.scans[0].Index.IsMultikey() {
		e.seen = map[int64]bool{}
	}
	return e
}

// Keys returns how many index keys have been examined.
func (e *Exec) Keys() int {
	n := 0
	for i := range e.walkers {
		if !e.walkers[i].scan.Index.Spec.Clustered { // its keys are the documents
			n += e.walkers[i].examined
		}
	}
	return n
}

// KeysOf returns how many keys of the plan's i-th scan have been examined.
func (e *Exec) KeysOf(i int) int { return e.walkers[i].examined }

// Docs returns how many documents have been examined.
func (e *Exec) Docs() int { return e.docs }

// Next returns the next record, or nil when there is none.
func (e *Exec) Next() (*store.Record, error) {
	q := &e.plan.query
	for {
		if q.Limit > 0 && e.count >= q.Limit {
			return nil, nil
		}
		r, err := e.ordered()
		if r == nil || err != nil {
			return nil, err
		}
		if e.skipped < q.Skip {
			e.skipped++
			continue
		}
		e.count++
		return r, nil
	}
}

// ordered returns the next match in the order asked for.
func (e *Exec) ordered() (*store.Record, error) {
	if e.plan.sort == nil && e.plan.near == nil {
		return e.match()
	}
	if !e.loaded {
		if err := e.load(); err != nil {
			return nil, err
		}
	}
	if len(e.sorted) == 0 {
		return nil, nil
	}
	r := e.sorted[0]
	e.sorted = e.sorted[1:]
	return r, nil
}

// load reads all matches and sorts them.
func (e *Exec) load() error {
	type keyed struct {
		record *store.Record
		key    bson.A
	}
	var list []keyed
	e.loaded = true
	for {
		r, err := e.match()
		if err != nil {
			return err
		}
		if r == nil {
			break
		}
		list = append(list, keyed{r, e.plan.key(r.Doc)})
	}
	q := &e.plan.query
	err := interrupt.SortStable(q.Watch, list, func(a, b keyed) int { return e.plan.compare(a.key, b.key) })
	if err != nil {
		return err
	}
	if keep := q.Skip + q.Limit; q.Limit > 0 && keep < int64(len(list)) {
		list = list[:keep]
	}
	held := 0
	e.sorted = make([]*store.Record, len(list))
	for i, k := range list {
		e.sorted[i] = k.record
		if !q.NoDisk {
			continue
		}
		if held += bsonval.Size(k.record.Doc); held > order.MaxMemory {
			return order.TooLarge()
		}
	}
	return nil
}

// match returns the next record that matches the filter.
func (e *Exec) match() (*store.Record, error) {
	watch := e.plan.query.Watch
	for {
		r := e.candidate()
		if err := watch.Step(); err != nil || r == nil {
			return nil, err
		}
		e.docs++
		ok, err := e.plan.query.Matcher.Match(r.Doc)
		if err != nil {
			return nil, err
		}
		if ok {
			return r, nil
		}
	}
}

// candidate returns the next record to examine.
func (e *Exec) candidate() *store.Record {
	if e.plan.coll == nil {
		return nil
	}
	if len(e.walkers) == 0 {
		return e.scanAll()
	}
	for e.at < len(e.walkers) {
		entry, ok := e.walkers[e.at].next()
		if !ok {
			e.at++
			continue
		}
		if e.seen != nil {
			if e.seen[entry.Record] {
				continue
			}
			e.seen[entry.Record] = true
		}
		if e.plan.query.Keyed {
			e.keep(e.walkers[e.at].scan.Index.Spec, entry)
		}
		r, _ := e.plan.coll.Record(entry.Record)
		return r
	}
	return nil
}

// scanAll returns the next of all records.
func (e *Exec) scanAll() *store.Record {
	byID := e.plan.coll.Indexes[0].Spec.Clustered
	var all steps = &e.records
	if byID {
		all = &e.ids
	}
	ok := false
	switch {
	case e.ended:
	case !e.started && e.plan.reverse:
		ok = all.Last()
	case !e.started:
		ok = all.First()
	case e.plan.reverse:
		ok = all.Prev()
	default:
		ok = all.Next()
	}
	e.started = true
	if !ok {
		e.ended = true
		return nil
	}
	if byID {
		r, _ := e.plan.coll.Record(e.ids.Item().Record)
		return r
	}
	return e.records.Item()
}

// steps are those of a cursor over anything.
type steps interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
}
