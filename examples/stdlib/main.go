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
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Getenv(modeltest.EnvURI)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// run reads the library, connects and runs the tour. Slow reading is reported to
// progress.
func run(ctx context.Context, out, progress io.Writer, uri string) error {
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(progress, "reading the standard library with go list -json std …") })
	std, err := readStd(ctx)
	slow.Stop()
	if err != nil {
		return err
	}
	monitor := modeltest.NewMonitor()
	return connect.Run(ctx, uri, "docmodel_stdlib", out, func(ctx context.Context, out io.Writer, db *mongo.Database) error {
		fmt.Fprintf(out, "%d packages and %d files of the standard library, %s\n", len(std.packages), len(std.files), where(uri))
		t := &tour{out: out, progress: progress, monitor: monitor, db: db, std: std}
		return t.all(ctx)
	}, monitor)
}

func where(uri string) string {
	if uri == "" {
		return "on the engine in this process"
	}
	return "on the server that MONGODB_URI names"
}
