package twosided_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type change = model.ChangeOf[model.Stored[bareDoc]]

// wantStored wants documents without the fields of stores and empty lists.
func wantStored(t testing.TB, db *mongo.Database, want testkit.Docs) {
	t.Helper()
	for name := range want {
		if _, err := db.Collection(name).
			UpdateMany(t.Context(), bson.D{}, bson.D{{
				Key:   "$unset",
				Value: bson.D{{Key: "_m", Value: ""}, {Key: "kept", Value: ""}},
			}}); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"items", "peers"} {
			if _, err := db.Collection(name).
				UpdateMany(t.Context(), set(list, bson.A{}),
					bson.D{{Key: "$unset", Value: set(list, "")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	testkit.WantDocsInAnyOrder(t, db, want)
}

func set(path string, v any) bson.D { return bson.D{{Key: path, Value: v}} }

// A store's write of one side writes the other side.
func TestStoreWritesBothSides(t *testing.T) {
	testkit.Parallel(t)
	started := relation(bareItem{ID: "x", Owner: "a"}, lister("a", "y", "x"), lister("b"))
	linked := peers(peer("l", "r"), peer("r", "l"), peer("s"))
	for _, c := range []struct {
		reason        string
		before, after testkit.Docs
		change        change
		err           error
	}{
		{
			reason: "a free item",
			before: relation(bareItem{ID: "x"}, lister("a", "y"), lister("b")),
			change: wayItems.Set("x", set("owner", "a")), after: started,
		},
		{
			reason: "an item whose owner is stored as null",
			before: relation(bson.D{{Key: "_id", Value: "x"}, {Key: "owner", Value: nil}},
				lister("a", "y"), lister("b")),

			change: wayItems.Set("x", set("owner", "a")), after: started,
		},
		{reason: "from one owner to another", before: started, change: wayItems.Set("x", set("owner", "b")),
			after: relation(bareItem{ID: "x", Owner: "b"}, lister("a", "y"), lister("b", "x"))},
		{reason: "the last item taken away", before: relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x")),
			change: wayItems.Set("x", set("owner", bson.RawValue{})), after: relation(bareItem{ID: "x"}, lister("a"))},
		{
			reason: "a list takes another owner's item",
			before: relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), lister("b")),

			change: wayOwners.Set("b", set("items", []string{"x"})),
			after:  relation(bareItem{ID: "x", Owner: "b"}, lister("a"), lister("b", "x")),
		},
		{
			reason: "an owner that isn't there", before: started, change: wayItems.Set("x", set("owner", "z")),
			err: model.ErrNotFound,
		},
		{
			reason: "an item that isn't there", before: started,
			change: wayOwners.Set("b", set("items", []string{"z"})),
			err:    model.ErrNotFound,
		},
		{
			reason: "the last place",
			before: relation(bareItem{ID: "x"}, lister("b", "y")),
			change: boundedItems.Set("x", set("owner", "b")),

			after: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")),
		},
		{
			reason: "a full list",
			before: relation(bareItem{ID: "x"}, lister("b", "y", "z")),
			change: boundedItems.Set("x", set("owner", "b")), err: model.ErrFull,
		},
		{
			reason: "a list that is too long", before: relation(bareItem{ID: "x"}, lister("b")),
			change: boundedOwners.Set("b", set("items", []string{"x", "y", "z"})),
			err:    model.ErrFull,
		},
		{
			reason: "a full list that lists the item already",
			before: relation(bareItem{ID: "x"}, lister("b", "y", "x")),
			change: boundedItems.Set("x", set("owner", "b")),

			after: relation(bareItem{ID: "x", Owner: "b"}, lister("b", "y", "x")),
		},
		{
			reason: "a new pair", before: peers(peer("l"), peer("r"), peer("s")),
			change: peerLefts.Set("l", set("peers", []string{"r"})),
			after:  linked,
		},
		{
			reason: "a pair by the right side", before: peers(peer("l"), peer("r"), peer("s")),
			change: peerRights.Set("r", set("peers", []string{"l"})),
			after:  linked,
		},
		{
			reason: "half a pair is made whole",
			before: peers(peer("l"), peer("r", "l"), peer("s")),
			change: peerLefts.Set("l", set("peers", []string{"r"})),
			after:  linked,
		},
		{
			reason: "one pair for another", before: linked,
			change: peerLefts.Set("l", set("peers", []string{"s"})),
			after:  peers(peer("l", "s"), peer("r"), peer("s", "l")),
		},
		{
			reason: "a peer that isn't there", before: linked,
			change: peerLefts.Set("l", set("peers", []string{"z"})),
			err:    model.ErrNotFound,
		},
		{
			reason: "a full right",
			before: peers(peer("l", "s"), peer("r", "j", "k")),
			change: boundedLefts.Set("l", set("peers", []string{"s", "r"})),
			err:    model.ErrFull,
		},
		{
			reason: "a document and its links", before: linked, change: peerLefts.Delete("l"),
			after: testkit.Docs{"lefts": {}, "rights": {peer("r"), peer("s")}},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			eachWay(t, func(t *testing.T, db *mongo.Database, on model.DB) {
				testkit.SeedAlone(t, db, c.before)
				_, _, err := c.change.Run(t.Context(), on)
				after := c.after
				if after == nil {
					after = c.before
				}
				if !errors.Is(err, c.err) {
					t.Error(err)
				}
				wantStored(t, db, after)
			})
		})
	}
}

// eachWay runs a test outside transactions, and on a handle with transactions.
func eachWay(t *testing.T, test func(t *testing.T, db *mongo.Database, on model.DB)) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		test(t, db, db)
		if on, err := model.WithTransactions(t.Context(), db); err == nil {
			test(t, db, on)
		}
	})
}

