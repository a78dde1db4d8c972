// Command bench compares docmodel with hand-written driver code and with other libraries,
// and writes tables to RESULTS.md. With MONGODB_URI it measures on that server too.
//
// Contenders take turns, so that other load affects all alike. Times are medians. Ratios
// are medians of two contenders in the same round.
//
// Trees, and techniques in growing collections, are measured one after another, each
// operation for -budget at most. On a million nodes or documents, a single run can take
// minutes. With -only, the file's other tables stay.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 25, "how often each contender runs")
	out := flag.String("o", "RESULTS.md", "the file to write")
	only := flag.String("only", "", "a regular expression: of in, push, guarded, copy, table, geohash, cost, join, propagate, slots, trees, intervals, simulate and scale, which tables to make; all by default")
	on := flag.String("on", "", "a regular expression: of engine and server, which to measure on; both by default, if there is a server")
	list := flag.String("sizes", "1000,100000,1000000", "the sizes of the trees, and of the collections of the scaling tables")
	budget := flag.Duration("budget", 20*time.Second, "how long an operation on a tree or a collection is repeated at most; each runs once at least")
	limit := flag.Duration("limit", 5*time.Minute, "how long such an operation may take, by what it took at the size before; one that would take longer is left out")
	settle := flag.Duration("settle", 90*time.Second, "how long a server is left alone after 100,000 nodes or more were loaded, to gather statistics")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		log.Fatal("bench: ", err)
	}
	if *rounds < 1 {
		log.Fatal("bench: -rounds must be at least 1")
	}
	where, err := regexp.Compile(*on)
	if err != nil {
		log.Fatal("bench: -on: ", err)
	}
	sizes, err := parseSizes(*list)
	if err != nil {
		log.Fatal("bench: -sizes: ", err)
	}
	file := ""
	if *only != "" { // the other tables stay
		old, err := os.ReadFile(*out)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			log.Fatal("bench: ", err)
		}
		file = string(old)
	}
	err = run(context.Background(), *rounds, chosen, where, clockOptions{*rounds, sizes, *budget, *limit, *settle}, func(tables string) error {
		fmt.Print(tables)
		file = renewed(file, tables)
		return os.WriteFile(*out, []byte(file), 0o644)
	})
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

// run makes the chosen tables on the chosen backends, and calls give for each. After an
// error it gives the finished parts of the tables of trees and sizes.
func run(ctx context.Context, rounds int, chosen, where *regexp.Regexp, o clockOptions, give func(string) error) error {
	all, err := backends(ctx)
	if err != nil {
		return err
	}
	var tables []func() (section, error)
	add := func(name string, make func() (section, error)) {
		if chosen.MatchString(name) {
			tables = append(tables, make)
		}
	}
	add("in", func() (section, error) { return inTable(rounds) })
	add("push", func() (section, error) { return pushTable(rounds) })
	add("guarded", func() (section, error) { return guardedTable(rounds) })
	add("copy", func() (section, error) { return copyTable(rounds) })
	add("geohash", func() (section, error) { return geohashTable(rounds) })
	add("geohash", func() (section, error) { return overScanTable() })
	add("intervals", precisionTable)
	add("simulate", simulated)
	add("cost", func() (section, error) { return costTable() })
	for _, b := range all {
		if !where.MatchString(b.name) {
			continue
		}
		for _, s := range shapes {
			add("join", func() (section, error) { return joinTable(ctx, rounds, b, s) })
		}
		for _, where := range slices.Sorted(maps.Keys(propagations)) {
			add("propagate", func() (section, error) { return propagateTable(ctx, rounds, b, where) })
		}
		add("slots", func() (section, error) { return slotsTable(ctx, rounds, b) })
		add("trees", func() (section, error) { return treeTables(ctx, b, o) })
		add("intervals", func() (section, error) { return movesTable(ctx, b, o) })
		add("scale", func() (section, error) { return scaleTable(ctx, b, o) })
	}
	for _, make := range tables {
		t, err := make()
		if _, partly := t.(partial); partly || err == nil {
			err = errors.Join(err, give(stamp(t.String(), rounds)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.heading(), err)
		}
		fmt.Fprintln(os.Stderr, "done:", t.heading())
	}
	return nil
}

// A section is one or more tables in Markdown.
type section interface {
	heading() string
	String() string
}

// A partial section is usable after an error. It leaves out the failed part.
type partial interface{ partly() }

func parseSizes(list string) ([]int, error) {
	var sizes []int
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return nil, err
		}
		if n < 100 {
			return nil, fmt.Errorf("%d is too few: it takes 100", n)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// cpu returns the processor's name, if the system reports it.
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
