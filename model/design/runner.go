package design

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Runner, made by [Prices.Runner], stores generated data of a workload under one layout
// and runs operations for measurements. The same sequence of [Runner.Run] calls uses the
// same documents under every layout. A Runner isn't safe for concurrent use.
type Runner struct {
	// Returned is the total size in bytes of the documents that find commands read.
	Returned int64

	store *store
	world *world
	gone  map[id]bool       // deleted documents
	added map[*entity]int64 // inserted documents

	plain, together model.DB // the database of the latest run, and with transactions

	answered func(a *access, rows []row, totals answers) // for tests: gets the result of each read
}

// Runner returns a [Runner] that measures operations under p.Layout.
func (p Prices) Runner() *Runner {
	return &Runner{store: p.store, world: newWorld(), gone: map[id]bool{}, added: map[*entity]int64{}}
}

var errNotPriced = errors.New("design: this Runner has no layout: get it from the Prices that Workload.Price or Workload.Design returned")

// fillBatch is the number of documents that one plan inserts.
const fillBatch = 1000

// Fill creates indexes in db and inserts the generated documents. The layout's
// collections must be empty.
func (r *Runner) Fill(ctx context.Context, db model.DB) error {
	if r.store == nil {
		return errNotPriced
	}
	if err := r.store.model.Indexes().Ensure(ctx, db); err != nil {
		return err
	}
	for i := range r.store.Entities {
		e := r.store.entities[r.store.Entities[i].Name]
		if home := r.store.home[e]; home != nil && r.store.paged(home) {
			if err := r.fillPages(ctx, db, home); err != nil {
				return err
			}
		}
		c := r.store.own[e]
		if c == nil {
			continue
		}
		for from := int64(0); from < e.Count; from += fillBatch {
			var batch []doc
			for k := from; k < min(from+fillBatch, e.Count); k++ {
				batch = append(batch, r.store.document(r.world, e, k))
			}
			if _, err := c.InsertMany(batch).Run(ctx, db); err != nil {
				return err
			}
		}
	}
	_, err := r.actions(ctx, db)
	return err
}

// Run runs the operation with this name. The number n selects the documents. Pass another
// n for each run.
func (r *Runner) Run(ctx context.Context, db model.DB, operation string, n int) error {
	if r.store == nil {
		return errNotPriced
	}
	i := slices.IndexFunc(r.store.Operations, func(o Operation) bool { return o.Name == operation })
	if i < 0 {
		return r.store.refuse("operation", operation, "the workload has no operation of this name")
	}
	db, err := r.actions(ctx, db)
	if err != nil {
		return err
	}
	return newWork(r.store, r.live(ctx, db, operation, n)).operation(i)
}

// actions is the database, with a transaction for each action if the workload says so.
func (r *Runner) actions(ctx context.Context, db model.DB) (model.DB, error) {
	if !r.store.Server.Transactions {
		return db, nil
	}
	if r.plain != db {
		together, err := model.WithTransactions(ctx, db)
		if err != nil {
			return nil, err
		}
		r.plain, r.together = db, together
	}
	return r.together, nil
}

func (r *Runner) live(ctx context.Context, db model.DB, operation string, n int) *live {
	return &live{Runner: r, ctx: ctx, db: db, seed: fmt.Sprint(operation, " ", n), drawn: map[string]int{}}
}

// live is the database of a running work: it sends the commands. The other one, till (price.go), adds up their
// prices.
type live struct {
	*Runner
	ctx   context.Context
	db    model.DB
	seed  string
	drawn map[string]int
}

// draw returns a number below n, the same for the same run, purpose and position.
func (v *live) draw(purpose string, n int64) int64 {
	v.drawn[purpose]++
	seed := sha256.Sum256(fmt.Append(nil, v.seed, " ", purpose, " ", v.drawn[purpose]))
	return rand.New(rand.NewChaCha8(seed)).Int64N(n)
}

func (v *live) find(q *model.Find[doc], e *entity, w expected) ([]doc, error) {
	found, err := q.All(v.ctx, v.db)
	for _, d := range found {
		raw, err := bson.Marshal(d)
		if err != nil {
			return nil, err
		}
		v.Returned += int64(len(raw))
	}
	return found, err
}

func (v *live) run(writes []write) error {
	if len(writes) == 0 {
		return nil
	}
	for _, plan := range v.store.plansOf(writes) {
		if _, err := plan.Run(v.ctx, v.db); err != nil {
			return err
		}
	}
	return nil
}

func (v *live) pick(e *entity, name string) id {
	k := v.draw("pick "+e.Name+" "+name, e.Count)
	for range e.Count {
		if one := e.id(k); !v.gone[one] {
			return one
		}
		k = (k + 1) % e.Count
	}
	return e.id(k)
}

func (v *live) deleted(one id) { v.gone[one] = true }

func (v *live) parents(r *relation, path string, rows []row, n float64) (out []id) {
	out = []id{}
	for _, row := range rows {
		out = append(out, idsAt(row.doc, path)...)
	}
	return sortedIDs(out)
}

func sortedIDs(out []id) []id {
	slices.SortFunc(out, func(a, b id) int { return cmp.Compare(a.Hex(), b.Hex()) })
	return slices.Compact(out)
}

func (v *live) children(r *relation, rows []row, n float64) []id { return v.parents(r, "_id", rows, n) }

func (v *live) listed(r *relation, rows []row, n float64) []id {
	out := []id{}
	for _, row := range rows {
		list, _ := at(row.doc, r.List).(bson.A)
		for _, one := range list {
			out = append(out, one.(id))
		}
	}
	return sortedIDs(out)
}

func (v *live) aggregate(q *model.Aggregate[doc], e *entity, w expected) ([]doc, error) {
	return q.All(v.ctx, v.db)
}

func (v *live) change(c model.Change, cost changed) error {
	_, err := c.Run(v.ctx, v.db)
	return err
}

func (v *live) value(e *entity, f *Field) any {
	return f.value(v.draw("value "+e.Name+" "+f.Name, f.Values))
}

func (v *live) since(e *entity, f *Field, share float64) any { return f.since(share) }

func (v *live) insert(e *entity) doc {
	d := doc{{Key: "_id", Value: e.id(e.Count + v.added[e])}}
	v.added[e]++
	for i := range e.Fields {
		f := &e.Fields[i]
		value := v.value(e, f)
		if f.Grows {
			value = f.value(e.Count + v.added[e] - 1)
		}
		d = append(d, bson.E{Key: f.Name, Value: value})
	}
	return d
}

func (v *live) answer(a *access, rows []row, totals answers) {
	if v.answered != nil {
		v.answered(a, rows, totals)
	}
}