// A meeting is a store's action on documents which checks and repairs read at the same time.
type meeting struct {
	name   string
	seed   testkit.Docs
	change func() change
	checks []model.Check
	half   bool         // the seed has a half-link, which a repair may take for what it is
	after  testkit.Docs // what the action leaves
}

// meetings are actions whose writes leave each kind of half-link for a moment, and actions on documents with a
// half-link.
func meetings() (out []meeting) {
	owned := relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), lister("b"))
	ofB := relation(bareItem{ID: "x", Owner: "b"}, lister("a"), lister("b", "x"))
	linked := peers(peer("l", "r"), peer("r", "l"), peer("s"))
	relinked := peers(peer("l", "s"), peer("r"), peer("s", "l"))
	free := relation(bareItem{ID: "x"}, lister("a"), lister("b"))
	for _, trust := range []bool{false, true} {
		way, many := trusting(trust).Checks(), trustingPeers(trust).Checks()
		add := func(
			name string, seed, after testkit.Docs, half bool, checks []model.Check, change func() change,
		) {
			name = fmt.Sprintf("%s, trust %v", name, trust)
			out = append(out, meeting{name, seed, change, checks, half, after})
		}
		toB := func() change { return wayItems.Set("x", set("owner", "b")) }
		toA := func() change { return wayItems.Set("x", set("owner", "a")) }
		add("item to another owner", owned, ofB, false, way, toB)
		add("list takes another owner's item", owned, ofB, false, way, func() change {
			return wayOwners.Set("b", set("items", []string{"x"}))
		})
		add("item freed", owned, free, false, way, func() change {
			return wayItems.Set("x", set("owner", bson.RawValue{}))
		})
		add("item deleted", owned, testkit.Docs{"owners": {lister("a"), lister("b")}, "items": {}},
			false, way, func() change {
				return wayItems.Delete("x")
			})
		add("owner deleted", owned, relation(bareItem{ID: "x"}, lister("b")), false, way, func() change {
			return wayOwners.Delete("a")
		})
		add("owner inserted", owned,
			relation(bareItem{ID: "x", Owner: "c"}, lister("a"), lister("b"), lister("c", "x")), false, way,
			func() change { return wayOwners.Insert(lister("c", "x")) })
		add("item that its owner lists", relation(bareItem{ID: "x"}, lister("a", "x"), lister("b")),
			relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), lister("b")), true, way, toA)
		add("item to an owner that doesn't list it, from one that does",
			relation(bareItem{ID: "x", Owner: "b"}, lister("a", "x"), lister("b")), // a wins
			relation(bareItem{ID: "x", Owner: "a"}, lister("a", "x"), lister("b")), true, way, toA)
		add("list with an item that names its owner",
			relation(bareItem{ID: "x", Owner: "b"}, lister("a"), lister("b")), ofB, true, way,
			func() change { return wayOwners.Set("b", set("items", []string{"x"})) })
		add("peers", linked, relinked, false, many, func() change {
			return peerLefts.Set("l", set("peers", []string{"s"}))
		})
		add("peer deleted", linked, testkit.Docs{"lefts": {}, "rights": {peer("r"), peer("s")}},
			false, many, func() change {
				return peerLefts.Delete("l")
			})
		add("peer that lists already", peers(peer("l"), peer("r"), peer("s", "l")),
			peers(peer("l", "s"), peer("r"), peer("s", "l")), true, many,
			func() change { return peerLefts.Set("l", set("peers", []string{"s"})) })
		add("peer that doesn't list any more", peers(peer("l", "r"), peer("r"), peer("s")),
			peers(peer("l"), peer("r"), peer("s")), true, many,
			func() change { return peerLefts.Set("l", set("peers", []string{})) })
	}
	return out
}

