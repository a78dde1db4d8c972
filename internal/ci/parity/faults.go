package main

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// faultRow is the name of a row of modeltest.FaultMatrix: which write, of what command, and how it goes wrong.
var faultRow = regexp.MustCompile(`^\d+-[A-Za-z]+-(fail|cut-before|cut-inside-\d+|cut-after)$`)

// faultCount is what fault matrices tried in a package.
type faultCount struct {
	pkg            string
	matrices       int // on one backend or both
	engine, server int // rows that passed
}

// faultCounts counts the rows that passed, in the order in which packages ran.
func faultCounts(run *testRun) []faultCount {
	var counts []faultCount
	at, known := map[string]int{}, map[key]bool{}
	for _, k := range run.order {
		i := strings.LastIndexByte(k.test, '/')
		if i < 0 || run.tests[k].action != "pass" || !faultRow.MatchString(k.test[i+1:]) {
			continue
		}
		if _, ok := at[k.pkg]; !ok {
			at[k.pkg] = len(counts)
			counts = append(counts, faultCount{pkg: k.pkg})
		}
		c := &counts[at[k.pkg]]
		twin, onServer := k.on(server, engine)
		if onServer {
			c.server++
		} else {
			c.engine++
			twin = k
		}
		if twin.test = twin.test[:strings.LastIndexByte(twin.test, '/')]; !known[twin] {
			known[twin] = true
			c.matrices++
		}
	}
	return counts
}

// printFaults prints them, if there are any.
func printFaults(w io.Writer, counts []faultCount) {
	var all faultCount
	var parts []string
	for _, c := range counts {
		all.matrices, all.engine, all.server = all.matrices+c.matrices, all.engine+c.engine, all.server+c.server
		parts = append(parts, fmt.Sprintf("%s %d of %d", path.Base(c.pkg), c.engine, c.matrices))
	}
	if len(counts) > 0 {
		fmt.Fprintf(w, "fault matrices: %d rows of %d matrices passed on the engine, %d of them on a server (%s)\n",
			all.engine, all.matrices, all.server, strings.Join(parts, ", "))
	}
}
