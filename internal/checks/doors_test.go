package checks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// doors are the files of the library that open the driver's database, and why no scope need hold there.
var doors = map[string]string{
	"internal/core/run.go":       "it makes the handles",
	"model/open.go":              "every document is read and written through it, after the scopes were applied",
	"model/indexes_run.go":       "indexes hold no documents; their keys are led by the tenant before",
	"model/index_stored.go":      "indexes and collations, which hold no documents",
	"model/default_collation.go": "the default collations of collections, which hold no documents",
	"model/validation_run.go":    "a validator is a collection's",
	"model/handle.go":            "the name and the client of the database, and no collection",
	"model/stream_follow.go":     "a ping, for the server's time",
	"model/transaction.go":       "hello, which asks the server what it is",
	"model/advise/survey.go":     "the server's own count, where no scope holds",

	"denorm/outbox/lease.go": "the leases of a relay, which are the library's own; their names hold the tenant",

	"model/advise/database.go":         "the names of collections, which hold no documents",
	"model/advise/database_explore.go": "how much indexes are used, where no scope holds",
}

var opensDatabase = regexp.MustCompile(`core\.Database\(|\.\(\*mongo\.Database\)|\.Client\(\)\.Database\(`)

// TestDoors: the library opens the driver's database in few places, so that a scope can't be passed by.
func TestDoors(t *testing.T) {
	open := map[string]bool{}
	for _, top := range []string{
		"model", "relate", "denorm", "paths", "geohash", "internal/core", "internal/commands", "internal/found",
	} {
		err := filepath.WalkDir(filepath.Join(root(), top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "modeltest" {
				return orSkip(err)
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root(), path)
			if name = filepath.ToSlash(name); opensDatabase.Match(src) {
				open[name] = true
				if doors[name] == "" {
					t.Errorf("%s opens the driver's database: run on a model.DB, or say in the list why no scope need hold there",
						name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range doors {
		if !open[name] {
			t.Errorf("%s opens no database any more: take it out of the list", name)
		}
	}
}

// orSkip is the error of a walk, or that a folder is left out.
func orSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}
