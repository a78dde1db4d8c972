// This test compares the whole engine with a server, in random cases.

package differ

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// TestDifferential compares the engine with the server that MONGODB_URI names. DOCMODEL_DIFF_CASES and
// DOCMODEL_DIFF_SEED say how many cases to run and which; by default 300, with the seed 1. DOCMODEL_DIFF_FROM is
// the number of the first, by default 0. Without a server the cases run on the engine alone, and nothing is compared.
func TestDifferential(t *testing.T) {
	cases, seed := int(number(t, "DOCMODEL_DIFF_CASES", 300)), number(t, "DOCMODEL_DIFF_SEED", 1)
	uri := os.Getenv("MONGODB_URI")
	if uri == "" {
		alone(t, seed, cases)
		return
	}
	server, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Disconnect(context.Background()) })
	began := time.Now()
	report := compareAll(t, server, seed, int(number(t, "DOCMODEL_DIFF_FROM", 0)), cases)
	t.Logf("seed %d, %d cases in %v: %v", seed, cases, time.Since(began).Round(time.Second), report)
	for _, form := range slices.SortedFunc(maps.Keys(report.Found), func(x, y string) int {
		return cmp.Or(-cmp.Compare(report.Found[x].Like, report.Found[y].Like), cmp.Compare(x, y))
	}) {
		f := report.Found[form]
		t.Errorf("seed %d, case %d, and %d more like it: %s\n%s\n%s", seed, f.Number, f.Like, form,
			outcome.DescribeBoth(f.Engine, f.Server), formatCase(f.Case, nil))
	}
}

// workers is how many cases run at once, each worker in its own databases.
const workers = 2

func compareAll(t *testing.T, server *mongo.Client, seed uint64, from, cases int) *Report {
	t.Helper()
	ctx := context.Background()
	total := &Report{Known: map[string]int{}, Found: map[string]*Found{}}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var alone sync.RWMutex
	for w := range workers {
		p := pair{outcome.StartEngine(t), newServer(t, server, w), &alone}
		wait.Go(func() {
			report, err := p.run(ctx, seed, from+cases*w/workers, from+cases*(w+1)/workers)
			mu.Lock()
			defer mu.Unlock()
			total.merge(report)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	return total
}

func newServer(t *testing.T, client *mongo.Client, worker int) *outcome.Backend {
	t.Helper()
	db := client.Database(fmt.Sprintf("differ_%d_%d", os.Getpid(), worker))
	t.Cleanup(func() { _ = db.Drop(context.Background()) })
	b, err := outcome.NewBackend(context.Background(), "server", db)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// alone runs cases on the engine, which must do or refuse each of them without an internal error.
func alone(t *testing.T, seed uint64, cases int) {
	t.Helper()
	e := outcome.StartEngine(t)
	failed := 0
	for i := range cases {
		c := grammar.Generate(seed, i)
		out, err := e.Run(context.Background(), c)
		if err != nil {
			t.Fatalf("seed %d, case %d: %v\n%s", seed, i, err, formatCase(c, nil))
		}
		if out.Code == -1 || out.Code == 1 || out.Code == 8 {
			t.Errorf("seed %d, case %d: internal error %d: %s\n%s", seed, i, out.Code, out.Text, formatCase(c, nil))
		}
		if out.Fails() {
			failed++
		}
	}
	t.Logf("seed %d: %d cases ran on the engine, which refused %d; MONGODB_URI is not set, so nothing was compared",
		seed, cases, failed)
}

// number is the value of an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
