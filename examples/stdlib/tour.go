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
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// tour runs the steps, prints them, and keeps a row of the table for each.
type tour struct {
	out, progress io.Writer
	monitor       *modeltest.Monitor
	db            *mongo.Database
	rows          []row
}

func (t *tour) all(ctx context.Context, pkgs []Package, fs []File) error {
	for _, chapter := range []func(context.Context, []Package, []File) error{t.load, t.references, t.parents, t.bounded, t.advice} {
		if err := chapter(ctx, pkgs, fs); err != nil {
			return err
		}
	}
	t.table()
	return nil
}

func (t *tour) title(s string) {
	fmt.Fprintf(t.out, "\n== %s\n", s)
}

// step prints a value as the command that it sends, runs it, and prints what came back and what it cost.
func (t *tour) step(name string, value fmt.Stringer, index string, f func() (string, error)) error {
	fmt.Fprintf(t.out, "\n%s\n", name)
	for _, line := range abridged(value.String()) {
		fmt.Fprintln(t.out, "   ", line)
	}
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(t.progress, name, "…") })
	var answer string
	cost, err := modeltest.Measure(t.monitor, func() (err error) {
		answer, err = f()
		return err
	})
	slow.Stop()
	if err != nil {
		return fmt.Errorf("stdlib: %s: %w", name, err)
	}
	fmt.Fprintf(t.out, "  → %s\n  cost: %s\n", answer, cost)
	t.rows = append(t.rows, row{name, cost, index})
	return nil
}

// plan runs a plan as a step.
func (t *tour) plan(ctx context.Context, name string, p model.Plan) error {
	return t.step(name, p, strings.Join(p.Cost().Indexes, ", "), func() (string, error) {
		res, err := p.Run(ctx, t.db)
		return fmt.Sprintf("changed %s; the plan is %s", count(res.Modified()), p.Guarantee()), err
	})
}

// abridged shows the first lines of a long plan, and of each line what fits.
func abridged(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	const most = 2
	if n := len(lines); n > most {
		lines = append(lines[:most:most], fmt.Sprintf("… and %d more", n-most))
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > 400 {
			lines[i] = string(r[:400]) + " …"
		}
	}
	return lines
}

func (t *tour) load(ctx context.Context, pkgs []Package, fs []File) error {
	t.title("Two collections and the indexes that their techniques need")
	set := model.Indexes(imports, inside, largest)
	if err := t.step("create the indexes", set, "", func() (string, error) {
		return fmt.Sprintf("%d indexes", len(set.Needed)), set.Ensure(ctx, t.db)
	}); err != nil {
		return err
	}
	if err := t.plan(ctx, "store the packages", packages.InsertMany(pkgs)); err != nil {
		return err
	}
	return t.plan(ctx, "store the files", files.InsertMany(fs))
}

func (t *tour) references(ctx context.Context, pkgs []Package, _ []File) error {
	t.title("Child references: a package lists what it imports (relate.ChildRefs)")
	top := most(pkgs, func(p Package) int { return len(p.Imports) })
	of := imports.ChildrenOf(top.ID)
	if err := t.step("what "+top.ID+" imports, in stored order", of, of.Index, func() (string, error) {
		list, err := of.All(ctx, t.db)
		return names(list, func(p Package) string { return p.ID }), err
	}); err != nil {
		return err
	}
	using := imports.ParentsOf("unsafe").Sorted(bson.D{{Key: "_id", Value: 1}})
	if err := t.step("who imports unsafe", using, imports.Indexes()[0].Name, func() (string, error) {
		list, err := using.All(ctx, t.db)
		return names(list, func(p Package) string { return p.ID }), err
	}); err != nil {
		return err
	}
	if err := t.plan(ctx, "let errors import fmt, which is a cycle that Go refuses and a document doesn't", model.NewPlan(imports.Add("errors", "fmt"))); err != nil {
		return err
	}
	return t.plan(ctx, "and take it back", model.NewPlan(imports.Remove("errors", "fmt")))
}

func (t *tour) parents(ctx context.Context, pkgs []Package, fs []File) error {
	t.title("Parent references: a file knows its package (relate.ParentRef)")
	page := inside.Newest("runtime", 3)
	var last File
	if err := t.step("the three largest files of runtime", page, page.Index, func() (string, error) {
		list, err := page.All(ctx, t.db)
		if err != nil || len(list) == 0 {
			return "none", err
		}
		last = list[len(list)-1]
		return names(list, sized), nil
	}); err != nil {
		return err
	}
	next := page.After(last.Bytes, last.ID)
	if err := t.step("the next three", next, page.Index, func() (string, error) {
		list, err := next.All(ctx, t.db)
		return names(list, sized), err
	}); err != nil {
		return err
	}
	counts := inside.Counts("runtime", "net/http", "errors")
	if err := t.step("how many files three packages have", counts, counts.Index, func() (string, error) {
		list, err := counts.All(ctx, t.db)
		return fmt.Sprintf("%+v", list), err
	}); err != nil {
		return err
	}
	move := inside.Move(last.ID, "runtime", "errors")
	if err := t.plan(ctx, "move a file to another package", model.NewPlan(move)); err != nil {
		return err
	}
	stale := inside.Move(last.ID, "runtime", "fmt")
	return t.step("move it again from where it no longer is", stale, stale.Index, func() (string, error) {
		_, err := stale.Run(ctx, t.db)
		if !errors.Is(err, model.ErrStale) {
			return "", fmt.Errorf("want model.ErrStale, got %v", err)
		}
		return err.Error(), nil
	})
}

func (t *tour) bounded(ctx context.Context, pkgs []Package, fs []File) error {
	t.title("A bounded array: a package keeps its three largest files (denorm.Bounded)")
	var fill model.Plan
	for pkg, group := range byPackage(fs) {
		elements := make([]any, len(group))
		for i, f := range group {
			elements[i] = Sized{f.Name, f.Bytes}
		}
		w := largest.Push(pkg, elements...)
		w.Expect = model.Any // the packages were just stored; so all pushes share one command
		fill.Steps = append(fill.Steps, w)
	}
	slices.SortFunc(fill.Steps, func(a, b model.Step) int { return cmp.Compare(a.String(), b.String()) })
	if err := t.plan(ctx, "push every file to its package", fill); err != nil {
		return err
	}
	if err := t.plan(ctx, "run it again: files that are kept are known by name", model.NewPlan(largest.Push("errors", Sized{"errors.go", 1}))); err != nil {
		return err
	}
	read := largest.Slice("net/http", 2)
	return t.step("a package with two of them", read, read.Index, func() (string, error) {
		p, err := read.One(ctx, t.db)
		return fmt.Sprintf("%s: %v", p.ID, p.Largest), err
	})
}

func byPackage(fs []File) map[string][]File {
	groups := map[string][]File{}
	for _, f := range fs {
		groups[f.Package] = append(groups[f.Package], f)
	}
	return groups
}

func count(n int64) string {
	if n == 1 {
		return "1 document"
	}
	return fmt.Sprintf("%d documents", n)
}

func sized(f File) string { return fmt.Sprintf("%s (%d bytes)", f.Name, f.Bytes) }

// names lists documents, the first few by name.
func names[T any](list []T, name func(T) string) string {
	const most = 8
	var parts []string
	for _, d := range list[:min(len(list), most)] {
		parts = append(parts, name(d))
	}
	s := count(int64(len(list))) + ": " + strings.Join(parts, ", ")
	if len(list) > most {
		s += ", …"
	}
	return s
}

func most[T any](list []T, by func(T) int) T {
	return slices.MaxFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}
