package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestFaultCounts(t *testing.T) {
	run := newRun()
	if err := run.read(strings.NewReader(events(`pass TestMove/engine/1-update-fail
		pass TestMove/engine/2-insert-cut-inside-1
		pass TestMove/server/1-update-fail
		skip TestMove/server/2-insert-cut-inside-1
		pass TestMove/engine
		pass TestDrop/some/engine/1-delete-cut-after
		pass TestDrop/some/engine/1-delete-other
		fail TestDrop/some/engine/2-delete-cut-before`)), io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printFaults(&out, faultCounts(run))
	want := "fault matrices: 3 rows of 2 matrices passed on the engine, 1 of them on a server (p 3 of 2)\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
