package modeltest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A FaultCase gives [FaultMatrix] an operation that must survive a crash at any write.
type FaultCase struct {
	// Seed stores the initial documents.
	Seed func(ctx context.Context, db *mongo.Database) error

	// Run is the operation. Run must always send the same writes, one at a time. After a
	// fault, FaultMatrix calls Run again. The second call must not use variables that the
	// first call set.
	Run func(ctx context.Context, db *mongo.Database) error

	// After the first call of Run, FaultMatrix calls Repair instead. Nil means Run.
	Repair func(ctx context.Context, db *mongo.Database) error

	// Check fails the test if the database isn't as intended. Check must only read.
	Check func(t testing.TB, db *mongo.Database)

	// Ignore maps a path ("collection.field" or "collection.*") to the reason why a run
	// that changes nothing else may change the path. Give paths of times and random ids.
	Ignore map[string]string

	// Match selects the commands that get faults. Nil means [mongotest.Writes].
	Match mongotest.Match

	// With go test -short or MONGODB_URI, only Sample faults are tested. 0 means 3. A
	// negative number means all.
	Sample int

	// Transactions skips the case on a server without transactions.
	Transactions bool

	// Standalone runs the case without transactions ([mongotest.Settings]). A run on a
	// real server skips the case.
	Standalone bool
}

// FaultMatrix tests that an operation survives a fault at each of its writes:
//
//   - fail: the server refuses the write
//   - fail-inside: the server does a part of the write, then fails
//   - cut-before, cut-inside, cut-after: the process dies before, within or after the
//     write
//
// The test requires:
//
//   - If FaultCase.Run returns nil, FaultCase.Check passes.
//   - After a fault, a second Run returns nil, and Check passes.
//   - One more Run changes nothing, except a [model.Lease]'s counter and the paths of
//     FaultCase.Ignore.
//
// If MONGODB_URI is set, the test also uses that server: see FaultCase.Sample.
func FaultMatrix(t *testing.T, c FaultCase) {
	t.Helper()
	if c.Run == nil || c.Check == nil {
		panic("modeltest: FaultMatrix: the case needs Run and Check")
	}
	if c.Transactions && c.Standalone {
		panic("modeltest: FaultMatrix: the case has both Transactions and Standalone\n\tremedy: use two cases")
	}
	if c.Match == nil {
		c.Match = mongotest.Writes
	}
	if c.Repair == nil {
		c.Repair = c.Run
	}
	if c.Sample == 0 {
		c.Sample = 3
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		b.need(t, c.Transactions, c.Standalone)
		writes := c.clean(t, b)
		if t.Failed() {
			return // every row would fail too
		}
		all := faultRows(writes)
		rows := all
		if os.Getenv(mongotest.EnvURI) != "" || testing.Short() {
			rows = sample(all, c.Sample)
		}
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) { c.row(t, b, row) })
		}
		if b.plain != nil {
			leaveOut(t, all, rows)
		}
		t.Logf("%d rows: %d commands, cut in %d ways", len(rows), len(writes), len(all))
	})
}

// leaveOut skips rows that a server doesn't run, by name, so that they can be counted.
func leaveOut(t *testing.T, all, run []faultRow) {
	for _, row := range all {
		if !slices.ContainsFunc(run, func(r faultRow) bool { return r.name == row.name }) {
			t.Run(row.name, func(t *testing.T) { t.Skip(testserver.Lacks + "time for every row of a fault matrix") })
		}
	}
}

// A faultRow is one way in which one write fails.
type faultRow struct {
	name   string
	n      int // which write
	action mongotest.Action
	dies   bool
}

func faultRows(writes []mongotest.Command) []faultRow {
	var rows []faultRow
	for i, w := range writes {
		add := func(way string, a mongotest.Action, dies bool) {
			rows = append(rows, faultRow{fmt.Sprintf("%d-%s-%s", i+1, w.Name, way), i + 1, a, dies})
		}
		add("fail", mongotest.Fail(96), false) // OperationFailed
		add("cut-before", mongotest.CutBefore(), true)
		for _, n := range parts(w) {
			add(fmt.Sprintf("fail-inside-%d", n), mongotest.FailInside(n, 11601), false) // Interrupted
			add(fmt.Sprintf("cut-inside-%d", n), mongotest.CutInside(n), true)
		}
		add("cut-after", mongotest.CutAfter(), true)
	}
	return rows
}

// parts returns after how many parts a write is cut.
func parts(w mongotest.Command) []int {
	if testserver.IsInTransaction(w.Body) {
		return nil
	}
	n := len(testserver.Statements(w.Name, w.Body))
	switch {
	case n > 1:
		return slices.Compact([]int{1, max(1, n/2), n - 1})
	case testserver.IsMany(w.Name, w.Body):
		return []int{1}
	}
	return nil
}

const rowTimeout = time.Minute

