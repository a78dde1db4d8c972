package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A plot is where a forester works on a tree.
type plot struct {
	forester
	clock
	g   *grown
	db  *mongo.Database
	top treeNode // the branch, as it is stored
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
		err = fmt.Errorf("%d, not %d", n, want)
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

// cultivate loads a tree, runs all tasks, and returns figures by operation. The figures
// of a smaller tree, with times the ratio of sizes, decide which tasks to skip.
func cultivate(ctx context.Context, b backend, f forester, g *grown, o clockOptions, smaller map[string]figure, times float64) (map[string]figure, error) {
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
	if b.uri != "" && len(g.nodes) >= 100_000 {
		time.Sleep(o.settle)
	}
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
func loaded(ctx context.Context, b backend, f forester, load func(context.Context, *mongo.Database, *grown) error, g *grown, o clockOptions) (*plot, func(), figure, error) {
	var fig figure
	var times, cpus []time.Duration
	for begun := time.Now(); ; {
		w := &watch{monitor: mongotest.NewMonitor()}
		db, stop, err := b.open(w.commands())
		if err != nil {
			return nil, nil, fig, err
		}
		if err := f.ready(ctx, db); err != nil {
			stop()
			return nil, nil, fig, err
		}
		p := &plot{forester: f, clock: clock{watch: w, clockOptions: o}, g: g, db: db}
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

// heapPeak measures the heap's growth, including garbage, until the returned function is
// called.
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
