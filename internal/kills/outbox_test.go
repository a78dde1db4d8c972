package kills

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	source struct {
		ID     int                          `bson:"_id"`
		N      int64                        `bson:"n"`
		Done   []inbox.Receipt              `bson:"done,omitempty"`
		Outbox outbox.Outgoing[sourceEvent] `bson:"outbox,omitempty"`
	}
	sourceEvent struct {
		Writer int   `bson:"writer"`
		N      int64 `bson:"n"`
	}
	target struct {
		ID   int             `bson:"_id"`
		Seen []int64         `bson:"seen,omitempty"`
		Done []inbox.Receipt `bson:"done,omitempty"`
	}
)

var (
	sources  = model.NewCollection[source, int]("sources")
	targets  = model.NewCollection[target, int]("targets")
	acted    = inbox.New(sources, "done", inbox.Spec{})
	told     = outbox.New[sourceEvent](sources, "outbox", outbox.Spec{Max: 10_000})
	received = inbox.New(targets, "done", inbox.Spec{Keep: 1000})
)

// relay hands the events of all sources to their targets.
func relay(once bool) outbox.Relay {
	spec := outbox.RelaySpec{Parts: 4, For: time.Second, Poll: 20 * time.Millisecond, Once: once}
	return told.Relay("kills", spec, func(ctx context.Context, d outbox.Delivery[int, sourceEvent]) error {
		db := ctx.Value(relayDB{}).(model.DB)
		_, err := received.Handle(d.Key, bson.D{e("$push", bson.D{e("seen", d.Body.N)})}, d.Body, d.ID).Run(ctx, db)
		return err
	})
}

type relayDB struct{}

// Each writer changes a document of its own and publishes that. All writers are runners of a relay, and targets note
// what they are told.
func init() {
	id := func(w int) int { return w + 1 }
	acts = append(acts, act{
		name: "outbox and inbox", technique: told,
		begin: func(ctx context.Context, db *mongo.Database) error {
			for w := range writers {
				p := model.NewPlan(sources.Insert(source{ID: id(w)}), targets.Insert(target{ID: id(w)}))
				if _, err := p.Run(ctx, db); err != nil {
					return err
				}
			}
			return nil
		},
		background: func(ctx context.Context, db *mongo.Database) error {
			return relay(false).Run(context.WithValue(ctx, relayDB{}, model.DB(db)), db)
		},
		do: func(ctx context.Context, db *mongo.Database, o op) error {
			event := sourceEvent{o.writer, int64(o.n) + 1}
			_, err := model.Merge(
				acted.Handle(id(o.writer), bson.D{e("$inc", bson.D{e("n", int64(1))})}, event, o.token),
				told.Publish(id(o.writer), event, noon, o.token),
			).Run(ctx, db)
			return err
		},
		settle: func(ctx context.Context, db *mongo.Database) error {
			time.Sleep(1500 * time.Millisecond) // the leases of those that were killed
			return relay(true).Run(context.WithValue(ctx, relayDB{}, model.DB(db)), db)
		},
		judge: func(t *testing.T, db *mongo.Database, done [writers]int) {
			for w, n := range done {
				s, err := sources.ByID(id(w)).One(t.Context(), db)
				if err != nil || s.N != int64(n) || len(s.Outbox.Events)+len(s.Outbox.Parked) > 0 {
					t.Errorf("source %d: %d, %d wait, %d are parked, %v, want %d", w, s.N, len(s.Outbox.Events),
						len(s.Outbox.Parked), err, n)
				}
				g, err := targets.ByID(id(w)).One(t.Context(), db)
				if err != nil || len(g.Seen) != n || !slices.IsSorted(g.Seen) {
					t.Errorf("target %d: %d events of %d, in order: %v, %v", w, len(g.Seen), n, slices.IsSorted(g.Seen), err)
				}
			}
		},
	})
}
