package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// tour runs and prints the steps, and records a row of the table for each.
type tour struct {
	out, progress io.Writer
	monitor       *mongotest.Monitor
	db            *mongo.Database
	written       model.DB // by stores: in transactions, if the server has them
	transactions  bool
	std           *library
	chapter       string // the running chapter
	rows          []row
	shown         []shown
}

// A chapter shows some techniques. It leaves packages and files unchanged, except for the
// fields of its techniques.
type chapter struct {
	name, what string
	run        func(context.Context) error
}

func (t *tour) chapters() []chapter {
	return []chapter{
		{"Storing", "three collections, and the indexes that their techniques need", t.load},
		{"Child references", "a package lists what it imports (childrefs.ChildRefs)", t.references},
		{"Many to many", "packages list who imports them, too (twosided.ManyToMany)", t.manyToMany},
		{"Two-way references", "a package lists its files, and a file names its package (twosided.TwoWay)", t.twoWay},
		{"Join documents", "a pair is a document, and says where the import is (joincollection.JoinCollection)", t.joinDocuments},
		{"Application-side join", "two levels, each package fetched once (join.Join, join.Then)", t.join},
		{"Deleting", "what an import asks for, when its package goes (ondelete.OnDelete, dangling.Dangling)", t.deleting},
		{"Parent references", "a file knows its package (parentref.ParentRef)", t.parents},
		{"Bounded array", "a package keeps its three largest files (bounded.Bounded, embed.Embedded)", t.bounded},
		{"Subset", "the same, kept by what changes files, and all files beside (subset.Subset)", t.subset},
		{"Counters", "a package knows how many files and bytes it has (counter.Counter)", t.counters},
		{"Copied field", "a file says what its package is about (copies.Copy)", t.copied},
		{"Index table", "packages by name, with their synopses (indextable.IndexTable)", t.indexTable},
		{"Inverted index", "files by the words of their names (inverted.Inverted)", t.inverted},
		{"Trees", "packages by their import paths, in every representation (paths.NewParentTree …, RollUp)", t.trees},
		{"Graph", "imports as edges: ranks, distances, components, chains (paths.Graph)", t.graph},
		{"Schema", "validators from the Go types (schema.Of)", t.schemas},
		{"Advice", "the figures of the live data, and what they ask for (advise.Survey, Choose, Budget; Model.Diagram)", t.advice},
	}
}

// notShown lists techniques that don't fit this data.
const notShown = `
Not here: Versioned, Kinds and Sequence (examples/shop), Approximate (blog), Expiry (logs), WideRow (likes), Field (places); and, each in an
Example of its package, Composite, Shard, Versions, Number, Extract, Invert, Convert, Bucket, Outlier, UniqueCount, Attributes, Columns, Feed …
`

func (t *tour) all(ctx context.Context) error {
	tx, err := model.WithTransactions(ctx, t.db)
	switch t.written, t.transactions = tx, err == nil; {
	case errors.Is(err, model.ErrNoTransactions):
		t.written = t.db
	case err != nil:
		return err
	}
	for _, c := range t.chapters() {
		fmt.Fprintf(t.out, "\n== %s: %s\n", c.name, c.what)
		t.chapter = c.name
		if err := t.show(ctx, c); err != nil {
			return err
		}
	}
	t.table()
	fmt.Fprint(t.out, notShown)
	return nil
}

// step prints a value's command, runs it, and prints the result and the cost.
func (t *tour) step(name string, value fmt.Stringer, index string, f func() (string, error)) error {
	fmt.Fprintf(t.out, "\n%s\n", name)
	t.commands(strings.Split(strings.TrimSpace(value.String()), "\n"))
	answer, cost, err := t.measure(name, f)
	if err != nil {
		return err
	}
	t.tell(name, answer, cost, index)
	return nil
}

// sent is step for values that decide which commands to send. It prints the monitored
// commands: only writes to the model's collections, if there are any. Commands for leases
// and records of supersteps only count in the cost.
func (t *tour) sent(name, index string, f func() (string, error)) error {
	fmt.Fprintf(t.out, "\n%s\n", name)
	before := len(t.monitor.Commands())
	answer, cost, err := t.measure(name, f)
	if err != nil {
		return err
	}
	var reads, writes []string
	for _, c := range t.monitor.Commands()[before:] {
		switch {
		case strings.HasPrefix(c.Collection, "docmodel.") || strings.HasSuffix(c.Collection, "_steps") || c.Name == "getMore":
		case mongotest.Writes(c):
			writes = append(writes, c.String())
		default:
			reads = append(reads, c.String())
		}
	}
	if len(writes) == 0 {
		writes = reads
	}
	t.commands(writes)
	t.tell(name, answer, cost, index)
	return nil
}

