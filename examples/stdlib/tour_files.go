package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (t *tour) parents(ctx context.Context) error {
	page := inside.Children("runtime").Limited(3)
	list, err := read(ctx, t, "the three largest files of runtime", page, sized)
	if err != nil {
		return err
	}
	last := list[len(list)-1]
	if _, err := read(ctx, t, "the next three", page.After(last.Bytes, last.ID), sized); err != nil {
		return err
	}
	counts := inside.Counts("runtime", "net/http", "errors")
	if err := t.step("how many files three packages have", counts, counts.Index, func() (string, error) {
		list, err := counts.All(ctx, t.db)
		return fmt.Sprintf("%+v", list), err
	}); err != nil {
		return err
	}
	if err := write(ctx, t, "move a file to another package", moveFile(last.ID, "runtime", "errors")); err != nil {
		return err
	}
	if err := t.sent("move it again from where it no longer is", "_id_", func() (string, error) {
		_, _, err := moveFile(last.ID, "runtime", "fmt").Run(ctx, t.db)
		if !errors.Is(err, errElsewhere) {
			return "", fmt.Errorf("want %w, got %v", errElsewhere, err)
		}
		return err.Error(), nil
	}); err != nil {
		return err
	}
	return write(ctx, t, "move it back", moveFile(last.ID, "errors", "runtime"))
}

var errElsewhere = errors.New("the file is in another package")

// moveFile moves a file, if it still is in a package.
func moveFile(file, from, to string) model.ChangeOf[model.Stored[File]] {
	return placedFiles.Edit(file, func(f *File) error {
		if f.Package != from {
			return fmt.Errorf("%w: %s", errElsewhere, f.Package)
		}
		f.Package = to
		return nil
	})
}

func (t *tour) bounded(ctx context.Context) error {
	var fill model.Plan
	for pkg, group := range byPackage(t.std.files) {
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
	again := model.NewPlan(largest.Push("errors", Sized{"errors.go", 1}))
	if err := t.plan(ctx, "run it again: files that are kept are known by name", again); err != nil {
		return err
	}
	two := largest.Slice("net/http", 2)
	if _, err := read(ctx, t, "a package with two of them", two, func(p Package) string { return fmt.Sprint(p.ID, " ", p.Largest) }); err != nil {
		return err
	}
	large := kept.Elements(bson.D{{Key: "bytes", Value: bson.D{{Key: "$gt", Value: 200_000}}}}, largestFirst)
	_, err := read(ctx, t, "elements over 200,000 bytes, of all packages", large, func(e embed.ElementOf[string, Sized]) string {
		return fmt.Sprintf("%s of %s", e.Element.Name, e.Parent)
	})
	return err
}

func (t *tour) subset(ctx context.Context) error {
	if err := t.job(ctx, "fill the subset of each package", top.Indexes()[0].Name, top.Checks()[0].Job()); err != nil {
		return err
	}
	shown := packages.ByID("net/http")
	stored, err := read(ctx, t, "a package with its three largest files", shown, func(p Package) string { return fmt.Sprint(p.ID, " ", p.Top) })
	if err != nil {
		return err
	}
	if _, err := read(ctx, t, "the next three, from where those end", top.Rest(&stored[0]).Limited(3), sized); err != nil {
		return err
	}
	first := stored[0].Top[0]
	set := func(name string, bytes int64) error {
		return write(ctx, t, name, shownFiles.Set(first.ID, bson.D{{Key: "bytes", Value: bytes}}))
	}
	if err := set("empty the largest file: another takes its place", 0); err != nil {
		return err
	}
	return set("and give it back its bytes", first.Bytes)
}

func (t *tour) counters(ctx context.Context) error {
	check := sizes.Checks()[0]
	found, err := t.find(ctx, "which packages' counters are wrong", check)
	if err != nil {
		return err
	}
	if err := t.plan(ctx, "set them to what their files make", check.Mend(found)); err != nil {
		return err
	}
	show := func(name string) error {
		two := packages.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{"errors", "net/http"}}}}})
		_, err := read(ctx, t, name, two, func(p Package) string { return fmt.Sprintf("%s %d files of %d bytes", p.ID, p.Count, p.Bytes) })
		return err
	}
	if err := show("two packages with their counters"); err != nil {
		return err
	}
	away := countedFiles.Set("net/http/server.go", bson.D{{Key: "package", Value: "errors"}})
	if err := write(ctx, t, "move a file from one to the other", away); err != nil {
		return err
	}
	if err := show("both have changed"); err != nil {
		return err
	}
	back := files.Update("net/http/server.go", bson.D{{Key: "$set", Value: bson.D{{Key: "package", Value: "net/http"}}}})
	if err := t.plan(ctx, "move it back past the counters", model.NewPlan(back)); err != nil {
		return err
	}
	if !t.transactions { // Recount needs them
		found, err := check.All(ctx, t.db)
		if err == nil {
			err = t.plan(ctx, "set them again to what their files make", check.Mend(found))
		}
		return cmp.Or(err, t.agreeWithList(ctx))
	}
	for _, p := range []string{"errors", "net/http"} {
		if err := change(ctx, t, "count "+p+" anew", inside.Indexes()[0].Name, sizes.Recount(p)); err != nil {
			return err
		}
	}
	return t.agreeWithList(ctx)
}

// agreeWithList compares the counters with go list.
func (t *tour) agreeWithList(ctx context.Context) error {
	groups := byPackage(t.std.files)
	for p, err := range packages.Find(nil).Each(ctx, t.db) {
		if err != nil {
			return err
		}
		var bytes int64
		for _, f := range groups[p.ID] {
			bytes += f.Bytes
		}
		if p.Count != int64(len(groups[p.ID])) || p.Bytes != bytes {
			return fmt.Errorf("stdlib: %s counts %d files of %d bytes, and go list gives %d of %d", p.ID, p.Count, p.Bytes, len(groups[p.ID]), bytes)
		}
	}
	return nil
}

func (t *tour) copied(ctx context.Context) error {
	if err := t.job(ctx, "copy each package's synopsis to its files", synopses.Indexes()[0].Name, synopses.Rebuild()); err != nil {
		return err
	}
	source, err := packages.ByID("net/http").One(ctx, t.db)
	if err != nil {
		return err
	}
	set := func(name, doc string) error {
		return write(ctx, t, name, copiedPackages.Set("net/http", bson.D{{Key: "doc", Value: doc}}))
	}
	if err := set("say otherwise what net/http is about", "Package http is about HTTP."); err != nil {
		return err
	}
	said := files.Find(bson.D{{Key: "package", Value: "net/http"}}).Limited(1)
	if _, err := read(ctx, t, "and so does each of its files", said, func(f File) string { return f.ID + ": " + f.Synopsis }); err != nil {
		return err
	}
	return set("say it as before", source.Doc)
}

func byPackage(fs []File) map[string][]File {
	groups := map[string][]File{}
	for _, f := range fs {
		groups[f.Package] = append(groups[f.Package], f)
	}
	return groups
}
