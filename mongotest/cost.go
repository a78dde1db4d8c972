package mongotest

import (
	"fmt"
	"strings"
)

// A Cost is what a [Monitor] has counted.
type Cost struct {
	Commands int // number of commands, without retries and handshakes
	Written  int // documents inserted, matched by an update, upserted or deleted
	Returned int // documents returned
}

func (c *Cost) add(d Cost) {
	c.Commands += d.Commands
	c.Written += d.Written
	c.Returned += d.Returned
}

// String returns the cost in words: "2 commands, 3 documents written".
func (c Cost) String() string {
	out := []string{countOf(c.Commands, "command")}
	if c.Written > 0 {
		out = append(out, countOf(c.Written, "document")+" written")
	}
	if c.Returned > 0 {
		out = append(out, fmt.Sprintf("%d returned", c.Returned))
	}
	return strings.Join(out, ", ")
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
