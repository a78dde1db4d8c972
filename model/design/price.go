package design

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Price is the average cost of one operation under a [Layout].
type Price struct {
	Operation string
	Rate      float64
	Within    time.Duration // the operation's limit; 0 means none

	Commands float64 // commands sent
	Read     float64 // documents returned
	Written  float64 // documents inserted, updated or deleted
	Scanned  float64 // index entries read
	Entries  float64 // index entries added or removed
	Bytes    float64 // bytes returned
	Loaded   float64 // bytes of whole documents that the server reads or writes
	Shards   float64 // shards that commands reach beyond their first
	Cold     float64 // documents read from disk

	Time time.Duration // the operation's time, computed from Workload.Server.Costs

	// Sent lists the commands, in mongosh's syntax or in words.
	Sent []string
}

// isLate reports whether the operation takes longer than its limit Within.
func (p Price) isLate() bool { return p.Within > 0 && p.Time > p.Within }

// A Stored describes one collection under a [Layout]. The numbers are estimates.
type Stored struct {
	Collection string
	Documents  int64
	Average    float64 // average bytes of a document
	Largest    float64 // bytes of a document with Relation.Max elements in its arrays
	Indexes    []model.Index
}

// Prices are the costs of a workload under one [Layout].
type Prices struct {
	Layout      Layout
	Operations  []Price       // the operations, sorted by Rate × Time, greatest first
	Collections []Stored      // the collections, in the order of the entities
	Time        time.Duration // sum of Rate × Time of all Operations
	Late        int           // number of operations that exceed their Price.Within
	Costs       Costs         // the costs from which Time was computed
	Model       *model.Model  // the techniques that implement the layout

	store *store
}

// Price computes each operation's cost under the layout l. A workload that contradicts
// itself, or a layout that doesn't fit it, gives a [*model.ValueError].
func (w Workload) Price(l Layout) (Prices, error) {
	g, err := newGraph(w)
	if err != nil {
		return Prices{}, err
	}
	s, err := newStore(g, l)
	if err != nil {
		return Prices{}, err
	}
	return s.price()
}

func (s *store) price() (Prices, error) {
	p := Prices{Layout: s.layout, Costs: s.Server.Costs, Model: s.model, store: s}
	var total float64
	for i := range s.Entities {
		e := s.entities[s.Entities[i].Name]
		if p := s.pages[s.home[e]]; p != nil {
			e = s.hostOf(p)
		} else if s.home[e] != nil {
			continue
		}
		z := s.sizes[e]
		p.Collections = append(p.Collections, Stored{e.Name, e.Count, z.average, z.largest, s.indexes[e.Name]})
		total += float64(e.Count) * (z.average + entrySize*float64(1+len(s.indexes[e.Name])))
	}
	cold := 0.
	if m := float64(s.Server.Memory); m > 0 && m < total {
		cold = 1 - m/total
	}
	for i := range s.Operations {
		one, err := s.priceOf(i, cold)
		if err != nil {
			return p, err
		}
		p.Operations = append(p.Operations, one)
		p.Time += time.Duration(one.Rate * float64(one.Time))
		if one.isLate() {
			p.Late++
		}
	}
	slices.SortStableFunc(p.Operations, func(a, b Price) int {
		return cmp.Compare(b.Rate*float64(b.Time), a.Rate*float64(a.Time))
	})
	return p, nil
}

// entrySize is the approximate bytes of an index entry.
const entrySize = 32

func (s *store) priceOf(i int, cold float64) (Price, error) {
	o := s.Operations[i]
	t := &till{store: s, p: Price{Operation: o.Name, Rate: o.Rate, Within: o.Within}}
	if err := newWork(s, t).operation(i); err != nil {
		return Price{}, err
	}
	p, c := t.p, s.Server.Costs
	p.Cold = cold * (p.Read + p.Written)
	p.Time = p.At(c)
	return p, nil
}

// At returns the operation's time on a server with the costs c. A cost of 0 takes no
// time.
func (p Price) At(c Costs) time.Duration {
	return time.Duration(p.Commands*float64(c.Command) + p.Shards*float64(c.Shard) + p.Read*float64(c.Read) +
		p.Written*float64(c.Written) +
		p.Entries*float64(c.Entry) + p.Scanned*float64(c.Scanned) + p.Bytes/1024*float64(c.Kilobyte) +
		p.Loaded/1024*float64(c.Loaded) + p.Cold*float64(c.Disk))
}

// Operation returns the price of the operation with this name, or a zero Price.
func (p Prices) Operation(name string) Price {
	for _, o := range p.Operations {
		if o.Operation == name {
			return o
		}
	}
	return Price{}
}

// till is the database of a priced work.
type till struct {
	*store
	p Price
}

