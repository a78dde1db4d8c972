package modeltest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An InterleaveCase has two operations, whose commands [Interleave] runs in every order.
type InterleaveCase struct {
	// Seed stores the initial documents, or is nil.
	Seed func(ctx context.Context, db *mongo.Database) error

	// A and B are operations that send one command at a time.
	A, B func(ctx context.Context, db *mongo.Database) error

	// Check tests the database and the operations' errors.
	Check func(t testing.TB, db *mongo.Database, errA, errB error)

	// Match selects the commands whose order changes; nil means [mongotest.All]. [mongotest.Writes] gives
	// fewer orders, but doesn't test reads between writes.
	Match mongotest.Match

	// Nested runs only orders in which A or B isn't interrupted. If A has m commands and
	// B has n, these are about m+n orders.
	Nested bool

	// Max is the allowed number of orders; 0 means 5000. More orders fail the test.
	Max int

	// Sample is the number of orders on a real server; 0 means 3, negative means all.
	Sample int

	// Transactions skips the case on a server without transactions.
	Transactions bool

	// Standalone runs the case only on an engine without transactions.
	Standalone bool

	// judge replaces Check. story lists the sent commands in order.
	judge func(t testing.TB, db *mongo.Database, errA, errB error, story func() string)

	// more, unless nil, is called if there are more than Max orders, which then don't
	// fail the test.
	more func()
}

// Interleave runs c.A and c.B in every order of their commands. Each order runs on a new
// database, followed by c.Check. The first failure ends the test. m and n commands have
// (m+n)!/(m!n!) orders. On a real server, InterleaveCase.Sample limits the orders.
//
// On the in-memory engine, time.Sleep takes no time (testing/synctest).
func Interleave(t *testing.T, c InterleaveCase) {
	t.Helper()
	if c.A == nil || c.B == nil || c.Check == nil {
		panic("modeltest: Interleave: the case needs A, B and Check")
	}
	if c.Transactions && c.Standalone {
		panic("modeltest: Interleave: the case has both Transactions and Standalone\n\tremedy: use two cases")
	}
	c.judge = func(t testing.TB, db *mongo.Database, errA, errB error, _ func() string) { c.Check(t, db, errA, errB) }
	if c.Match == nil {
		c.Match = mongotest.All
	}
	if c.Max == 0 {
		c.Max = 5000
	}
	if c.Sample == 0 {
		c.Sample = 3
	}
	var schedules []schedule
	whole := t
	eachBackend(t, func(t *testing.T, b *backend) {
		b.need(t, c.Transactions, c.Standalone)
		onEngine := func(s schedule) schedule { return c.playEngine(t, s) }
		if b.plain == nil {
			schedules = c.orders(t, onEngine)
			t.Logf("%d orders", len(schedules))
			return
		}
		if whole.Failed() {
			return
		}
		if len(schedules) == 0 { // the engine's subtest wasn't selected
			schedules = c.orders(t, onEngine)
		}
		chosen := sample(schedules, c.Sample)
		for _, s := range chosen {
			c.play(t, b, b.plain, s, serverPatience)
		}
		t.Logf("%d of %d orders", len(chosen), len(schedules))
	})
}

// The patience is the time after which an operation counts as waiting for the other.
const (
	enginePatience = 5 * time.Second // of the bubble's clock
	serverPatience = 250 * time.Millisecond
)

// orders plays and returns the schedules: those of Nested, or all, depth first.
func (c InterleaveCase) orders(t *testing.T, play func(schedule) schedule) []schedule {
	if c.Nested {
		return c.nestedOrders(t, play)
	}
	var out []schedule
	for next, more := schedule(""), true; more; next, more = out[len(out)-1].following() {
		if len(out) == c.Max && c.more != nil {
			c.more()
			break
		}
		if len(out) == c.Max {
			b := len(play(schedule(strings.Repeat("B", c.Max))))
			t.Fatalf("more than %d orders: Match selects %d commands of A and %d of B\n\tremedy: "+
				"set Match: mongotest.Writes, or Nested, or a larger Max", c.Max, len(out[0]), b)
		}
		out = append(out, play(next))
	}
	return out
}

// nestedOrders plays the schedules in which one operation runs as a whole, at one point
// of the other.
func (c InterleaveCase) nestedOrders(t *testing.T, play func(schedule) schedule) []schedule {
	allB := schedule(strings.Repeat("B", c.Max))
	first, second := play(""), play(allB)
	out := []schedule{first, second}
	within := func(n int) []int {
		switch {
		case n < 2:
			return nil
		case testing.Short():
			return []int{n / 2}
		}
		at := make([]int, n-1)
		for i := range at {
			at[i] = i + 1
		}
		return at
	}
	for _, i := range within(len(first)) {
		out = append(out, play(first[:i]+allB))
	}
	for _, i := range within(len(second)) {
		out = append(out, play(second[:i])) // and then A
	}
	if len(out) > c.Max {
		t.Fatalf("more than %d orders\n\tremedy: set Match: mongotest.Writes, or Max", c.Max)
	}
	return out
}

// playEngine plays a schedule on a new engine.
func (c InterleaveCase) playEngine(t *testing.T, s schedule) (taken schedule) {
	synctest.Test(t, func(t *testing.T) {
		b, client := newEngine(t, c.Standalone)
		taken = c.play(t, b, client, s, enginePatience)
	})
	return taken
}

// A schedule says, for each moment in which both operations could continue, which one
// did: "A" or "B".
type schedule string

// following is next, with -short only for the schedule's first half.
func (s schedule) following() (schedule, bool) {
	if testing.Short() {
		s = s[:(len(s)+1)/2]
	}
	return s.next()
}

// next returns the first choices of the following schedule. Further choices are A.
func (s schedule) next() (schedule, bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == 'A' {
			return s[:i] + "B", true
		}
	}
	return "", false
}

// sample returns n of the schedules, including the first and the last; all if n is
// negative.
func sample[T any](all []T, n int) []T {
	if n < 0 || n >= len(all) {
		return all
	}
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, all[i*(len(all)-1)/max(1, n-1)])
	}
	return out
}

// play runs both operations by the schedule, then A first, and returns all choices that
// were made.
func (c InterleaveCase) play(
	t *testing.T, b *backend, plain *mongo.Client, s schedule, patience time.Duration,
) schedule {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	db := plain.Database(b.server.NewName(t))
	if c.Seed != nil {
		if err := c.Seed(ctx, db); err != nil {
			t.Fatalf("Seed: %v", err)
		}
	}
	k, disconnectBoth, err := b.newCast()
	if err != nil {
		t.Fatal(err)
	}
	defer disconnectBoth()
	d, err := k.play(ctx, &c, db.Name(), s, patience)
	defer func() {
		if t.Failed() {
			t.Logf("the order was:%s%s", d.story(), b.plans(d.released))
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	c.judge(t, db, d.actors[0].err, d.actors[1].err, d.story)
	if t.Failed() {
		t.FailNow()
	}
	return d.taken
}