func (t *tour) measure(name string, f func() (string, error)) (answer string, cost model.Cost, err error) {
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(t.progress, name, "…") })
	defer slow.Stop()
	cost, err = modeltest.Measure(t.monitor, func() (err error) {
		answer, err = f()
		return err
	})
	if err != nil {
		err = fmt.Errorf("stdlib: %s: %w", name, err)
	}
	return answer, cost, err
}

func (t *tour) tell(name, answer string, cost model.Cost, index string) {
	fmt.Fprintf(t.out, "  → %s\n  cost: %s\n", answer, cost)
	t.rows = append(t.rows, row{t.chapter, name, cost, index})
}

// plan runs a plan as a step.
func (t *tour) plan(ctx context.Context, name string, p model.Plan) error {
	return t.step(name, p, indexes(p.Cost()), func() (string, error) {
		res, err := p.Run(ctx, t.db)
		return fmt.Sprintf("changed %s; the plan is %s", count(res.Modified()), p.Guarantee()), err
	})
}

// change runs a change as a step.
func change(ctx context.Context, t *tour, name, index string, c model.Action) error {
	return t.sent(name, index, func() (string, error) {
		res, err := c.Change().Run(ctx, t.db)
		return "changed " + count(res.Modified()), err
	})
}

// write runs a store's change as a step.
func write[D any](ctx context.Context, t *tour, name string, c model.ChangeOf[model.Stored[D]]) error {
	return t.sent(name, "_id_", func() (string, error) {
		_, res, err := c.Run(ctx, t.written)
		return "changed " + count(res.Modified()), err
	})
}

// job runs a job as a step.
func (t *tour) job(ctx context.Context, name, index string, j model.Job) error {
	return t.sent(name, index, func() (string, error) {
		p, err := j.Run(ctx, t.db, model.JobOptions{})
		return fmt.Sprintf("read %s, changed %s, in %d batches", count(p.Documents), count(p.Modified), p.Batches), err
	})
}

// reads is a query or a pipeline.
type reads[R any] interface {
	fmt.Stringer
	Cost() model.Cost
	All(context.Context, model.DB) ([]R, error)
}

// read runs a query as a step and shows the first few results.
func read[R any](ctx context.Context, t *tour, name string, q reads[R], show func(R) string) (list []R, err error) {
	err = t.step(name, q, indexes(q.Cost()), func() (string, error) {
		list, err = q.All(ctx, t.db)
		return names(list, show), err
	})
	return list, err
}

// find runs a check as a step and shows the first few findings.
func (t *tour) find(ctx context.Context, name string, c model.Check) (list []model.Finding, err error) {
	err = t.step(name, c, indexes(c.Find().Cost()), func() (string, error) {
		list, err = c.All(ctx, t.db)
		return names(list, model.Finding.String), err
	})
	return list, err
}

// load stores the data of go list, without any technique's fields.
func (t *tour) load(ctx context.Context) error {
	set := everything.Indexes()
	if err := t.step("create the indexes", set, "", func() (string, error) {
		return fmt.Sprintf("%d indexes, and %d that these cover", len(set.Needed), len(set.Dropped)), set.Ensure(ctx, t.db)
	}); err != nil {
		return err
	}
	if err := t.plan(ctx, "store the packages", packages.InsertMany(t.std.packages)); err != nil {
		return err
	}
	return t.plan(ctx, "store the files", files.InsertMany(t.std.files))
}

// commands prints the first of many commands, cut to fit.
func (t *tour) commands(lines []string) {
	const most, wide = 2, 400
	for _, l := range lines[:min(len(lines), most)] {
		if r := []rune(l); len(r) > wide {
			l = string(r[:wide]) + " …"
		}
		fmt.Fprintln(t.out, "   ", l)
	}
	if n := len(lines); n > most {
		fmt.Fprintf(t.out, "    … and %d more\n", n-most)
	}
}

func indexes(c model.Cost) string { return strings.Join(c.Indexes, ", ") }

func count(n int64) string {
	if n == 1 {
		return "1 document"
	}
	return fmt.Sprintf("%d documents", n)
}

func sized(f File) string { return fmt.Sprintf("%s (%d bytes)", f.Name, f.Bytes) }

func packageID(p Package) string { return p.ID }

// names prints the first few names of a list.
func names[T any](list []T, name func(T) string) string {
	const most, wide = 8, 250
	s := count(int64(len(list)))
	for i, d := range list {
		switch {
		case i == 0:
			s += ": "
		case i == most || len(s) > wide:
			return s + ", …"
		default:
			s += ", "
		}
		s += name(d)
	}
	return s
}

func most[T any](list []T, by func(T) int) T {
	return slices.MaxFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}
