package plan

// This file runs a plan: records by scans or all of them, matched, sorted, skipped and limited.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Exec is a plan that runs. It reads one version of the collection, from which it returns one record after the other.
// One goroutine at a time uses it.
type Exec struct {
	plan    *Plan
	records store.Cursor[*store.Record] // when there are no scans
	ids     store.Cursor[store.Entry]   // in the place of records, of a clustered collection
	started bool
	ended   bool
	walkers []walker
	at      int // the walker whose turn it is
	// seen has the records that were returned, when one may come again.
	seen map[int64]bool
	keys map[int64]bson.D // of the records examined, if the query is Keyed
	// sorted are the matches that are left, once they are loaded: only a plan that sorts loads them.
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

// Try starts the plan only to see what it does. It doesn't count as a use of the indexes, which $indexStats shows.
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
	// Only then can a record come twice.
	if len(p.scans) > 1 || len(p.scans) == 1 && p.scans[0].Index.IsMultikey() {
		e.seen = map[int64]bool{}
	}
	return e
}

// Keys returns how many index keys have been examined: totalKeysExamined of explain.
func (e *Exec) Keys() int {
	n := 0
	for i := range e.walkers {
		if !e.walkers[i].scan.Index.Spec.Clustered { // its keys are the documents
			n += e.walkers[i].examined
		}
	}
	return n
}

// KeysOf returns how many keys of the plan's i-th scan have been examined. explain shows each scan by itself.
func (e *Exec) KeysOf(i int) int { return e.walkers[i].examined }

// Docs returns how many documents have been examined: totalDocsExamined of explain.
func (e *Exec) Docs() int { return e.docs }

// Next returns the next record, or nil when there is none.
func (e *Exec) Next() (*store.Record, error) {
	q := &e.plan.query
	for {
		if q.Limit > 0 && e.count >= q.Limit {
			return nil, nil
		}
		r, err := e.nextInOrder()
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

// nextInOrder returns the next match in the order asked for. A plan that doesn't sort finds them in that order.
func (e *Exec) nextInOrder() (*store.Record, error) {
	if e.plan.sort == nil && e.plan.near == nil {
		return e.nextMatch()
	}
	if !e.loaded {
		if err := e.loadSorted(); err != nil {
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

// loadSorted reads all matches and sorts them. What a limit leaves out is dropped at once. If the sort may not use
// the disk, it fails where MongoDB's would run out of memory, although the engine needs no disk.
func (e *Exec) loadSorted() error {
	type keyed struct {
		record *store.Record
		key    bson.A
	}
	var list []keyed
	e.loaded = true
	for {
		r, err := e.nextMatch()
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
	// What is skipped is skipped later, in Next.
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

// nextMatch returns the next record that matches the filter. Each that it looks at counts as examined.
func (e *Exec) nextMatch() (*store.Record, error) {
	watch := e.plan.query.Watch
	for {
		r := e.nextCandidate()
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

// nextCandidate returns the next record to examine: of the scans one after the other, or of all.
func (e *Exec) nextCandidate() *store.Record {
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
			// Another key of the record, or another branch, has found it before.
			if e.seen[entry.Record] {
				continue
			}
			e.seen[entry.Record] = true
		}
		if e.plan.query.Keyed {
			e.keepKey(e.walkers[e.at].scan.Index.Spec, entry)
		}
		r, _ := e.plan.coll.Record(entry.Record)
		return r
	}
	return nil
}

// scanAll returns the next of all records: in the order in which they were stored, or by _id in a clustered
// collection.
func (e *Exec) scanAll() *store.Record {
	byID := e.plan.coll.Indexes[0].Spec.Clustered
	var all steps = &e.records
	if byID {
		all = &e.ids
	}
	ok := false
	switch {
	// A cursor isn't asked again once it has ended.
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

// steps are those of a cursor over anything: records, or entries of an index.
type steps interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
}
