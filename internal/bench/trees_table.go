package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// A wood is what every forester took for trees of some sizes on one backend.
type wood struct {
	on      backend
	sizes   []int
	trees   []*grown
	figures map[string][]map[string]figure // by forester, size and operation
}

// treeTables measures trees of several sizes. After an error it continues with the next.
func treeTables(ctx context.Context, b backend, o clockOptions) (section, error) {
	w := &wood{on: b, sizes: o.sizes, figures: map[string][]map[string]figure{}}
	var failed []error
	for i, n := range o.sizes {
		g := grow(n)
		w.trees = append(w.trees, g)
		for _, f := range foresters {
			begun, smaller, times := time.Now(), map[string]figure(nil), 0.0
			if i > 0 {
				smaller, times = w.figures[f.name][i-1], float64(n)/float64(o.sizes[i-1])
			}
			figures, err := cultivate(ctx, b, f, g, o, smaller, times)
			w.figures[f.name] = append(w.figures[f.name], figures)
			if err != nil {
				err = fmt.Errorf("%s, %d nodes: %w", f.name, n, err)
				fmt.Fprintln(os.Stderr, "failed:", err)
				failed = append(failed, err)
				continue
			}
			fmt.Fprintf(os.Stderr, "done: %s, %s nodes, on %s, in %s\n", f.name, digits(n), b.name, short(time.Since(begun)))
		}
	}
	return w, errors.Join(failed...)
}

// figure is what a forester took for an operation on the i-th tree, if it came so far.
func (w *wood) figure(f forester, i int, op string) (figure, bool) {
	if i >= len(w.figures[f.name]) {
		return figure{}, false
	}
	fig, ok := w.figures[f.name][i][op]
	return fig, ok
}

func (w *wood) partly() {}

func (w *wood) heading() string { return "Trees, on " + w.on.name }

// String returns a table for each size, and a table for each representation.
func (w *wood) String() string {
	var b strings.Builder
	for i, g := range w.trees {
		n := w.sizes[i]
		fmt.Fprintf(&b, "## Trees of %s nodes, on %s\n\n", digits(n), w.on.name)
		fmt.Fprintf(&b, "A tree of depth %d, in which a node has 1 to 19 children. The branch has %s descendants; the node whose children are\n"+
			"read, and into which a leaf is inserted, lies in the middle of the preorder; what is moved goes from a quarter of it to three\n"+
			"quarters, or back. Times are medians of one operation. %s\n\n", g.depth, digits(g.below), w.on.note)
		b.WriteString("| operation |")
		for _, f := range foresters {
			fmt.Fprintf(&b, " %s |", f.name)
		}
		b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(foresters)) + "\n")
		for _, op := range treeOperations() {
			fmt.Fprintf(&b, "| %s |", op)
			for _, f := range foresters {
				fig, ok := w.figure(f, i, op)
				fmt.Fprintf(&b, " %s |", fig.text(ok))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	for _, f := range foresters {
		w.representation(&b, f)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (w *wood) representation(b *strings.Builder, f forester) {
	fmt.Fprintf(b, "## Trees as %s, on %s\n\n", f.name, w.on.name)
	b.WriteString("Beside each time: what this process used of CPU, and the commands and the documents written. Memory is how much its heap grew\n" +
		"at most, garbage included, beside the nodes that are given to the load. " + w.on.note + "\n\n| operation |")
	for _, n := range w.sizes {
		fmt.Fprintf(b, " %s nodes | CPU | commands, documents |", digits(n))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: | ---: | ---: |", len(w.sizes)) + "\n")
	for _, op := range treeOperations() {
		if _, ok := w.figure(f, 0, op); !ok {
			continue
		}
		fmt.Fprintf(b, "| %s |", op)
		for i, n := range w.sizes {
			fig, ok := w.figure(f, i, op)
			fmt.Fprintf(b, " %s", fig.text(ok))
			switch {
			case fig.runs == 0:
				b.WriteString(" | – | – |")
				continue
			case fig.peak > 0:
				fmt.Fprintf(b, ", %s nodes/s, %s MB", digits(int(float64(n)/fig.time.Seconds())), digits(int(fig.peak/1e6)))
			case fig.byHand > 0:
				fmt.Fprintf(b, ", %.2f of the same by hand", fig.byHand)
			}
			fmt.Fprintf(b, " | %s | %s, %s |", short(fig.cpu), digits(fig.cost.Commands), digits(fig.cost.Written))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func treeOperations() []string {
	all := []string{bulkLoad, streamedLoad}
	for _, t := range tasks {
		all = append(all, t.name)
	}
	return all
}