// start returns the seeded database of a row.
func (c FaultCase) start(t *testing.T, b *backend) (context.Context, *backend, *mongo.Database) {
	t.Helper()
	client := b.plain
	if client == nil { // a new engine for every row
		b, client = newEngine(t, c.Standalone)
	}
	ctx, cancel := context.WithTimeout(context.Background(), rowTimeout)
	t.Cleanup(cancel)
	db := client.Database(b.server.NewName(t))
	if c.Seed != nil {
		if err := c.Seed(ctx, db); err != nil {
			t.Fatalf("Seed: %v", err)
		}
	}
	return ctx, b, db
}

// clean runs the operation without a fault and returns its writes.
func (c FaultCase) clean(t *testing.T, b *backend) []mongotest.Command {
	ctx, b, db := c.start(t, b)
	f := mongotest.NewFaults()
	if err := c.Run(ctx, b.mustConnect(t, f).Database(db.Name())); err != nil {
		t.Fatalf("Run without a fault: %v%s", err, listCommands(f.Commands()))
	}
	writes := slices.DeleteFunc(lastAttempts(f.Commands()), func(x mongotest.Command) bool { return !c.Match(x) })
	if len(writes) == 0 {
		t.Fatalf("Run sent nothing that could be cut%s", listCommands(f.Commands()))
	}
	c.Check(t, db)
	c.unchanged(ctx, t, b, db)
	return writes
}

func (c FaultCase) row(t *testing.T, b *backend, row faultRow) {
	ctx, b, db := c.start(t, b)
	f := mongotest.NewFaults()
	err := c.runCut(ctx, t, b, db, f, row)
	defer func() {
		if t.Failed() {
			t.Logf("the first run:%s%s", listCommands(f.Commands()), b.plans(f.Commands()))
		}
	}()
	if err == nil {
		c.Check(t, db)
		if t.Failed() {
			t.Fatal("the first Run returned nil in spite of the fault, and the state was not as intended")
		}
	}
	if again := c.Repair(ctx, db); again != nil {
		t.Fatalf("the second run failed: %v\nthe first one's error: %v", again, err)
	}
	c.Check(t, db)
	c.unchanged(ctx, t, b, db)
}

// runCut runs the operation in a process that meets the fault.
func (c FaultCase) runCut(
	ctx context.Context, t *testing.T, b *backend, db *mongo.Database, f *mongotest.Faults, row faultRow,
) error {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(b.server.URI()).SetDialer(f.Dialer(b.server.Dialer())).
		SetRetryWrites(false).SetRetryReads(false).SetServerSelectionTimeout(200 * time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	for client.Ping(ctx, nil) != nil { // a busy machine may exceed the selection's timeout
		if ctx.Err() != nil {
			t.Fatal("the backend doesn't answer")
		}
	}
	process, die := context.WithCancel(ctx)
	defer die()
	fired := make(chan struct{}, 1)
	f.Reset()
	f.On(c.Match, row.n, func(x testserver.Exchange) error {
		fired <- struct{}{}
		err := row.action(x)
		if row.dies {
			x.Kill()
			die()
		}
		return err
	})
	err = c.Run(process, client.Database(db.Name()))
	die()
	_ = client.Disconnect(process) // returns at once, since the context is cancelled
	if len(fired) == 0 {
		t.Fatalf("write %d never came; Run must send the same writes each time: %v%s", row.n, err, listCommands(f.Commands()))
	}
	endTransactions(ctx, t, db, f)
	return err
}

// endTransactions makes the server abort the transactions of a dead process.
func endTransactions(ctx context.Context, t *testing.T, db *mongo.Database, f *mongotest.Faults) {
	t.Helper()
	var sessions []bson.RawValue
	for _, x := range f.Commands() {
		if starts, _ := x.Body.Lookup("startTransaction").BooleanOK(); !starts {
			continue
		}
		if id, err := x.Body.LookupErr("lsid"); err == nil {
			sessions = append(sessions, id)
		}
	}
	if len(sessions) == 0 {
		return
	}
	command := bson.D{{Key: "killSessions", Value: sessions}}
	if err := db.Client().Database("admin").RunCommand(ctx, command).Err(); err != nil {
		t.Fatalf("end the dead process's transactions: %v", err)
	}
}

// unchanged runs the operation once more and compares the database.
func (c FaultCase) unchanged(ctx context.Context, t *testing.T, b *backend, db *mongo.Database) {
	t.Helper()
	before, err := mongotest.Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	f := mongotest.NewFaults()
	if err := c.Repair(ctx, b.mustConnect(t, f).Database(db.Name())); err != nil {
		t.Fatalf("running it once more failed: %v", err)
	}
	after, err := mongotest.Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if before == after {
		return
	}
	locks := locksTaken(f.Commands())
	if before, err = withoutIgnored(before, locks, c.Ignore); err == nil {
		after, err = withoutIgnored(after, locks, c.Ignore)
	}
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("running it once more changed the database (-before +after):\n%s\nthe last run:%s%s",
			cmp.Diff(before, after),
			listCommands(f.Commands()), b.plans(f.Commands()))
	}
}
