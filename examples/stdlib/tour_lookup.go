package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/inverted"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// indexTable finds packages by name. Several packages share a name: rand, template.
func (t *tour) indexTable(ctx context.Context) error {
	if err := t.job(ctx, "enter each package by its name", "_id_", byName.Rebuild()); err != nil {
		return err
	}
	rands := byName.Lookup("rand")
	entry := func(e indextable.Entry[string]) string {
		about, _ := e.Doc.Lookup("doc").StringValueOK()
		return e.ID + ": " + about
	}
	if _, err := read(ctx, t, "what is called rand, by the entries alone", rands, entry); err != nil {
		return err
	}
	rename := func(name, to string) error {
		return write(ctx, t, name, namedPackages.Set("crypto/rand", bson.D{{Key: "name", Value: to}}))
	}
	if err := rename("call one otherwise", "random"); err != nil {
		return err
	}
	if _, err := read(ctx, t, "what is called rand now", rands, entry); err != nil {
		return err
	}
	return rename("and call it as before", "rand")
}

// inverted finds files by the words of their names, which include build constraints.
func (t *tour) inverted(ctx context.Context) error {
	if err := t.job(ctx, "enter each file by its words and its package", "_id_", byWords.Rebuild()); err != nil {
		return err
	}
	system, arch := byWords.Is("words", runtime.GOOS), byWords.Is("words", runtime.GOARCH)
	name := fmt.Sprintf("files for %s on %s alone", runtime.GOOS, runtime.GOARCH)
	fileID := func(f inverted.ID[string]) string { return f.ID }
	if _, err := read(ctx, t, name, byWords.IDs(system.And(arch)), fileID); err != nil {
		return err
	}
	either := byWords.Count(system.Or(arch).Minus(byWords.Is("package", "runtime")))
	total := func(n denorm.Count) string { return fmt.Sprint(n.N, " files") }
	if _, err := read(ctx, t, "how many for either, outside of package runtime", either, total); err != nil {
		return err
	}
	report := byWords.Report(system, "package")
	_, err := read(ctx, t, "how many for "+runtime.GOOS+", by package", report, func(c denorm.Counted[bson.RawValue]) string {
		return fmt.Sprintf("%s %d", c.Value.StringValue(), c.N)
	})
	return err
}
