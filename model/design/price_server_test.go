// These tests price layouts for servers with shards and little memory, and with limits of operations.

package design_test

import (
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model/design"
)

// A query by _id goes to one shard, any other to all of them; data beyond the memory is read from disk.
func TestServer(t *testing.T) {
	w := valid()
	plain, err := w.Price(design.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	w.Server = design.Server{Shards: 4, Memory: 50_000}
	p, err := w.Price(design.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	// show reads a post by _id, and its comments and their number by the reference; comment inserts by _id.
	show, comment := p.Operation("show"), p.Operation("comment")
	if show.Shards != 6 || comment.Shards != 0 {
		t.Errorf("further shards: %g and %g, want 6 and 0", show.Shards, comment.Shards)
	}
	if share := show.Cold / (show.Read + show.Written); share <= 0 || share >= 1 {
		t.Errorf("%g of the documents are read from disk", share)
	}
	if show.Time <= plain.Operation("show").Time || show.Commands != plain.Operation("show").Commands {
		t.Errorf("%v with shards and disk, %v without", show.Time, plain.Operation("show").Time)
	}
	costs := p.Costs
	costs.Command += time.Millisecond
	if got, want := show.At(costs),
		show.Time+time.Duration(show.Commands*float64(time.Millisecond)); (got - want).Abs() > time.Microsecond {
		t.Errorf("with slower commands %v, want %v", got, want)
	}
}

// A layout that keeps an operation's limit is better than a cheaper one that doesn't.
func TestWithin(t *testing.T) {
	w := valid()
	w.Entities[1].Count = 50_000 // too many to embed
	d, err := w.Design()
	if err != nil {
		t.Fatal(err)
	}
	comment := d.Best.Operation("comment")
	plain := d.Normalized.Operation("comment")
	if plain.Time >= comment.Time {
		t.Fatalf("a comment takes %v in the best layout and %v in the normalized one", comment.Time, plain.Time)
	}
	w.Operations[1].Within = plain.Time
	limited, err := w.Design()
	if err != nil {
		t.Fatal(err)
	}
	if limited.Best.Late != 0 || limited.Best.Time <= d.Best.Time {
		t.Errorf("with a limit: %s, %d late, %v; without %v", limited.Best.Layout, limited.Best.Late,
			limited.Best.Time, d.Best.Time)
	}
	w.Operations[1].Within = 1
	if late, err := w.Design(); err != nil || late.Best.Late != 1 || !strings.Contains(late.String(), "late") {
		t.Errorf("a limit that nothing keeps: %v, %s", err, late)
	}
}

// What pricing a layout takes.
func BenchmarkPrice(b *testing.B) {
	w := valid()
	for b.Loop() {
		if _, err := w.Price(design.Layout{}); err != nil {
			b.Fatal(err)
		}
	}
}
