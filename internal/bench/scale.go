package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A stock is what some techniques are measured in: a database of n documents.
type stock struct {
	name    string
	indexes []model.Technique
	load    func(context.Context, *site) error
	trials  []trial

	// sound, if it is not nil, checks that the loaded documents are as the techniques
	// write them.
	sound func(context.Context, *site) error
}

// A trial is an operation of a technique.
type trial struct {
	technique string // as docs/TYPES.md names it
	name      string
	grows     string // what its time grows with, as the technique's documentation has it
	step      func(context.Context, *site) step
}

// A site is a stock that was loaded.
type site struct {
	db     *mongo.Database
	n      int
	random *rand.Rand
	price  model.Cost // what the value that ran last says that it costs; the zero Cost where none does
	added  int        // documents that trials made up
}

func newSite(db *mongo.Database, n int) *site {
	return &site{db: db, n: n, random: rand.New(rand.NewPCG(1, uint64(n)))}
}

// one is a number from 1 to n.
func (s *site) one(n int) int { return 1 + s.random.IntN(n) }

// fresh is a number that no document of the stock has, another one each time.
func (s *site) fresh() int {
	s.added++
	return 10*s.n + s.added
}

// stocks are loaded one after the other.
func stocks() []stock {
	return []stock{family, knots, joins, records, rows, pages, outliers, visits, tables, tagged, spots, letterboxes, registry}
}

// A scaled figure is of one operation in one size.
type scaled struct {
	figure
	price model.Cost
}

// A scale is what operations took in collections of some sizes, on one backend.
type scale struct {
	on      backend
	sizes   []int
	figures map[string][]scaled // by technique and operation
}

func (t trial) key() string { return t.technique + ": " + t.name }

// scaleTable measures all techniques. After an error it goes on with the next.
func scaleTable(ctx context.Context, b backend, o clockOptions) (section, error) {
	all := &scale{on: b, sizes: o.sizes, figures: map[string][]scaled{}}
	var failed []error
	for _, k := range stocks() {
		for i, n := range o.sizes {
			begun, times := time.Now(), 0.0
			if i > 0 {
				times = float64(n) / float64(o.sizes[i-1])
			}
			if err := all.measure(ctx, k, n, i, times, o); err != nil {
				err = fmt.Errorf("%s, %d documents: %w", k.name, n, err)
				fmt.Fprintln(os.Stderr, "failed:", err)
				failed = append(failed, err)
			}
			fmt.Fprintf(os.Stderr, "done: %s, %s documents, on %s, in %s\n", k.name, digits(n), b.name, short(time.Since(begun)))
		}
	}
	return all, errors.Join(failed...)
}

// measure loads a stock and makes its trials. times is the ratio to the size before.
func (a *scale) measure(ctx context.Context, k stock, n, at int, times float64, o clockOptions) error {
	w := &watch{monitor: mongotest.NewMonitor(), keeps: true}
	db, stop, err := a.on.open(w.commands())
	if err != nil {
		return err
	}
	defer runtime.GC()
	defer stop()
	s, c := newSite(db, n), &clock{watch: w, clockOptions: o}
	if a.on.uri == "" {
		c.examine = func(sent []bson.Raw) examined { return examine(ctx, db, sent) }
	}
	begun := time.Now()
	if err := s.stock(ctx, k); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	fmt.Fprintf(os.Stderr, "loaded: %s, %s documents, in %s\n", k.name, digits(n), short(time.Since(begun)))
	var failed []error
	for _, t := range k.trials {
		begun := time.Now()
		err := a.try(ctx, t, s, c, at, times)
		if errors.Is(err, model.ErrNoTransactions) {
			continue
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", t.key(), err))
		}
		if took := time.Since(begun); took > time.Minute {
			fmt.Fprintf(os.Stderr, "%s, %s documents, on %s: took %s\n", t.key(), digits(n), a.on.name, short(took))
		}
	}
	return errors.Join(failed...)
}

// try makes a trial, unless it would take too long.
func (a *scale) try(ctx context.Context, t trial, s *site, c *clock, at int, times float64) error {
	before := a.figures[t.key()]
	if at > 0 && len(before) == at {
		if guess := time.Duration(float64(before[at-1].time) * times); guess > c.limit {
			a.figures[t.key()] = append(before, scaled{figure: figure{time: guess}})
			return nil
		}
	}
	s.price = model.Cost{}
	f, err := c.time(t.step(ctx, s))
	if err != nil {
		return err
	}
	for len(before) < at { // it failed in a smaller size
		before = append(before, scaled{})
	}
	a.figures[t.key()] = append(before, scaled{f, s.price})
	return nil
}

