// Stdlib is a tour of docmodel on real data: it reads the Go standard library of this machine, and models its packages, their
// files and imports with every technique that fits them: packages as a tree in six representations, imports as references of
// each kind and as a graph, files as children with numbers, copies and indexes kept beside. It prints each generated command,
// what it returned and what it cost, in a table at the end. It ends with an error if the trees don't give the same answers, or
// counters, distances and documents are not what go list and their types say. It needs no server; with MONGODB_URI it runs on
// that one, in a database of its own that it drops.
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
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file := flag.String("html", "", "write the tour to this file, too, as a web page that needs no network")
	flag.Parse()
	if err := run(ctx, os.Stdout, os.Stderr, os.Getenv(modeltest.EnvURI), *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// run reads, connects and tours. Progress goes to progress, if reading takes long. The page
// goes to file, if it is not "".
func run(ctx context.Context, out, progress io.Writer, uri, file string) error {
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(progress, "reading the standard library with go list -json std …") })
	std, err := readStd(ctx)
	slow.Stop()
	if err != nil {
		return err
	}
	monitor := modeltest.NewMonitor()
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
