package main

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
)

// A clock takes the times of operations, one after the other.
type clock struct {
	watch *watch
	// examine, if it is not nil, says what commands have examined that were just run.
	examine func(sent []bson.Raw) examined
	clockOptions
}

type clockOptions struct {
	rounds int
	sizes  []int         // of trees and collections
	budget time.Duration // for each operation, to be repeated
	limit  time.Duration // for one run of an operation
	settle time.Duration // for a server to gather statistics of what was loaded
}

// A watch counts what one operation costs, and looks away while others are timed.
type watch struct {
	monitor *mongotest.Monitor
	keeps   bool // the commands too
	on      atomic.Bool

	mu   sync.Mutex
	sent []bson.Raw // by the operation that was counted last
}

func (w *watch) commands() *event.CommandMonitor {
	m := w.monitor.CommandMonitor()
	return &event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			if w.on.Load() {
				m.Started(ctx, e)
				w.keep(e.Command)
			}
		},
		Succeeded: func(ctx context.Context, e *event.CommandSucceededEvent) {
			if w.on.Load() {
				m.Succeeded(ctx, e)
			}
		},
	}
}

func (w *watch) keep(command bson.Raw) {
	if w.keeps {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent = append(w.sent, slices.Clone(command))
	}
}

func (w *watch) measure(f func() error) (model.Cost, error) {
	w.sent = nil
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
	examined
}

// examined is what queries have read to find what they return, where explain tells.
type examined struct {
	keys, docs int
	known      bool
}

// A step is one run of an operation. What comes before and after it isn't timed.
type step struct{ before, run, after func() error }

// time runs an operation and the operations beside it in turns: once per round, more
// often if it is quick, less often beyond the budget. The first run's costs count. Its
// time counts only without other runs.
func (c *clock) time(of step, others ...step) (figure, error) {
	all := append([]step{of}, others...)
	times, cpus := make([][]time.Duration, len(all)), []time.Duration(nil)
	first, begun := taken{}, time.Now()
	runtime.GC() // what was before is not this one's
	for round := 0; ; round++ {
		for i := range all {
			n := (round + i) % len(all)
			t, err := c.once(all[n], round == 0)
			if err != nil {
				return figure{}, err
			}
			times[n] = append(times[n], t.time)
			if n == 0 {
				cpus = append(cpus, t.cpu)
			}
			if n == 0 && round == 0 {
				first = t
			}
		}
		const quick, more = 200 * time.Millisecond, 20
		if took := time.Since(begun); took > c.budget || round >= c.rounds && (took > quick || round >= more*c.rounds) {
			break
		}
	}
	if len(times[0]) > 1 {
		for i := range times {
			times[i] = times[i][1:]
		}
		cpus = cpus[1:]
	}
	f := figure{time: quartile(times[0], 2), cpu: quartile(cpus, 2), cost: first.cost, examined: first.examined, runs: len(times[0])}
	if len(others) > 0 {
		ratios := make([]float64, len(times[0]))
		for i := range ratios {
			ratios[i] = float64(times[0][i]) / float64(times[1][i])
		}
		f.byHand = quartile(ratios, 2)
	}
	return f, nil
}

// taken is what one run of an operation took.
type taken struct {
	time, cpu time.Duration
	cost      model.Cost
	examined
}

func (c *clock) once(s step, counted bool) (t taken, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return t, err
		}
	}
	start, cpu := time.Now(), cpuTime()
	if counted {
		t.cost, err = c.watch.measure(s.run)
	} else {
		err = s.run()
	}
	t.time, t.cpu = time.Since(start), cpuTime()-cpu
	if err == nil && counted && c.examine != nil {
		t.examined = c.examine(c.watch.sent)
	}
	if err == nil && s.after != nil {
		err = s.after()
	}
	return t, err
}

// text is a time, with a mark when it was taken once, or not at all.
func (f figure) text(known bool) string {
	switch {
	case !known:
		return "–"
	case f.runs == 0:
		return "left out: some " + f.time.Round(time.Second).String()
	case f.runs == 1:
		return short(f.time) + " (once)"
	}
	return short(f.time)
}

// digits is a number in groups of three digits.
func digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
