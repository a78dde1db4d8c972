package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	engine = "engine"
	server = "server"
	lacks  = "server lacks: "
)

// parity is the comparison of a run's tests on the engine with its tests on the server.
type parity struct {
	engine   int            // leaves that passed on the engine
	server   int            // of those, how many passed on the server
	excluded map[string]int // and how many were left out, by what the server lacks
	problems []string
}

func compare(run *testRun) parity {
	p := parity{excluded: map[string]int{}}
	parents := map[key]bool{}
	for _, k := range run.order {
		if i := strings.LastIndexByte(k.test, '/'); i >= 0 {
			parents[key{k.pkg, k.test[:i]}] = true
		}
	}
	for _, k := range run.order {
		if parents[k] {
			continue
		}
		if twin, ok := k.on(engine, server); ok && run.tests[k].action == "pass" {
			p.engine++
			p.addTwin(run, k, twin)
		}
		if twin, ok := k.on(server, engine); ok && run.tests[k].action == "pass" {
			if o := run.tests[twin]; o == nil || o.action != "pass" {
				p.problem("%s: %s passed on the server, but not on the engine", k.pkg, k.test)
			}
		}
	}
	switch n := p.server + p.left(); {
	case p.engine == 0:
		p.problem("no test ran on the engine")
	case n != p.engine && len(p.problems) == 0:
		p.problem("%d tests ran on the engine, and %d on the server or left out", p.engine, n)
	}
	return p
}

// on replaces the first name of the path that is from (or from#01, which a second t.Run of the same name
// gets) by to, and reports whether there was one.
func (k key) on(from, to string) (key, bool) {
	names := strings.Split(k.test, "/")
	for i, name := range names {
		base, number, _ := strings.Cut(name, "#")
		if base != from {
			continue
		}
		if number != "" {
			to += "#" + number
		}
		names[i] = to
		return key{k.pkg, strings.Join(names, "/")}, true
	}
	return k, false
}

// addTwin counts what became on the server of a leaf k that passed on the engine. If the twin never
// started, one of the tests around it must have been left out.
func (p *parity) addTwin(run *testRun, k, twin key) {
	at := twin
	for run.tests[at] == nil {
		i := strings.LastIndexByte(at.test, '/')
		if i < 0 {
			p.problem("%s: %s has no %s", k.pkg, k.test, twin.test)
			return
		}
		at.test = at.test[:i]
	}
	o := run.tests[at]
	switch {
	case o.action == "pass" && at == twin:
		p.server++
	case o.action == "skip":
		reason, ok := o.exclusion()
		if !ok {
			p.problem("%s: %s was skipped without %q", k.pkg, at.test, lacks)
			return
		}
		p.excluded[reason]++
	case o.action == "fail":
		p.problem("%s: %s failed", k.pkg, at.test)
	default:
		p.problem("%s: %s has no %s", k.pkg, k.test, twin.test)
	}
}

// exclusion finds what the server lacks in the message of a skipped test.
func (o *outcome) exclusion() (string, bool) {
	for _, line := range o.output {
		if _, reason, ok := strings.Cut(line, lacks); ok {
			reason = strings.TrimSpace(reason)
			return reason, reason != ""
		}
	}
	return "", false
}

func (p *parity) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func (p *parity) left() int {
	n := 0
	for _, count := range p.excluded {
		n += count
	}
	return n
}

func (p *parity) print(w io.Writer, name string) {
	fmt.Fprintf(w, "server: %s; %d tests ran there, %d excluded", name, p.server, p.left())
	sep := ": "
	for _, reason := range slices.Sorted(maps.Keys(p.excluded)) {
		fmt.Fprintf(w, "%s%s (%d)", sep, reason, p.excluded[reason])
		sep = ", "
	}
	fmt.Fprintf(w, "; %d tests ran on the engine\n", p.engine)
	for _, problem := range p.problems {
		fmt.Fprintln(w, "parity:", problem)
	}
}
