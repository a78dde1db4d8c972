package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A contender does one operation, in its own way.
type contender struct {
	name  string
	run   func() error
	trips int // commands sent by one operation; 0 means that it sends none
}

// A table has the results of contenders in one run. The others are compared with the
// first.
type table struct {
	title, note string
	rows        []row
	text        string // a table of another form, instead of rows
}

func (t table) heading() string { return t.title }

type row struct {
	name          string
	time          time.Duration // median
	ratio         [3]float64    // of time, to the first contender in the same round: quartiles, the median in the middle
	cpu           time.Duration // median
	cpuRatio      float64       // median, as ratio; it is steadier on a busy machine
	allocs, bytes uint64        // medians
	trips         int
}

type sample struct {
	time, cpu     time.Duration
	allocs, bytes uint64
}

// compare runs the contenders in turns, and starts each round with another one, so that
// other load affects all alike. In a sample every contender takes some twenty
// milliseconds.
func compare(rounds int, cs []contender) ([]row, error) {
	ops, err := operations(cs)
	if err != nil {
		return nil, err
	}
	samples := make([][]sample, len(cs))
	for round := range rounds {
		for i := range cs {
			n := (round + i) % len(cs)
			s, err := measure(cs[n], ops)
			if err != nil {
				return nil, err
			}
			samples[n] = append(samples[n], s)
		}
	}
	rows := make([]row, len(cs))
	for i, c := range cs {
		rows[i] = summarize(c, samples[i], samples[0])
	}
	return rows, nil
}

// operations returns the number of operations of a sample, and warms up every contender.
func operations(cs []contender) (int, error) {
	const least = 20 * time.Millisecond
	for ops := 1; ; ops *= 2 {
		enough := true
		for _, c := range cs {
			s, err := measure(c, ops)
			if err != nil {
				return 0, err
			}
			enough = enough && s.time*time.Duration(ops) >= least
		}
		if enough {
			return ops, nil
		}
	}
}

func measure(c contender, ops int) (sample, error) {
	var before, after runtime.MemStats
	runtime.GC() // what the one before left is not this one's
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	for range ops {
		if err := c.run(); err != nil {
			return sample{}, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	took, used := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return sample{
		time:   took / time.Duration(ops),
		cpu:    used / time.Duration(ops),
		allocs: (after.Mallocs - before.Mallocs) / uint64(ops),
		bytes:  (after.TotalAlloc - before.TotalAlloc) / uint64(ops),
	}, nil
}

func summarize(c contender, own, first []sample) row {
	r := row{name: c.name, trips: c.trips}
	var times, cpus []time.Duration
	var ratios, cpuRatios []float64
	var allocs, bytes []uint64
	for i, s := range own {
		times, cpus = append(times, s.time), append(cpus, s.cpu)
		ratios = append(ratios, float64(s.time)/float64(first[i].time))
		cpuRatios = append(cpuRatios, float64(s.cpu)/max(1, float64(first[i].cpu)))
		allocs, bytes = append(allocs, s.allocs), append(bytes, s.bytes)
	}
	r.time, r.cpu, r.cpuRatio = quartile(times, 2), quartile(cpus, 2), quartile(cpuRatios, 2)
	r.allocs, r.bytes = quartile(allocs, 2), quartile(bytes, 2)
	for q := range r.ratio {
		r.ratio[q] = quartile(ratios, q+1)
	}
	return r
}

// quartile returns the q-th quartile; the second is the median.
func quartile[T time.Duration | float64 | uint64](values []T, q int) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*q/4]
}

// String is the table in Markdown.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", t.title, t.note)
	if t.text != "" {
		b.WriteString(t.text)
		return b.String()
	}
	b.WriteString("| contender | time | ratio (quartiles) | CPU | CPU ratio | allocations | bytes | round trips |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "| %s | %s | %.2f (%.2f–%.2f) | %s | %.2f | %d | %d | %d |\n", r.name,
			short(r.time), r.ratio[1], r.ratio[0], r.ratio[2], short(r.cpu), r.cpuRatio, r.allocs, r.bytes, r.trips)
	}
	return b.String()
}

// short is a duration with three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}
