// Command bench measures docmodel side by side with hand-written code for the driver and with other libraries, and writes
// the tables to RESULTS.md.
//
// Contenders take turns, so that what else the machine does falls on all alike; times are medians, and ratios are medians
// of what two contenders took in the same round. MONGODB_URI names a server to measure on too.
package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 25, "how often each contender runs")
	out := flag.String("o", "RESULTS.md", "the file to write")
	only := flag.String("only", "", "a regular expression: of in, push, join and propagate, which tables to make; all by default")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		log.Fatal("bench: ", err)
	}
	if *rounds < 1 {
		log.Fatal("bench: -rounds must be at least 1")
	}
	report, err := run(context.Background(), *rounds, chosen)
	if err != nil {
		log.Fatal("bench: ", err)
	}
	fmt.Print(report)
	if err := os.WriteFile(*out, []byte(report), 0o644); err != nil {
		log.Fatal("bench: ", err)
	}
}

// run makes every table.
func run(ctx context.Context, rounds int, chosen *regexp.Regexp) (string, error) {
	all, err := backends(ctx)
	if err != nil {
		return "", err
	}
	var tables []func() (table, error)
	add := func(name string, make func() (table, error)) {
		if chosen.MatchString(name) {
			tables = append(tables, make)
		}
	}
	add("in", func() (table, error) { return inTable(rounds) })
	add("push", func() (table, error) { return pushTable(rounds) })
	for _, b := range all {
		for _, s := range shapes {
			add("join", func() (table, error) { return joinTable(ctx, rounds, b, s) })
		}
		for _, where := range slices.Sorted(maps.Keys(propagations)) {
			add("propagate", func() (table, error) { return propagateTable(ctx, rounds, b, where) })
		}
	}
	var report strings.Builder
	fmt.Fprintf(&report, "# Benchmarks\n\n%s, %d cores, %s %s/%s, %s. Made by `go run .`: contenders take turns for %d rounds.\n\n"+
		"Times, CPU, allocations and bytes are medians of one operation. A ratio is that of the contender to the first of its\n"+
		"table in the same round: the median, and in brackets the quartiles. CPU is what the process used, on all cores; its\n"+
		"ratio is the steadier one on a machine that does other work too.\n",
		cpu(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), rounds)
	for _, make := range tables {
		t, err := make()
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.title, err)
		}
		fmt.Fprintln(os.Stderr, "done:", t.title)
		fmt.Fprintf(&report, "\n%s", t)
	}
	return report.String(), nil
}

// cpu returns the processor's name, where the system tells.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, _ := strings.Cut(s.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return cmp.Or(strings.TrimSpace(value), "unknown processor")
		}
	}
	return "unknown processor"
}
