package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A plot is where a forester works on a tree.
type plot struct {
	forester
	g     *grown
	db    *mongo.Database
	watch *watch
	top   treeNode // the branch, as it is stored

	treeOptions
}

type treeOptions struct {
	rounds int
	sizes  []int
	budget time.Duration // for each operation, to be repeated
	limit  time.Duration // for one run of an operation
}

// A watch counts what one operation costs, and looks away while others are timed.
type watch struct {
	monitor *modeltest.Monitor
	on      atomic.Bool
}

func (w *watch) commands() *event.CommandMonitor {
	m := w.monitor.CommandMonitor()
	return &event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			if w.on.Load() {
				m.Started(ctx, e)
			}
		},
		Succeeded: func(ctx context.Context, e *event.CommandSucceededEvent) {
			if w.on.Load() {
				m.Succeeded(ctx, e)
			}
		},
	}
}

func (w *watch) measure(f func() error) (model.Cost, error) {
	w.on.Store(true)
	defer w.on.Store(false)
	defer w.monitor.Reset()
	return modeltest.Measure(w.monitor, f)
}

// A figure is what an operation took.
type figure struct {
	time   time.Duration // median
	cpu    time.Duration // of this process, median
	cost   model.Cost
	byHand float64 // the ratio to the same by hand, in the same round: the median; 0 where there is no such
	peak   uint64  // bytes of the heap, at most, while a tree was loaded
	runs   int     // 0 means that it is left out: then time is an estimate
}

// A step is one run of an operation. What comes before and after it isn't timed.
type step struct{ before, run, after func() error }

// time runs an operation, and the others that it is compared with, in turns: as often as there are rounds, more often if it is
// quick, and less if that takes longer than the budget. What the first run of an operation costs is counted; its time counts
// only when there is no other.
func (p *plot) time(of step, others ...step) (figure, error) {
	all := append([]step{of}, others...)
	times, cpus := make([][]time.Duration, len(all)), []time.Duration(nil)
	cost, begun := model.Cost{}, time.Now()
	runtime.GC() // what was before is not this one's
	for round := 0; ; round++ {
		for i := range all {
			n := (round + i) % len(all)
			took, used, c, err := p.once(all[n], round == 0)
			if err != nil {
				return figure{}, err
			}
			times[n] = append(times[n], took)
			if n == 0 {
				cpus = append(cpus, used)
			}
			if n == 0 && round == 0 {
				cost = c
			}
		}
		const quick, more = 200 * time.Millisecond, 20
		if took := time.Since(begun); took > p.budget || round >= p.rounds && (took > quick || round >= more*p.rounds) {
			break
		}
	}
	if len(times[0]) > 1 {
		for i := range times {
			times[i] = times[i][1:]
		}
		cpus = cpus[1:]
	}
	f := figure{time: quartile(times[0], 2), cpu: quartile(cpus, 2), cost: cost, runs: len(times[0])}
	if len(others) > 0 {
		ratios := make([]float64, len(times[0]))
		for i := range ratios {
			ratios[i] = float64(times[0][i]) / float64(times[1][i])
		}
		f.byHand = quartile(ratios, 2)
	}
	return f, nil
}

func (p *plot) once(s step, counted bool) (took, used time.Duration, cost model.Cost, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, 0, cost, err
		}
	}
	start, cpu := time.Now(), cpuTime()
	if counted {
		cost, err = p.watch.measure(s.run)
	} else {
		err = s.run()
	}
	took, used = time.Since(start), cpuTime()-cpu
	if err == nil && s.after != nil {
		err = s.after()
	}
	return took, used, cost, err
}

// A task is an operation as every forester does it.
type task struct {
	name  string
	steps func(ctx context.Context, p *plot) []step // none if this forester hasn't got it
}

// tasks are what is done with a tree that is stored, in this order.
var tasks = []task{
	asking("descendants of the branch, in preorder", func(p *plot) (ask, string, int) { return p.descendants, p.g.branch, p.g.below }),
	{"the query of them alone", func(ctx context.Context, p *plot) []step {
		if p.query == nil {
			return nil
		}
		steps := make([]step, 2)
		for i, q := range []func(context.Context, *mongo.Database, *treeNode) (int, error){p.query, p.byHand} {
			steps[i].run = func() error {
				n, err := q(ctx, p.db, &p.top)
				return expect(n, p.g.below, err)
			}
		}
		return steps
	}},
	asking("count them", func(p *plot) (ask, string, int) { return p.count, p.g.branch, p.g.below }),
	asking("children of a node", func(p *plot) (ask, string, int) { return p.children, p.g.middle, p.g.inMiddle }),
	asking("ancestors of a deepest node", func(p *plot) (ask, string, int) { return p.ancestors, p.g.deepest, p.g.above }),
	{"insert a leaf as first child", func(ctx context.Context, p *plot) []step {
		return []step{{run: p.planting(ctx), after: p.felling(ctx)}}
	}},
	{"delete it", func(ctx context.Context, p *plot) []step {
		return []step{{before: p.planting(ctx), run: p.felling(ctx)}}
	}},
	moving("move a leaf, far", func(g *grown) string { return g.leaf }),
	moving("move the branch, far", func(g *grown) string { return g.branch }),
}

