package outcome

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// ErrNotLoaded means that the documents of a case could not be stored, so that there's nothing to compare.
var ErrNotLoaded = errors.New("documents refused")

// Backend is a database, on the engine or on a server, that cases run in.
type Backend struct {
	name string
	db   *mongo.Database
	held map[string]bool // the collections that hold documents
}

// NewBackend creates the collections in a new database.
func NewBackend(ctx context.Context, name string, db *mongo.Database) (*Backend, error) {
	b := &Backend{name: name, db: db}
	return b, b.Recover(ctx)
}

// createAll creates all collections of cases, with their indexes.
func createAll(ctx context.Context, db *mongo.Database) error {
	for coll, indexes := range cases.Collections {
		if err := db.CreateCollection(ctx, coll); err != nil {
			return err
		}
		if len(indexes) == 0 {
			continue
		}
		if err := db.RunCommand(ctx, tree.D("createIndexes", coll, "indexes", indexes)).Err(); err != nil {
			return err
		}
	}
	return nil
}

// Recover waits until the backend answers again and makes its database anew: indexes may have been broken.
func (b *Backend) Recover(ctx context.Context) error {
	var err error
	for range 600 {
		if err = b.db.Drop(ctx); err == nil {
			if err = createAll(ctx, b.db); err == nil {
				b.held = map[string]bool{}
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// Run empties the collections, stores those of the case's documents that their collection takes, runs the
// command and reads what it left. An error means that the case says nothing.
func (b *Backend) Run(ctx context.Context, c cases.Case) (Outcome, error) {
	for coll := range b.held {
		if err := b.db.RunCommand(ctx,
			tree.D("delete", coll, "deletes", bson.A{tree.D("q", bson.D{}, "limit", 0)})).Err(); err != nil {
			return Outcome{}, err
		}
		delete(b.held, coll)
	}
	loaded := int32(0)
	for coll, docs := range map[string][]bson.D{c.Collection: c.Docs, "o": c.Other} {
		if len(docs) == 0 {
			continue
		}
		b.held[coll] = true
		raw, err := b.db.RunCommand(ctx, tree.D("insert", coll, "documents", docs, "ordered", false)).Raw()
		if err != nil && !errors.As(err, &mongo.WriteException{}) { // a document may violate a unique index
			return Outcome{}, errors.Join(ErrNotLoaded, err)
		}
		n, _ := raw.Lookup("n").AsInt64OK()
		loaded += int32(n)
	}
	out := outcomeOf(b.db.RunCommand(ctx, c.Command))
	out.Loaded = loaded
	SortReply(c, out.Reply)
	if !c.Writes() {
		return out, nil
	}
	for _, coll := range []string{c.Collection, "out"} {
		b.held[coll] = true
		state := outcomeOf(b.db.RunCommand(ctx, tree.D("find", coll, "sort", tree.D("_id", 1), "batchSize", 1000)))
		if state.Fails() {
			return Outcome{}, errors.New(state.Text)
		}
		for _, v := range FirstBatch(state.Reply) {
			doc, _ := v.(bson.D)
			out.State = append(out.State, doc)
		}
	}
	slices.SortStableFunc(out.State, func(x, y bson.D) int {
		if tree.Lookup(x, "_id") != SomeID || tree.Lookup(y, "_id") != SomeID {
			return 0
		}
		return bytes.Compare(tree.Encode(x), tree.Encode(y)) // new ids come in no determined order
	})
	return out, nil
}

// TryRun is Run for the rules: a case that can't run gives an outcome with the code -1.
func (b *Backend) TryRun(ctx context.Context, c cases.Case) Outcome {
	out, err := b.Run(ctx, c)
	if err != nil {
		return Outcome{Code: -1, Text: err.Error()}
	}
	return out
}
