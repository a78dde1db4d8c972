package model

import (
	"fmt"
	"slices"
	"strings"
)

// A Cost is a price or a measured cost. A price is computed before a query, write or plan
// runs. Package modeltest or an [Observer] measures the cost of a run.
type Cost struct {
	Commands int // number of commands, without retries and handshakes
	Written  int // documents inserted, deleted, or matched by an update; in a price, the maximum

	// Unbounded is true in a price with update many, delete many, $merge or $out. Written
	// excludes these writes.
	Unbounded bool
	// Batches is true in a query's price. Each further batch of results adds a command.
	Batches bool

	Returned int      // documents returned; in a price, only the document of a Modify or a Store's write
	Indexes  []string // indexes used; only in a price
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	out := Cost{
		Commands: c.Commands + d.Commands, Written: c.Written + d.Written, Returned: c.Returned + d.Returned,
		Unbounded: c.Unbounded || d.Unbounded, Batches: c.Batches || d.Batches,
		Indexes: slices.Clone(c.Indexes),
	}
	for _, name := range d.Indexes {
		if !slices.Contains(out.Indexes, name) {
			out.Indexes = append(out.Indexes, name)
		}
	}
	return out
}

// String returns the cost in words: "2 commands, 3 documents written, by parts_1".
func (c Cost) String() string {
	s := []string{plural(c.Commands, "command")}
	if c.Batches {
		s[0] += " and one per further batch"
	}
	if c.Unbounded && c.Written == 0 {
		s = append(s, "as many documents written as match")
	} else if c.Unbounded {
		s = append(s, plural(c.Written, "document")+" written and as many as match")
	} else if c.Written > 0 {
		s = append(s, plural(c.Written, "document")+" written")
	}
	if c.Returned > 0 {
		s = append(s, fmt.Sprintf("%d returned", c.Returned))
	}
	if len(c.Indexes) > 0 {
		s = append(s, "by "+strings.Join(c.Indexes, ", "))
	}
	return strings.Join(s, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

//go:noinline
func readCost(index string) Cost { return Cost{Commands: 1, Batches: true, Indexes: indexes(index)} }

func indexes(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
