package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// events turns lines "action test [output]" of one package into what "go test -json" prints.
func events(lines string) string {
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		action, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		test, text, _ := strings.Cut(rest, " ")
		e := event{Action: action, Package: "p", Test: test, Output: text}
		if text != "" {
			e.Output += "\n"
		}
		b, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.String()
}

func TestRead(t *testing.T) {
	in := "# p: not JSON\n" + events(`output A     a_test.go:1: unseen
		pass A
		output B     a_test.go:2: broken
		fail B`) +
		`{"Action":"output","Package":"p","Output":"PASS\n"}` + "\n" +
		`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}` + "\n" +
		`{"ImportPath":"q","Action":"build-output","Output":"q.go:1: syntax error\n"}` + "\n"
	var out bytes.Buffer
	run := newRun()
	if err := run.read(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := "# p: not JSON\n    a_test.go:2: broken\nok  \tp\t0.1s\nq.go:1: syntax error\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if !run.failed {
		t.Error("a failed test did not make the run fail")
	}
}

// A run on the engine and a later one on the server that leaves out what has run on the engine are compared as one.
func TestReadTwice(t *testing.T) {
	run, out := newRun(), &bytes.Buffer{}
	for _, lines := range []string{
		"run A\nrun A/engine\npass A/engine\npass A\nrun B\npass B\nrun C\nrun C/engine\npass C/engine\npass C",
		"run A\nrun A/server\npass A/server\npass A\nrun B\noutput B b_test.go:2: broken\nfail B\nrun C\nrun C/server",
	} {
		if err := run.read(strings.NewReader(events(lines)), out); err != nil {
			t.Fatal(err)
		}
	}
	p := compare(run)
	p.print(out, "S")
	if want :=
		"server: S; 1 tests ran there, 0 excluded; 2 tests ran on the engine\nparity: p: C/engine has no C/server\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed %q, want %q at the end", out.String(), want)
	}
	if !run.failed || !strings.HasPrefix(out.String(), "b_test.go:2: broken\n") {
		t.Errorf("failed: %t, printed %q", run.failed, out.String())
	}
}
