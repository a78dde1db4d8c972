// The documents, declarations and helpers that the tests of this package share.

package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: lots that tell what is done to them.
type (
	lot struct {
		ID      string                `bson:"_id"`
		N       int64                 `bson:"n"`
		Version int64                 `bson:"version"`
		Ops     []bson.ObjectID       `bson:"ops,omitempty"`
		Box     outbox.Outgoing[told] `bson:"box,omitempty"`
	}
	told struct {
		N int `bson:"n"`
	}
	delivery = outbox.Delivery[string, told]
)

var (
	lots  = model.NewCollection[lot, string]("lots")
	keys  = model.NewCollection[lot, string]("keys")
	box   = outbox.New[told](lots, "box", outbox.Spec{Max: 5, MaxBytes: 100})
	wide  = outbox.New[told](lots, "box", outbox.Spec{Max: 1000})
	byKey = outbox.New[told](keys, "box", outbox.Spec{Create: true, Max: 1000})

	noon = time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
)

// lotWith is a lot in whose box some events wait.
func lotWith(t testing.TB, db model.DB, id string, events ...int) {
	t.Helper()
	ctx := context.Background()
	if _, err := lots.Insert(lot{ID: id}).Run(ctx, db); err != nil {
		t.Fatal(err)
	}
	for _, n := range events {
		if _, err := wide.Publish(id, told{n}, noon.Add(time.Duration(n)*time.Second), opOf(id, n)).
			Run(ctx, db); err != nil {
			t.Fatal(err)
		}
	}
}

// opOf is the token of a lot's n-th event.
func opOf(id string, n int) (op bson.ObjectID) {
	op[0], op[10], op[11] = 1, byte(n>>8), byte(n)
	copy(op[1:], id)
	return op
}

// A sink is a receiver. It notes what it is handed.
type sink struct {
	sync.Mutex
	got  map[string][]int // of each key
	all  int
	fail func(d delivery, before int) error // before says how often it came
	seen map[string]int
}

func (s *sink) hand(_ context.Context, d delivery) error {
	s.Lock()
	defer s.Unlock()
	if s.got == nil {
		s.got, s.seen = map[string][]int{}, map[string]int{}
	}
	what := fmt.Sprint(d.Key, d.Body.N)
	s.seen[what]++
	if s.fail != nil {
		if err := s.fail(d, s.seen[what]-1); err != nil {
			return err
		}
	}
	s.all++
	s.got[d.Key] = append(s.got[d.Key], d.Body.N)
	return nil
}

// firsts are the events of a key as they came first: each once.
func firsts(list []int) (out []int) {
	for _, n := range list {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

var errHand = errors.New("the receiver is down")

// waiting are the numbers of the events that wait in a lot, and of those that are parked.
func waiting(t testing.TB, db model.DB, id string) (events, parked []int) {
	t.Helper()
	l, err := lots.ByID(id).One(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range l.Box.Events {
		events = append(events, x.Body.N)
	}
	for _, x := range l.Box.Parked {
		parked = append(parked, x.Body.N)
	}
	return events, parked
}

func once(s *sink, more ...func(*outbox.RelaySpec)) testkit.DBFunc {
	spec := outbox.RelaySpec{Once: true, Parts: 2, Attempts: 2, Pause: time.Nanosecond, MaxPause: time.Nanosecond}
	for _, f := range more {
		f(&spec)
	}
	return func(ctx context.Context, db *mongo.Database) error {
		return wide.Relay("test", spec, s.hand).Run(ctx, db)
	}
}