// mendOn looks for half-links and repairs them at once, as the jobs of checks do. It returns the number of writes.
func mendOn(ctx context.Context, on model.DB, checks ...model.Check) (planned int, err error) {
	for _, c := range checks {
		found, _, err := model.ChangeOf[[]model.Finding]{
			Read:   func(ctx context.Context, db model.DB) ([]model.Finding, error) { return c.All(ctx, db) },
			Decide: func(found []model.Finding) (model.Plan, error) { return c.Mend(found), nil },
		}.Run(ctx, on)
		if planned += len(found); err != nil {
			return planned, err
		}
	}
	return planned, nil
}

// A check and its repair meet a store's action in every order of their commands. The check finds nothing of the action,
// and the repair undoes nothing.
func TestRepairsMeetActions(t *testing.T) {
	testkit.Parallel(t)
	for _, tx := range []bool{false, true} {
		for _, m := range meetings() {
			t.Run(fmt.Sprintf("%s, transactions %v", m.name, tx), func(t *testing.T) {
				testkit.Parallel(t)
				for _, c := range m.checks {
					m.meet(t, tx, c)
				}
			})
		}
	}
}

var errMended = errors.New("the repair took an action for a half-link")

func (m meeting) meet(t *testing.T, tx bool, check model.Check) {
	handle := func(ctx context.Context, db *mongo.Database) (model.DB, error) {
		if !tx {
			return db, nil
		}
		return model.WithTransactions(ctx, db)
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: tx, Sample: 1, Nested: tx,
		Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, m.seed) },
		A: func(ctx context.Context, db *mongo.Database) error {
			on, err := handle(ctx, db)
			if err == nil {
				_, _, err = m.change().Run(ctx, on)
			}
			return err
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			on, err := handle(ctx, db)
			if err != nil {
				return err
			}
			planned, err := mendOn(ctx, on, check)
			if err == nil && planned > 0 && !m.half {
				err = errMended
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Fatal(err)
			}
			if !m.half {
				testkit.WantNothingFound(t, db, m.checks)
			} else if _, err := mendOn(t.Context(), db, m.checks...); err != nil {
				t.Fatal(err)
			}
			wantStored(t, db, m.after)
		},
	})
}

// A store's action is cut at each write. The check then finds nothing, the repair writes nothing, and the retry
// finishes.
func TestRepairsOfCutActions(t *testing.T) {
	testkit.Parallel(t)
	for _, m := range meetings() {
		if m.half {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			token := bson.NewObjectID()
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, m.seed) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					if planned, err := mendOn(ctx, db, m.checks...); err != nil || planned > 0 {
						return errors.Join(err, errMended)
					}
					_, _, err := m.change().Run(model.WithToken(ctx, token), db)
					if errors.Is(err, model.ErrNotFound) {
						return nil // the first run deleted it
					}
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) { testkit.WantNothingFound(t, db, m.checks) },
			})
		})
	}
}