// stock loads what is to be measured. Indexes come first, as where a collection grows.
func (s *site) stock(ctx context.Context, k stock) error {
	for _, t := range k.indexes { // they are measured each by itself, and aren't a model
		if err := model.New("test", t).Indexes().Ensure(ctx, s.db); err != nil {
			return err
		}
	}
	return k.load(ctx, s)
}

// fill inserts the documents 1 to n, in plans of 10,000.
func fill[D any](ctx context.Context, s *site, n int, insert func([]D) model.Plan, doc func(i int) D) error {
	const batch = 10_000
	docs := make([]D, 0, min(n, batch))
	for i := 1; i <= n; i++ {
		docs = append(docs, doc(i))
		if len(docs) == batch || i == n {
			if _, err := insert(docs).Run(ctx, s.db); err != nil {
				return err
			}
			docs = docs[:0]
		}
	}
	return nil
}

type answers[D any] interface {
	All(context.Context, model.DB) ([]D, error)
}

const some = -1 // documents: at least one

// reading runs a query, which finds so many documents.
func reading[D any, Q answers[D]](ctx context.Context, s *site, want int, query func() Q) step {
	return step{run: func() error {
		q := query()
		found, err := q.All(ctx, s.db)
		s.priced(q)
		if want == some && len(found) > 0 {
			return err
		}
		return expect(len(found), want, err)
	}}
}

type write interface {
	Run(context.Context, model.DB) (model.Result, error)
	Cost() model.Cost
}

// writing runs a write or a plan, and then what takes it back, if that is not nil.
func writing(ctx context.Context, s *site, do func() write, back func() write) step {
	t := step{run: func() error {
		w := do()
		s.priced(w)
		return s.run(ctx, w)
	}}
	if back != nil {
		t.after = func() error { return s.run(ctx, back()) }
	}
	return t
}

var errNothing = errors.New("nothing was written")

func (s *site) run(ctx context.Context, w write) error {
	res, err := w.Run(ctx, s.db)
	if err == nil && res.Modified() == 0 {
		err = errNothing
	}
	return err
}

// changing runs a change, and then what takes it back, if that is not nil.
func changing[A model.Action](ctx context.Context, s *site, do func() A, back func() error) step {
	return step{run: func() error { return change(ctx, s, do()) }, after: back}
}

func change(ctx context.Context, s *site, c model.Action) error {
	res, err := c.Change().Run(ctx, s.db)
	if err == nil && res.Modified() == 0 {
		err = errNothing
	}
	return err
}

// storeOf is the store of a model of one technique.
func storeOf[D, K any](t model.Technique, docs *model.Collection[D, K]) *model.Store[D, K] {
	return model.NewStore(model.New("test", t), docs)
}

func (s *site) priced(v any) {
	s.price = model.Cost{}
	if p, ok := v.(interface{ Cost() model.Cost }); ok {
		s.price = p.Cost()
	}
}

// examine explains the queries, and the updates with one statement, among commands that
// just ran.
func examine(ctx context.Context, db *mongo.Database, sent []bson.Raw) (x examined) {
	for _, command := range sent {
		var d bson.D
		if bson.Unmarshal(command, &d) != nil || len(d) == 0 {
			continue
		}
		switch d[0].Key {
		case "update":
			if list, err := command.LookupErr("updates", "1"); err == nil && !list.IsZero() {
				return examined{}
			}
		case "delete": // which finds no more what it deleted
			return examined{}
		case "find", "aggregate", "findAndModify":
		default:
			continue
		}
		d = slices.DeleteFunc(d, func(e bson.E) bool {
			return slices.Contains([]string{"lsid", "$db", "$clusterTime", "txnNumber", "$readPreference", "autocommit", "startTransaction"}, e.Key)
		})
		reply, err := db.RunCommand(ctx, bson.D{{Key: "explain", Value: d}, {Key: "verbosity", Value: "executionStats"}}).Raw()
		if err != nil {
			return examined{}
		}
		stats, err := reply.LookupErr("executionStats")
		if err != nil {
			if stats, err = reply.LookupErr("stages", "0", "$cursor", "executionStats"); err != nil {
				return examined{}
			}
		}
		doc := stats.Document()
		keys, _ := doc.Lookup("totalKeysExamined").AsInt64OK()
		docs, _ := doc.Lookup("totalDocsExamined").AsInt64OK()
		x.keys, x.docs, x.known = x.keys+int(keys), x.docs+int(docs), true
	}
	return x
}