type ask = func(context.Context, *mongo.Database, string) (int, error)

func asking(name string, what func(p *plot) (f ask, id string, want int)) task {
	return task{name, func(ctx context.Context, p *plot) []step {
		f, id, want := what(p)
		return []step{{run: func() error {
			n, err := f(ctx, p.db, id)
			return expect(n, want, err)
		}}}
	}}
}

func expect(n, want int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d nodes, not %d", n, want)
	}
	return err
}

// moving moves a node to the far place and back, in turns.
func moving(name string, of func(*grown) string) task {
	return task{name, func(ctx context.Context, p *plot) []step {
		away := false
		return []step{{run: func() error {
			to := p.g.far
			if away {
				to = p.g.home
			}
			err := p.move(ctx, p.db, of(p.g), to, away)
			away = !away
			return err
		}}}
	}}
}

var planted = treeNode{ID: "planted", Name: "left-handed smoke shifter, new"}

func (p *plot) planting(ctx context.Context) func() error {
	return func() error { return p.insert(ctx, p.db, planted, p.g.middle) }
}

func (p *plot) felling(ctx context.Context) func() error {
	return func() error { return p.remove(ctx, p.db, planted.ID) }
}

// cultivate loads a tree and does all tasks with it. The figures are by the names of the operations. Those of a tree that is a number
// of times smaller, if there is one, tell what to leave out.
func cultivate(ctx context.Context, b backend, f forester, g *grown, o treeOptions, smaller map[string]figure, times float64) (map[string]figure, error) {
	figures := map[string]figure{}
	if f.stream != nil {
		_, stop, fig, err := loaded(ctx, b, f, f.stream, g, o)
		if err != nil {
			return figures, fmt.Errorf("streamed load: %w", err)
		}
		stop()
		figures[streamedLoad] = fig
	}
	p, stop, fig, err := loaded(ctx, b, f, f.load, g, o)
	if err != nil {
		return figures, fmt.Errorf("load: %w", err)
	}
	defer stop()
	figures[bulkLoad] = fig
	for _, t := range tasks {
		steps := t.steps(ctx, p)
		if len(steps) == 0 {
			continue
		}
		if guess := time.Duration(float64(smaller[t.name].time) * times); guess > o.limit {
			figures[t.name] = figure{time: guess}
			continue
		}
		begun := time.Now()
		fig, err := p.time(steps[0], steps[1:]...)
		if err != nil {
			return figures, fmt.Errorf("%s: %w", t.name, err)
		}
		figures[t.name] = fig
		if took := time.Since(begun); took > time.Minute {
			fmt.Fprintf(os.Stderr, "%s, %s nodes, on %s: %s took %s\n", f.name, digits(len(g.nodes)), b.name, t.name, short(took))
		}
	}
	return figures, nil
}

const (
	bulkLoad     = "bulk load"
	streamedLoad = "bulk load, streamed by Number"
)

// loaded loads a tree, up to five times while there is time, and returns the last plot.
func loaded(ctx context.Context, b backend, f forester, load func(context.Context, *mongo.Database, *grown) error, g *grown, o treeOptions) (*plot, func(), figure, error) {
	var fig figure
	var times, cpus []time.Duration
	for begun := time.Now(); ; {
		w := &watch{monitor: modeltest.NewMonitor()}
		db, stop, err := b.open(w.commands())
		if err != nil {
			return nil, nil, fig, err
		}
		if err := f.ready(ctx, db); err != nil {
			stop()
			return nil, nil, fig, err
		}
		p := &plot{forester: f, g: g, db: db, watch: w, treeOptions: o}
		runtime.GC()
		peak := heapPeak()
		start, cpu := time.Now(), cpuTime()
		cost, err := w.measure(func() error { return load(ctx, db, g) })
		times, cpus = append(times, time.Since(start)), append(cpus, cpuTime()-cpu)
		fig = figure{time: quartile(times, 2), cpu: quartile(cpus, 2), cost: cost, peak: max(fig.peak, peak()), runs: len(times)}
		if err == nil && (len(times) >= min(o.rounds, 5) || time.Since(begun) > o.budget) {
			err = db.Collection("forest").FindOne(ctx, bson.D{{Key: "_id", Value: g.branch}}).Decode(&p.top)
			if err == nil {
				return p, stop, fig, nil
			}
		}
		stop()
		if err != nil {
			return nil, nil, fig, err
		}
	}
}

// heapPeak watches how much the heap grows, garbage included, until what it returns is called.
func heapPeak() func() uint64 {
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before, done, peak := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for {
			select {
			case <-done:
				peak <- max(most, heap()) - before
				return
			case <-time.After(10 * time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-peak
	}
}
