// Conduit is the backend of RealWorld (https://realworld.io): users, profiles, follows,
// articles with tags, favorites, comments and a feed. It uses the standard library, the
// driver and docmodel. Writes are changes of stores, so repository.go doesn't say which
// copies, counts and dependent documents belong to a write. The declarations in model.go
// say it.
//
// The program runs on the server of a URI, with transactions if the server has them. Without
// a URI it runs on an embedded engine, which forgets all at its end:
//
//	go run ./examples/conduit [-uri mongodb://localhost] [-addr localhost:8080]
//
// The tests run the same requests (testdata/requests.txt) on a second repository, which
// uses only the driver and needs transactions (byhand_test.go). COSTS.md compares the
// commands of both.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
)

func main() {
	uri := flag.String("uri", "", "the server; empty for an embedded engine")
	name := flag.String("db", "conduit", "the database")
	addr := flag.String("addr", "localhost:8080", "the address to listen on")
	flag.Parse()
	if err := serve(context.Background(), *uri, *name, *addr); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, uri, name, addr string) error {
	client, stop, err := connect.Open(ctx, uri)
	if err != nil {
		return err
	}
	defer stop()
	repo, err := open(ctx, conduit.On(client.Database(name)))
	if err != nil {
		return err
	}
	key := []byte(os.Getenv("CONDUIT_KEY")) // signs the tokens
	if len(key) == 0 {
		key = make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return err
		}
		log.Print("CONDUIT_KEY is empty: the tokens are valid until the program ends")
	}
	server := &http.Server{Addr: addr, Handler: NewServer(repo, key).Handler(), ReadHeaderTimeout: 10 * time.Second}
	log.Printf("http://%s/api", addr)
	return server.ListenAndServe()
}

// open returns the repository of a database, with transactions if the server has them.
func open(ctx context.Context, db model.DB) (Repository, error) {
	tx, err := model.WithTransactions(ctx, db)
	switch {
	case err == nil:
		db = tx
	case !errors.Is(err, model.ErrNoTransactions):
		return nil, err
	}
	r := repository{db}
	return r, r.Prepare(ctx)
}
