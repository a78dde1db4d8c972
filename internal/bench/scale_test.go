package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// Each technique does its operations, of which every one has a figure, at the price that its value names.
func TestScale(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		made, err := scaleTable(t.Context(), b, clockOptions{rounds: 1, sizes: []int{400, 800}, limit: time.Hour})
		if err != nil {
			t.Error(err)
		}
		all := made.(*scale)
		for _, trial := range trials() {
			for i, n := range all.sizes {
				f, ok := all.figure(trial, i)
				switch {
				case !ok && b.uri != "" && strings.Contains(trial.name, "transaction"):
				case !ok || f.runs == 0 || f.cost.Commands == 0:
					t.Errorf("%s, %d documents: no figure: %+v", trial.key(), n, f)
				case f.price.Commands > 0 && !agrees(f.price, f.cost):
					t.Errorf("%s, %d documents: took %v, and says %v", trial.key(), n, f.cost, f.price)
				}
			}
		}
		if rows := strings.Count(all.String(), "\n| "); rows != len(trials())+2 {
			t.Errorf("%d lines of %d operations:\n%s", rows, len(trials()), all)
		}
	})
}

func agrees(price, cost model.Cost) bool {
	commands := price.Commands == cost.Commands || price.Batches && price.Commands < cost.Commands
	return commands && (price.Written == cost.Written || price.Unbounded && price.Written <= cost.Written)
}

// What is loaded is as the techniques would have stored it, by their own checks.
func TestStocksAreSound(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, k := range stocks() {
			if k.sound == nil {
				continue
			}
			db, stop, err := b.open(mongotest.NewMonitor().CommandMonitor())
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(db, 400)
			if err = s.stock(t.Context(), k); err == nil {
				err = k.sound(t.Context(), s)
			}
			if err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
			stop()
		}
	})
}

// The techniques are in the order of docs/TYPES.md. All that it shows as keeping documents in a database, but for
// trees, are there.
func TestScaleIsInOrder(t *testing.T) {
	page, err := os.ReadFile("../../docs/TYPES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### One document")
	table, _, _ = strings.Cut(table, "\n## ")
	last := -1
	for _, name := range techniques {
		at := regexp.MustCompile(`\[` + "`" + regexp.QuoteMeta(name) + "[`\"]").FindStringIndex(table)
		if at == nil || at[0] < last {
			t.Errorf("%s: not in a table of docs/TYPES.md, or in another order", name)
			continue
		}
		last = at[0]
	}
	for _, trial := range trials() {
		if !slices.Contains(techniques, trial.technique) {
			t.Errorf("%s has no place in the order", trial.technique)
		}
	}
}
