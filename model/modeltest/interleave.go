package modeltest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An InterleaveCase is two operations that may run at the same time.
type InterleaveCase struct {
	// Seed stores what both begin with. Nil begins with nothing.
	Seed func(ctx context.Context, db *mongo.Database) error

	// A and B are the operations. Each has a client of its own, and sends one command at a time.
	A, B func(ctx context.Context, db *mongo.Database) error

	// Check fails the test unless the database and what A and B returned are as intended. It must not call t.Run.
	Check func(t testing.TB, db *mongo.Database, errA, errB error)

	// Match says before which commands the other operation may come in. Nil means All, which is right while there are a few
	// hundred orders: the log says how many. Beyond that, begin with Writes: what an operation reads after a write it then reads
	// at once, before the other goes on. That finds what two writers do to each other, and not what a reader sees between
	// their writes.
	Match Match

	// Nested runs only the orders in which one operation runs at once, before, within or after the other: some m+n orders, for
	// operations of m and n commands. With -short it is four.
	Nested bool

	// Max is how many schedules there may be at most; more fail the test. 0 means 5000.
	Max int

	// OnServer is how many of the schedules a real server runs, evenly chosen. 0 means 6, and a negative number all.
	OnServer int

	// Transactions leaves the case out on a server without them.
	Transactions bool

	// judge takes the place of Check. The story tells what was sent, in order.
	judge func(t testing.TB, db *mongo.Database, errA, errB error, story func() string)

	// more, unless nil, is told that there are more schedules than Max, which then don't fail the test.
	more func()
}

// Interleave runs A and B together in every order that their commands can come in, each on a fresh database, and has Check
// look at every outcome. Operations of m and n commands have (m+n)!/(m!n!) orders, A wholly before B and B wholly before A
// among them; their number is found while they run, for what one does may change what the other sends. It logs how many
// there were. A failure names its order, and is the last.
//
// On the engine each order runs in a testing/synctest bubble: the same order always gives the same, and pauses take no
// time. Its clock begins with the year 2000. With -short, every choice in the first half of an order is tried, and then A goes on
// first: some tens of orders for hundreds. On a real server a share of the orders runs,
// in real time.
//
// A command that waits for a lock, as a write does for the other's transaction, lets the
// other operation go on. A command that is refused for the other's open transaction, by a
// write conflict or any error with the label TransientTransactionError, makes its
// operation wait until that transaction ends: what was refused is then tried again.
func Interleave(t *testing.T, c InterleaveCase) {
	t.Helper()
	if c.A == nil || c.B == nil || c.Check == nil {
		panic("modeltest: Interleave: the case needs A, B and Check")
	}
	c.judge = func(t testing.TB, db *mongo.Database, errA, errB error, _ func() string) { c.Check(t, db, errA, errB) }
	if c.Match == nil {
		c.Match = All
	}
	if c.Max == 0 {
		c.Max = 5000
	}
	if c.OnServer == 0 {
		c.OnServer = 6
	}
	var schedules []schedule
	whole := t
	eachBackend(t, func(t *testing.T, b *backend) {
		if c.Transactions {
			NeedTransactions(t, b.mustConnect(t).Database("admin"))
		}
		onEngine := func(s schedule) schedule { return c.playEngine(t, s) }
		if b.plain == nil {
			schedules = c.orders(t, onEngine)
			t.Logf("%d schedules", len(schedules))
			return
		}
		if whole.Failed() {
			return
		}
		if len(schedules) == 0 { // the engine's subtest was not asked for
			schedules = c.orders(t, onEngine)
		}
		chosen := sample(schedules, c.OnServer)
		for _, s := range chosen {
			c.play(t, b, s, serverPatience)
		}
		t.Logf("%d of %d schedules", len(chosen), len(schedules))
	})
}

// The patience is how long an operation may take to its next command before it is held to wait for the other.
const (
	enginePatience = 5 * time.Second // of the bubble's clock
	serverPatience = 250 * time.Millisecond
)

// orders has the schedules played and returns them: those of Nested, or all, depth first.
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
			t.Fatalf("more than %d schedules\n\tremedy: set Match: modeltest.Writes, or Max", c.Max)
		}
		out = append(out, play(next))
	}
	return out
}

// nestedOrders has the schedules played in which an operation that has begun goes on to its end, but for one moment.
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
		t.Fatalf("more than %d schedules", c.Max)
	}
	return out
}

// playEngine plays a schedule on an engine of its own.
func (c InterleaveCase) playEngine(t *testing.T, s schedule) (taken schedule) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := newEngine()
		cleanUp(t, stop)
		taken = c.play(t, b, s, enginePatience)
	})
	return taken
}

// A schedule says for each moment in which both operations could go on which one did, as "A" or "B".
type schedule string

// following is next, of the schedule's first half alone with -short.
func (s schedule) following() (schedule, bool) {
	if testing.Short() {
		s = s[:(len(s)+1)/2]
	}
	return s.next()
}

// next returns the first choices of the schedule that follows, all further choices being A.
func (s schedule) next() (schedule, bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == 'A' {
			return s[:i] + "B", true
		}
	}
	return "", false
}

// sample returns n of the schedules, the first and the last among them; all if n is negative.
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

// play runs both operations by the schedule, A wherever it says nothing, and returns all choices that were made.
func (c InterleaveCase) play(t *testing.T, b *backend, s schedule, patience time.Duration) schedule {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	plain, disconnect, err := b.connect(newConfig(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect()
	db := plain.Database(b.newName(t))
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
