package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var update = flag.Bool("update", false, "write COSTS.md")

// opening opens a repository.
type opening func(ctx context.Context, db *mongo.Database) (Repository, error)

func openStores(ctx context.Context, db *mongo.Database) (Repository, error) {
	tx, err := model.WithTransactions(ctx, conduit.On(db))
	return repository{tx}, err
}

func openByHand(_ context.Context, db *mongo.Database) (Repository, error) { return byHand{db}, nil }

// An outcome is what an action sent and returned.
type outcome struct {
	sent   []string // commands
	result any
}

// measure runs all actions on a new database. It returns the outcomes, and the documents
// that the actions leave.
func measure(t *testing.T, server string, open opening) (all []outcome, left map[string][]bson.M) {
	t.Helper()
	ctx, monitor := t.Context(), mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor, mongotest.Settings{Version: server}).Database("conduit")
	repo, err := open(ctx, db)
	if err == nil {
		err = fill(ctx, repo)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions() {
		monitor.Reset()
		result, err := a.run(ctx, repo)
		if err != nil {
			result = nil
		}
		if !isWanted(err, a.want) {
			t.Errorf("%s: %v, want %v", a.name, err, a.want)
		}
		var sent []string
		for _, c := range monitor.Commands() {
			sent = append(sent, c.Name)
		}
		all = append(all, outcome{sent, result})
	}
	wantSound(t, db)
	return all, documents(t, db)
}

func isWanted(err, want error) bool {
	var taken, wanted *TakenError
	if errors.As(want, &wanted) {
		return errors.As(err, &taken) && *taken == *wanted
	}
	return errors.Is(err, want)
}

// documents returns the documents of all collections, without the fields that only make
// transactions conflict.
func documents(t *testing.T, db *mongo.Database) map[string][]bson.M {
	t.Helper()
	out := map[string][]bson.M{}
	for _, name := range []string{"users", "articles", "comments", "favorites", "follows"} {
		byID := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
		cursor, err := db.Collection(name).Find(t.Context(), bson.D{}, byID)
		var all []bson.M
		if err == nil {
			err = cursor.All(t.Context(), &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			delete(d, "_m")
			delete(d, "lock")
		}
		out[name] = all
	}
	return out
}

// Each action returns the same and leaves the same as by hand. It sends no more commands.
// COSTS.md has the numbers.
func TestCosts(t *testing.T) {
	servers := []string{"8.0", "5.0"}
	costs := make([][]int, len(actions()))
	for _, server := range servers {
		ours, left := measure(t, server, openStores)
		theirs, leftByHand := measure(t, server, openByHand)
		if diff := cmp.Diff(leftByHand, left); diff != "" {
			t.Errorf("MongoDB %s: the documents differ (- by hand, + stores):\n%s", server, diff)
		}
		for i, a := range actions() {
			if diff := cmp.Diff(theirs[i].result, ours[i].result); diff != "" {
				t.Errorf("%s: the results differ (- by hand, + stores):\n%s", a.name, diff)
			}
			t.Logf("MongoDB %s, %s: %v; by hand: %v", server, a.name, ours[i].sent, theirs[i].sent)
			n, byHand := len(ours[i].sent), len(theirs[i].sent)
			costs[i] = append(costs[i], n, byHand)
			if n > byHand {
				t.Errorf("MongoDB %s, %s: %d commands, by hand %d", server, a.name, n, byHand)
			}
		}
	}
	text := costTable(costs) + indexTable(t) + lineTable(t)
	if *update {
		if err := os.WriteFile("COSTS.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile("COSTS.md")
	if err != nil || string(golden) != text {
		t.Errorf("COSTS.md isn't up to date (%v): run go test -run TestCosts -update, and read the difference", err)
	}
}

// costTable returns the first part of COSTS.md. costs has four numbers for each action.
func costTable(costs [][]int) string {
	var b strings.Builder
	b.WriteString("# Costs of Conduit\n\nWritten by `go test -run TestCosts -update`.\n\n## Commands\n\n" +
		"The number of commands of each action of the repository, in transactions. commitTransaction\n" +
		"and abortTransaction count. \"By hand\" is [byhand_test.go](byhand_test.go): the driver alone,\n" +
		"with the same results and the same documents. It doesn't use bulkWrite, which needs MongoDB\n" +
		"8.0.\n\n" +
		"| action | stores, 8.0 | by hand, 8.0 | stores, 5.0 | by hand, 5.0 |\n| --- | ---: | ---: | ---: | ---: |\n")
	sum := make([]int, 4)
	for i, a := range actions() {
		fmt.Fprintf(&b, "| %s |", a.name)
		for j, n := range costs[i] {
			sum[j] += n
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d |\n", sum[0], sum[1], sum[2], sum[3])
	return b.String()
}

// indexTable returns the part of COSTS.md about secondary indexes.
func indexTable(t *testing.T) string {
	ctx, db := t.Context(), mongotest.NewClient(t)
	count := func(repo Repository, db *mongo.Database) (n int) {
		if err := repo.Prepare(ctx); err != nil {
			t.Fatal(err)
		}
		for _, name := range conduit.Collections() {
			all, err := db.Collection(name).Indexes().ListSpecifications(ctx)
			if err != nil {
				t.Fatal(err)
			}
			n += max(0, len(all)-1)
		}
		return n
	}
	stores, byHands := db.Database("stores"), db.Database("byHand")
	s, h := count(repository{conduit.On(stores)}, stores), count(byHand{byHands}, byHands)
	if s > h {
		t.Errorf("the stores need %d indexes, and the code by hand %d", s, h)
	}
	return fmt.Sprintf("\n## Secondary indexes\n\nStores: %d. By hand: %d.\n", s, h)
}

func linesOf(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return countLines(string(text))
}

// countLines counts the lines that aren't blank and aren't comments.
func countLines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// lineTable returns the part of COSTS.md about lines. The types are common to both.
func lineTable(t *testing.T) string {
	ours, byHand := linesOf(t, "repository.go"), linesOf(t, "byhand_test.go")
	model, err := os.ReadFile("model.go")
	if err != nil {
		t.Fatal(err)
	}
	_, declarations, _ := strings.Cut(string(model), "\nvar (\n")
	return fmt.Sprintf("\n## Lines\n\nLines that aren't blank and aren't comments. "+
		"Stores: %d, and %d of declarations in model.go.\n"+
		"By hand: %d. The types are common to both.\n", ours, countLines(declarations), byHand)
}

// The repository has at most half of the lines of the code by hand.
func TestLines(t *testing.T) {
	if ours, byHand := linesOf(t, "repository.go"), linesOf(t, "byhand_test.go"); 2*ours > byHand {
		t.Errorf("%d lines, by hand %d", ours, byHand)
	}
}
