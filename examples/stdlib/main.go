// Stdlib is a tour of docmodel on real data: your machine's Go standard library. It
// models packages, files and imports with every technique that fits: packages as a tree
// in six representations, imports as references of each kind and as a graph, files as
// children with numbers, copies and indexes. It prints each command, its result and its
// cost, and a table of the costs at the end. It fails if the trees disagree, or if
// counters, distances or documents disagree with go list or with their types. It needs no
// server. With MONGODB_URI it runs on that server, in its own database, which it drops.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file := flag.String("html", "", "write the tour to this file, too, as a web page that needs no network")
	flag.Parse()
	if err := run(ctx, os.Stdout, os.Stderr, os.Getenv(mongotest.EnvURI), *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// run reads the library, connects and runs the tour. Slow reading is reported to
// progress. If file isn't "", the tour is written there as a web page.
func run(ctx context.Context, out, progress io.Writer, uri, file string) error {
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(progress, "reading the standard library with go list -json std …") })
	std, err := readStd(ctx)
	slow.Stop()
	if err != nil {
		return err
	}
	monitor := mongotest.NewMonitor()
	return connect.Run(ctx, uri, "docmodel_stdlib", out, func(ctx context.Context, out io.Writer, db *mongo.Database) error {
		what := fmt.Sprintf("%d packages and %d files of the standard library, %s", len(std.packages), len(std.files), where(uri))
		fmt.Fprintln(out, what)
		t := &tour{out: out, progress: progress, monitor: monitor, db: db, std: std}
		if err := t.all(ctx); err != nil || file == "" {
			return err
		}
		return os.WriteFile(file, []byte(t.page(what)), 0o644)
	}, monitor)
}

func where(uri string) string {
	if uri == "" {
		return "on the engine in this process"
	}
	return "on the server that MONGODB_URI names"
}
