package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

const preamble = "# Benchmarks\n\n" +
	"Made by `go run .`, in which contenders take turns. Below each table is on what machine, when, and for how many rounds.\n\n" +
	"Times, CPU, allocations and bytes are medians of one operation. A ratio is that of the contender to the first of its\n" +
	"table in the same round: the median, and in brackets the quartiles. CPU is what the process used, on all cores; its\n" +
	"ratio is the steadier one on a machine that does other work too.\n"

const headingMark = "\n## "

// stamp says of each table of a text where and when it was made.
func stamp(tables string, rounds int) string {
	made := fmt.Sprintf("\n%s, %d cores, %s %s/%s, %s, %d rounds%s.\n", cpu(), runtime.NumCPU(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), rounds, load())
	parts := strings.Split("\n"+tables, headingMark)
	for i, p := range parts[1:] {
		parts[i+1] = strings.TrimRight(p, "\n") + "\n" + made
	}
	return strings.Join(parts, headingMark)
}

// load reports how busy the machine is, if the system does. Above the number of cores,
// times are too long.
func load() string {
	averages, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	last, _, _ := strings.Cut(string(averages), " ")
	return ", load average " + last
}

// renewed replaces the tables with equal headings in a file, and appends other tables.
func renewed(old, tables string) string {
	parts := strings.Split(old, headingMark)
	if parts[0] = strings.TrimSuffix(preamble, "\n") + "\n"; old == "" {
		parts = parts[:1]
	}
	at := map[string]int{}
	heading := func(p string) string { h, _, _ := strings.Cut(p, "\n"); return h }
	for i, p := range parts[1:] {
		at[heading(p)] = i + 1
	}
	for _, p := range strings.Split(tables, headingMark)[1:] {
		if i, ok := at[heading(p)]; ok {
			parts[i] = p
		} else {
			parts = append(parts, p)
		}
	}
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n") + "\n"
	}
	return strings.Join(parts, headingMark)
}
