package operators

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

var renew = flag.Bool("update", false, "write the outcomes of the engine into the files of cases")

// TestCases runs the cases of each operator. The engine's outcomes are those of the files, errors with code and
// message; a server that isn't MongoDB words its errors in its own way, so that of those it is held only that they are
// errors.
func TestCases(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := load(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		onServer := strings.Contains(t.Name(), "/server")
		for _, k := range Kinds {
			sections := read(t, k)
			for _, s := range sections {
				for i, c := range s.cases {
					if c.none != "" || onServer && c.server != "" {
						continue
					}
					got := outcome(t.Context(), db, k, c.input)
					same := got == c.want || onServer && isError(got) && isError(c.want)
					if *renew && !onServer {
						s.cases[i].want = got
					} else if !same {
						t.Errorf("%s:%d: %s %s %s\n got %s\nwant %s", casesFile(k), c.line, s.name,
							c.label, c.input, got, c.want)
					}
				}
			}
			if *renew && !onServer {
				write(t, k, sections)
			}
		}
	})
}

func isError(outcome string) bool { return strings.HasPrefix(outcome, "error ") }

// TestComplete walks the registries: each operator has a case of every label, or says why there can be none.
func TestComplete(t *testing.T) {
	for _, k := range Kinds {
		sections := read(t, k)
		names := ListRegistered(k)
		for _, s := range sections {
			if !slices.Contains(names, s.name) {
				t.Errorf("%s has %s, which the engine hasn't", casesFile(k), s.name)
			}
		}
		for _, name := range names {
			i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
			if i < 0 {
				t.Errorf("%s has no cases of %s", casesFile(k), name)
				continue
			}
			for _, problem := range sections[i].problems() {
				t.Errorf("%s: %s %s", casesFile(k), name, problem)
			}
		}
	}
}

// problems says what an operator's cases lack.
func (s section) problems() (list []string) {
	for _, label := range labels {
		i := slices.IndexFunc(s.cases, func(c opCase) bool { return c.label == label })
		if i < 0 {
			list = append(list, "has no case: "+label)
			continue
		}
		for _, c := range s.cases {
			switch {
			case c.label != label:
			case c.none != "" && label == "ok":
				list = append(list, "has no success")
			case c.none == "" && !strings.Contains(c.input, strings.TrimSuffix(s.name, "[<identifier>]")):
				list = append(list, "isn't in "+c.input)
			case label == "ok" && isError(c.want):
				list = append(list, "fails where it should succeed: "+c.input)
			}
		}
	}
	return list
}
