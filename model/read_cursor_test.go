// This test holds that a read that ends early closes its cursor.

package model_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// openCursors follows the commands of a client, and knows which of its cursors the server still keeps.
type openCursors struct {
	mu   sync.Mutex
	ids  map[int64]bool
	seen int // cursors that were ever kept
}

func (o *openCursors) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName != "killCursors" {
				return
			}
			values, _ := e.Command.Lookup("cursors").Array().Values()
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, v := range values {
				delete(o.ids, v.Int64())
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			id, ok := e.Reply.Lookup("cursor", "id").AsInt64OK()
			if !ok {
				return
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if id == 0 && e.CommandName == "getMore" {
				clear(o.ids) // the test reads one cursor at a time
			} else if id != 0 && !o.ids[id] {
				o.ids[id] = true
				o.seen++
			}
		},
	}
}

// left returns how many cursors are open, and forgets them.
func (o *openCursors) left() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.ids)
	clear(o.ids)
	return n
}

// TestNoCursorStaysOpen holds that a read which ends early, by its caller, an error or its context, closes its cursor.
func TestNoCursorStaysOpen(t *testing.T) {
	open := &openCursors{ids: map[int64]bool{}}
	client := mongotest.Settings{Client: options.Client().SetMonitor(open.monitor())}
	errEnough := errors.New("enough")
	small := model.ReadOptions{BatchSize: 2}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i := range int32(20) {
			mustRun(t, db, parts.InsertMany([]part{{ID: i, Name: "x"}}))
		}
		find, sum := parts.Find(nil), parts.Aggregate(mongo.Pipeline{d("$match", d("qty", 0))})
		find.Options, sum.Options = small, small
		for name, read := range map[string]func(ctx context.Context, cancel func()) error{
			"to the end":     func(ctx context.Context, _ func()) error { _, err := find.All(ctx, db); return err },
			"one of several": func(ctx context.Context, _ func()) error { _, err := sum.One(ctx, db); return err },
			"a find is left": func(ctx context.Context, _ func()) error {
				for range find.Each(ctx, db) {
					return nil
				}
				return errEnough
			},
			"a pipeline is left": func(ctx context.Context, _ func()) error {
				for range sum.Each(ctx, db) {
					return nil
				}
				return errEnough
			},
			"the context ends": func(ctx context.Context, cancel func()) error {
				for _, err := range find.Each(ctx, db) {
					if cancel(); err != nil {
						return nil
					}
				}
				return errEnough
			},
			"a document can't be decoded": func(ctx context.Context, _ func()) error {
				broken := d("$set", d("qty", d("$cond", bson.A{d("$eq", bson.A{"$_id", 3}), "text", 1})))
				wrong := parts.Aggregate(mongo.Pipeline{broken})
				wrong.Options = small
				if _, err := wrong.All(ctx, db); err == nil {
					return errEnough
				}
				return nil
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			if err := read(ctx, cancel); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
			if n := open.left(); n > 0 {
				t.Errorf("%s: %d cursors stay open", name, n)
			}
		}
		if open.seen == 0 {
			t.Error("no read kept a cursor: the test sees nothing")
		}
	}, client)
}
