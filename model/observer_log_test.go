package model_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

func uniqueIndex() *options.IndexOptionsBuilder { return options.Index().SetUnique(true) }

// textLogger logs everything but times and other numbers that differ from run to run.
func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey, "id", "parent", "took":
				return slog.Attr{}
			}
			return a
		},
	}))
}

// TestLogTo: levels and attributes.
func TestLogTo(t *testing.T) {
	var out strings.Builder
	ctx, end := context.Background(), model.LogTo(textLogger(&out)).End
	for _, o := range []model.Operation{
		{
			Kind: "find", Collection: "parts", Caller: "main.main", Declared: model.Cost{Commands: 1, Batches: true},
			Actual: model.Cost{Commands: 1, Returned: 3},
		},
		{Kind: "find", Parent: 1},
		{Kind: "find", Failure: "not found"},
		{Kind: "plan", Failure: "duplicate key", Code: 11000, Index: "name_1"},
		{Kind: "plan", Failure: "server", Parent: 1},
		{Kind: "plan", Stale: true, TakenBack: true, Failure: "stale"},
		{Kind: "plan", Already: true},
		{Kind: "attempt", Parent: 1, Attempt: 1, Stale: true, Failure: "stale"},
		{Kind: "change", Name: "sell", Attempt: 1, Actual: model.Cost{Commands: 2, Written: 1, Returned: 1}, Modified: 1},
		{Kind: "change", Name: "sell", Attempt: 2},
		{Kind: "change", Name: "sell", Attempt: 8, Failure: "server"},
		{Kind: "change", Failure: "full"},
		{Kind: "job", Name: "mend", Failure: "left"},
	} {
		end(ctx, o)
	}
	want :=
		`level=INFO msg="docmodel find" caller=main.main collection=parts commands=1 returned=3 declared="1 command and one per further batch"
level=DEBUG msg="docmodel find" commands=0
level=INFO msg="docmodel find" failure="not found" commands=0
level=ERROR msg="docmodel plan" failure="duplicate key" code=11000 index=name_1 commands=0
level=DEBUG msg="docmodel plan" failure=server commands=0
level=WARN msg="docmodel plan" failure=stale stale=true takenBack=true commands=0
level=INFO msg="docmodel plan" already=true commands=0
level=DEBUG msg="docmodel attempt" attempt=1 failure=stale stale=true commands=0
level=INFO msg="docmodel change" name=sell attempt=1 commands=2 written=1 modified=1 returned=1
level=WARN msg="docmodel change" name=sell attempt=2 commands=0
level=ERROR msg="docmodel change" name=sell attempt=8 failure=server commands=0
level=INFO msg="docmodel change" failure=full commands=0
level=WARN msg="docmodel job" name=mend failure=left commands=0
`
	if got := out.String(); got != want {
		t.Errorf("logged:\n%s\nwant:\n%s", got, want)
	}
	none := slog.New(slog.DiscardHandler)
	if n := testing.AllocsPerRun(100, func() { model.LogTo(none) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestUnobserved: a database that nobody observes costs no allocation.
func TestUnobserved(t *testing.T) {
	tenancy.Differs(t, "each run reads the scope anew")
	db := mongotest.NewClient(t).Database("test")
	ctx := t.Context()
	for name, db := range map[string]model.DB{
		"a database": db, "under a scope": tenantOf("a").On(db), "nobody observes": model.Scope{}.On(db),
	} {
		if n := testing.AllocsPerRun(1000, func() { model.Unobserved(ctx, db) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		var empty model.Plan
		if n := testing.AllocsPerRun(1000, func() { _, _ = empty.Run(ctx, db) }); n != 0 {
			t.Errorf("an empty plan, %s: %v allocations", name, n)
		}
	}
}

// BenchmarkObserver runs an empty plan, which sends nothing: on a database, and observed.
func BenchmarkObserver(b *testing.B) {
	db := mongotest.NewClient(b).Database("test")
	for name, db := range map[string]model.DB{
		"unset": db,
		"set":   model.Observer{End: func(context.Context, model.Operation) {}}.On(db),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (model.Plan{}).Run(b.Context(), db); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