func (t *till) find(q *model.Find[doc], e *entity, w expected) ([]doc, error) {
	if q.Err != nil {
		return nil, q.Err
	}
	t.p.Commands += w.some * float64(q.Cost().Commands)
	t.sent(q.String())
	if more := math.Floor(w.n / batch); more > 0 {
		t.p.Commands += more
		t.sent(fmt.Sprintf("and one command for each further %d documents", batch))
	}
	t.p.Read += w.n
	t.p.Scanned += w.n
	t.p.Bytes += w.n * w.bytes
	t.p.Loaded += max(w.n, w.loaded) * t.sizes[e].average
	t.send(w.byID, w.n)
	return []doc{t.document(exampleWorld, e, 0)}, nil
}

// sent notes commands, with shortened texts.
func (t *till) sent(commands ...string) {
	for _, c := range commands {
		t.p.Sent = append(t.p.Sent, filling.ReplaceAllString(c, "00…"))
	}
}

var filling = regexp.MustCompile("0{30,}")

// send counts the shards that a command reaches beyond the first.
func (t *till) send(byID bool, n float64) {
	shards := float64(t.Server.Shards)
	if byID {
		shards = distinct(n, shards)
	}
	t.p.Shards += max(0, shards-1)
}

func (t *till) run(writes []write) error {
	if len(writes) == 0 {
		return nil
	}
	for _, plan := range t.plansOf(writes) {
		if err := plan.Err(); err != nil {
			return err
		}
		if t.Server.Transactions && plan.Guarantee() != model.Atomic {
			t.p.Commands += float64(plan.CostTx().Commands) + 1 // the commit
			t.sent("in a transaction, as one bulkWrite and a commit:")
		} else {
			t.p.Commands += float64(plan.Cost().Commands)
		}
		t.sent(strings.Split(plan.String(), "\n")...)
	}
	for _, w := range writes {
		t.p.Written += w.n
		t.p.Loaded += 2 * w.n * t.sizes[w.host].average
		t.p.Entries += w.n * t.entriesOf(w)
		t.send(w.one != "" || w.changes == nil, w.n)
	}
	return nil
}

// plansOf returns one plan for the writes, or a plan for each if one would need a
// transaction and there are none.
func (s *store) plansOf(writes []write) (plans []model.Plan) {
	steps := make([]model.Step, len(writes))
	for i, w := range writes {
		steps[i] = w.Write
		plans = append(plans, model.NewPlan(w.Write))
	}
	if all := model.NewPlan(steps...); s.Server.Transactions || all.Guarantee() != model.Transactional {
		return []model.Plan{all}
	}
	return plans
}

// entriesOf is the number of index entries that a write adds or removes for each
// document.
func (s *store) entriesOf(w write) (n float64) {
	if w.changes == nil {
		return 1 + float64(len(s.indexes[w.host.Name]))
	}
	for _, x := range s.indexes[w.host.Name] {
		most := 0.
		for _, c := range w.changes {
			if slices.ContainsFunc(x.Keys, func(k bson.E) bool { return overlap(k.Key, c.path) }) {
				most = max(most, c.entries)
			}
		}
		n += most
	}
	return n
}

func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func (t *till) pick(e *entity, name string) id { return e.id(0) }

func (t *till) parents(r *relation, path string, rows []row, n float64) (out []id) {
	for i := range min(3, max(1, int64(n+0.5))) {
		out = append(out, r.parent.id(i))
	}
	return out
}

func (t *till) children(r *relation, rows []row, n float64) (out []id) {
	for i := range int64(3) {
		out = append(out, r.child.id(i))
	}
	return out
}

func (t *till) listed(r *relation, rows []row, n float64) (out []id) { return t.children(r, rows, n) }

func (t *till) aggregate(q *model.Aggregate[doc], e *entity, w expected) ([]doc, error) {
	if q.Err != nil {
		return nil, q.Err
	}
	t.p.Commands += w.some * float64(q.Cost().Commands)
	t.sent(q.String())
	t.p.Read += w.n
	t.p.Scanned += w.scanned
	t.p.Loaded += w.loaded * t.sizes[e].average
	t.send(false, w.n)
	return nil, nil
}

func (t *till) change(c model.Change, cost changed) error {
	if t.Server.Transactions {
		cost = *cost.tx
	}
	t.p.Commands += cost.commands
	t.p.Read += cost.read
	t.p.Entries += cost.entries
	for e, n := range cost.written {
		t.p.Written += n
		t.p.Loaded += 2 * n * t.sizes[e].average
	}
	t.sent(cost.text)
	return nil
}

func (t *till) value(e *entity, f *Field) any { return f.value(0) }

func (t *till) since(e *entity, f *Field, share float64) any { return f.since(share) }

func (t *till) insert(e *entity) doc { return exampleWorld.fields(e, 0) }

func (t *till) answer(*access, []row, answers) {}

func (t *till) deleted(id) {}
