package designtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/model/design/designtest"
)

// rooms is a workload of two entities.
var rooms = design.Workload{
	Name: "rooms & guests",
	Entities: []design.Entity{
		{Name: "rooms", Count: 50},
		{Name: "guests", Count: 200, Fields: []design.Field{{Name: "name", Text: 10}}},
	},
	Relations: []design.Relation{{Child: "guests", Field: "room", Parent: "rooms", List: "guests"}},
	Operations: []design.Operation{
		{
			Name: "list", Rate: 99,
			Accesses: []design.Access{{Of: "rooms", By: []string{"_id"}}, {Of: "guests", By: []string{"room"}}},
		},
		{Name: "<arrive>", Rate: 1, Accesses: []design.Access{{Do: design.Insert, Of: "guests"}}},
	},
}

// recorder is a test that fails without failing this one.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestTry(t *testing.T) {
	embedded := design.Layout{Stored: map[string]design.Storage{"guests.room": {As: design.Embedded}}}
	report := designtest.Try(t, rooms, embedded, design.Layout{Name: "apart"})
	for _, trial := range report.Trials {
		runs := 0
		for _, m := range trial.Operations {
			p := trial.Priced.Operation(m.Operation)
			if m.Commands != p.Commands || m.Runs < 10 || m.Took <= 0 {
				t.Errorf("%s, %s, %s: %+v, priced %+v", trial.Backend, trial.Layout.Name, m.Operation, m, p)
			}
			runs += m.Runs
		}
		if runs < designtest.Runs {
			t.Errorf("%d runs", runs)
		}
	}
	report.Want(t, "layout 1", "list", 1, 1)
	report.Want(t, "apart", "list", 2, 5.2)

	var r recorder
	report.Want(&r, "apart", "list", 1, 5)
	report.Want(&r, "apart", "list", 2, 4)
	report.Want(&r, "apart", "leave", 9, 9)
	backends := len(report.Trials) / 2 // on each, the price and the measure fail
	if n := len(r.failures); n != 4*backends+1 ||
		!strings.Contains(r.failures[0], "2 commands and 5 documents, want at most 1 and 5") ||
		!strings.Contains(r.failures[n-1], "no trial") {
		t.Errorf("failures: %q", r.failures)
	}

	page := report.HTML()
	for _, part := range []string{
		"<title>rooms &amp; guests</title>", "&lt;arrive&gt;", `<table class="bars"`, "prefers-color-scheme: dark",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	for _, part := range []string{"http://", "https://", "<script", "<arrive>"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %q", part)
		}
	}
	if s := report.String(); !strings.Contains(s, "apart, on the ") {
		t.Error(s)
	}
}
