// Stdlib is a tour of docmodel on real data: it reads the Go standard library of this machine, models packages, files
// and imports, and prints each generated command, what it returned and what it cost. It needs no server; with MONGODB_URI
// it runs on that one, in a database of its own that it drops.
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
)

const database = "docmodel_stdlib"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Getenv("MONGODB_URI")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// run reads, connects and tours. Progress goes to progress, if reading takes long.
func run(ctx context.Context, out, progress io.Writer, uri string) error {
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(progress, "reading the standard library with go list -json std …") })
	listed, err := listStd(ctx)
	slow.Stop()
	if err != nil {
		return err
	}
	packages, files, err := documents(listed, fileSize)
	if err != nil {
		return err
	}
	monitor := modeltest.NewMonitor()
	client, stop, err := connect.Open(ctx, uri, monitor)
	if err != nil {
		return err
	}
	defer stop()
	db := client.Database(database)
	if err := db.Drop(ctx); err != nil {
		return fmt.Errorf("stdlib: %w", err)
	}
	t := &tour{out: out, monitor: monitor, db: db, progress: progress}
	fmt.Fprintf(out, "%d packages and %d files of the standard library, %s\n", len(packages), len(files), where(uri))
	if err := t.all(ctx, packages, files); err != nil {
		return err
	}
	return db.Drop(ctx)
}

func where(uri string) string {
	if uri == "" {
		return "on the engine in this process"
	}
	return "on the server that MONGODB_URI names"
}
