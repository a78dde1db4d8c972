package modeltest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestVerifyFinds runs wrong operations in another process and reads what is said of them.
func TestVerifyFinds(t *testing.T) {
	tests := []struct {
		name, reason string
		wants        []string
	}{
		{
			name: "index", reason: "a read by a field without an index",
			wants: []string{
				"by name indexes, plain: {find: 'gates'", "the collection is scanned (COLLSCAN)", "an index serves 0 of 4 commands",
			},
		},
		{"cut", "two plain writes without a mark", []string{
			"pass cut, plain: 1-update-cut-after: after running it again (<nil>) the documents are not as after an undisturbed run",
			`gates 'n': in: want int32 1, got int32 2`, "The first run returned", "gates.update",
		}},
		{"lost", "a read, then a $set of what it says", []string{
			"enter and enter too, plain: the documents aren't as after enter and then enter too:",
			"nor as after enter too and then enter:", `gates 'n': in: want int32 2, got int32 1`,
			"The order was (A is enter, B is enter too):", "B gates.update", "times more",
		}},
		{"tenant", "a collection that is opened past the scope", []string{
			"close alone, scope 1: the other tenant's documents changed",
			`gates 'n~': closed: want boolean false, got boolean true`,
			"close alone, scope 1: a command doesn't ask for the tenant {ranch: 'ours'}: gates.update",
			"close alone, scope 1 with transactions",
		}},
		{
			name: "peek", reason: "a read past the scope, which changes nothing",
			wants: []string{"peek alone, scope 1: a command doesn't ask for the tenant {ranch: 'ours'}: gates.find"},
		},
		{"error", "an error that tells a caller nothing, beside another operation", []string{
			"open and close, plain: close and then open: open returned an error that is none of Refused: it is closed (*errors.errorString)", "The order was",
		}},
		{
			name: "alone", reason: "an error that is no answer",
			wants: []string{"open alone, plain: it returned it is closed (*errors.errorString)"},
		},
		{
			name: "half", reason: "a count that nobody counts",
			wants: []string{
				"buy alone, plain: the checks find:",
				"counter.Counter: stables 'n': stores {horses: Long('0')}, but its children make {horses: 1}",
			},
		},
		{
			name: "swallow", reason: "success although a write was lost",
			wants: []string{"close cut, plain: 1-update-fail: it returned nil in spite of the fault"},
		},
		{"write", "a read that writes", []string{"close alone, plain: a read has written"}},
		{"stray", "a collection that the model doesn't have", []string{"stray alone, plain: it returned docmodel: ", "feed"}},
		{"bulk", "a write of several that no index serves, in a transaction", []string{
			"rename indexes, plain with transactions: {update: 'gates', updates: [{q: {name: 'North'}",
			"the collection is scanned (COLLSCAN)",
		}},
		{"unique", "a unique index that the tenant doesn't lead", []string{
			"scope 1: what was seeded, with another tenant's equal documents beside, can't be stored: documents of gates: ",
			"E11000",
		}},
		{
			name: "seed", reason: "what no job can make right",
			wants: []string{"plain: after Seed, and the audit's job, the checks find:", "horses 'stray'"},
		},
		{
			name: "stores", reason: "a rule of a store that forgets updates",
			wants: []string{"pages set alone, plain: the checks find:", "has another slug", "pages.findAndModify"},
		},
		{"except", "an exception that finds nothing", []string{`Except names "close cut", which finds nothing wrong`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestBrokenModel$")
			cmd.Env = append(os.Environ(), "DOCMODEL_BROKEN_MODEL="+tt.name, mongotest.EnvURI+"=", "DOCMODEL_TENANT=")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("%s: it passed:\n%s", tt.reason, out)
			}
			for _, want := range tt.wants {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s: want a failure with %q, got %v:\n%s", tt.reason, want, err, out)
				}
			}
		})
	}
}

// What is excepted, with a reason, is logged and doesn't fail.
func TestVerifyExcept(t *testing.T) {
	c := wrong("cut")
	c.Except = map[string]string{"pass cut": "who passes may be counted twice"}
	modeltest.Verify(t, wrongOnes, c)
}

// An operation under a lease that a dead process holds waits until its time has passed. The fence of its lock document,
// which each run counts up, is not compared.
func TestVerifyLease(t *testing.T) {
	c := wrong("lease")
	c.Operations = []modeltest.VerifyOperation{{Name: "close", Refused: []error{errClosed}, Run: closeOnce}}
	modeltest.Verify(t, wrongOnes, c)
}

// What needs no index of its own: how many documents there are, the first of all, a collection that isn't there; and
// what changes nothing when it is run again.
func TestVerifyServed(t *testing.T) {
	tenancy.Differs(t, "all documents of a tenant need an index that the tenant leads")
	c := wrong("served")
	c.Scopes = nil // the driver's own calls know no tenant
	collection := func(db model.DB, name string) *mongo.Collection {
		return db.Client().Database(db.Name()).Collection(name)
	}
	c.Reads = []modeltest.VerifyOperation{
		{Name: "count", Run: func(ctx context.Context, db model.DB) error {
			_, err := collection(db, "gates").EstimatedDocumentCount(ctx)
			return err
		}},
		{Name: "first", Run: func(ctx context.Context, db model.DB) error {
			_, err := gates.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).Limited(3).All(ctx, db)
			return err
		}},
		{Name: "nowhere", Run: func(ctx context.Context, db model.DB) error {
			_, err := collection(db, "nowhere").Find(ctx, bson.D{{Key: "x", Value: 1}})
			return err
		}},
	}
	c.Operations = []modeltest.VerifyOperation{{Name: "merge", Run: func(ctx context.Context, db model.DB) error {
		_, err := collection(db, "gates").Aggregate(ctx, mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: "n"}}}},
			{{Key: "$set", Value: bson.D{{Key: "in", Value: int32(7)}}}},
			{{Key: "$merge", Value: "gates"}},
		})
		return err
	}}}
	modeltest.Verify(t, wrongOnes, c)
}

// A case without operations, or whose operations can't be told apart, is the caller's mistake.
func TestVerifyRefuses(t *testing.T) {
	run := func(context.Context, model.DB) error { return nil }
	twice := modeltest.VerifyOperation{Name: "twice", Run: run}
	for name, c := range map[string]modeltest.VerifyCase{
		"nothing":   {},
		"few docs":  {Docs: map[string][]any{"gates": {gate{ID: "n"}}}},
		"no name":   {Operations: []modeltest.VerifyOperation{{Run: run}}},
		"no run":    {Reads: []modeltest.VerifyOperation{{Name: "x"}}},
		"two names": {Operations: []modeltest.VerifyOperation{twice}, Reads: []modeltest.VerifyOperation{twice}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "modeltest: Verify: ") {
					t.Errorf("%q", s)
				}
			}()
			modeltest.Verify(t, wrongOnes, c)
		})
	}
}

// TestBrokenModel does nothing unless TestVerifyFinds starts it.
func TestBrokenModel(t *testing.T) {
	switch name := os.Getenv("DOCMODEL_BROKEN_MODEL"); name {
	case "":
	case "stores":
		modeltest.Verify(t, forgetful, modeltest.VerifyCase{})
	default:
		modeltest.Verify(t, wrongOnes, wrong(name))
	}
}

// A gate is what the wrong operations write.
type gate struct {
	ID     string `bson:"_id"`
	Name   string `bson:"name"`
	In     int32  `bson:"in"`
	Out    int32  `bson:"out"`
	Closed bool   `bson:"closed"`
}

var (
	gates     = model.NewCollection[gate, string]("gates")
	wrongOnes = model.New("wrong", numbers, doors, model.Entity(gates))
)

// wrong is a case whose operations, or reads, are wrong.
func wrong(name string) modeltest.VerifyCase {
	c := modeltest.VerifyCase{
		Max:    10,
		Scopes: []model.Scope{{Tenant: bson.D{{Key: "ranch", Value: "ours"}}}},
		Seed: func(ctx context.Context, db model.DB) error {
			_, err := model.NewPlan(stables.Insert(stable{ID: "n", Name: "North"}),
				gates.Insert(gate{ID: "n", Name: "North"})).Run(ctx, db)
			return err
		},
	}
	op := func(name string, run func(ctx context.Context, db model.DB) error) modeltest.VerifyOperation {
		return modeltest.VerifyOperation{Name: name, Run: run}
	}
	switch name {
	case "index":
		c.Reads = []modeltest.VerifyOperation{op("by name", byName)}
	case "cut":
		c.Operations = []modeltest.VerifyOperation{op("pass", pass)}
	case "lost":
		c.Operations = []modeltest.VerifyOperation{op("enter", enter), op("enter too", enter)}
	case "tenant":
		c.Operations = []modeltest.VerifyOperation{op("close", closeAll)}
	case "peek":
		c.Reads = []modeltest.VerifyOperation{op("peek", peek)}
	case "error":
		c.Operations = []modeltest.VerifyOperation{op("open", open), op("close", closeGate)}
	case "alone":
		c.Operations = []modeltest.VerifyOperation{op("open", func(context.Context, model.DB) error { return errClosed })}
	case "half":
		c.Operations = []modeltest.VerifyOperation{op("buy", buy)}
	case "swallow":
		c.Operations = []modeltest.VerifyOperation{
			op("close", func(ctx context.Context, db model.DB) error { _ = closeGate(ctx, db); return nil }),
		}
	case "write":
		c.Reads = []modeltest.VerifyOperation{op("close", closeGate)}
	case "stray":
		c.Operations = []modeltest.VerifyOperation{op("stray", stray)}
	case "bulk":
		c.Operations = []modeltest.VerifyOperation{op("rename", renameGates)}
	case "unique":
		seed := c.Seed
		c.Seed = func(ctx context.Context, db model.DB) error {
			keys := mongo.IndexModel{Keys: bson.D{{Key: "name", Value: 1}}, Options: options.Index().SetUnique(true)}
			_, err := db.Client().Database(db.Name()).Collection("gates").Indexes().CreateOne(ctx, keys)
			return errors.Join(err, seed(ctx, db))
		}
		c.Operations = []modeltest.VerifyOperation{op("close", closeGate)}
	case "seed":
		c.Seed = func(ctx context.Context, db model.DB) error {
			_, err := model.NewPlan(plainly(horses.Insert(horse{ID: "stray", Stable: "none"}))).Run(ctx, db)
			return err
		}
		c.Operations = []modeltest.VerifyOperation{op("close", closeGate)}
	case "except":
		c.Operations = []modeltest.VerifyOperation{op("close", closeGate)}
		c.Except = map[string]string{"close cut": "it was wrong once"}
	}
	return c
}

var errClosed = errors.New("it is closed")

func update(ctx context.Context, db model.DB, operator, field string, value any) error {
	_, err := model.NewPlan(gates.Update("n", bson.D{{
		Key: operator, Value: bson.D{{Key: field, Value: value}},
	}})).Run(ctx, db)
	return err
}

func closeGate(ctx context.Context, db model.DB) error {
	return update(ctx, db, "$set", "closed", true)
}

func byName(ctx context.Context, db model.DB) error {
	_, err := gates.Find(bson.D{{Key: "name", Value: "North"}}).All(ctx, db)
	return err
}

// pass counts twice what is run again.
func pass(ctx context.Context, db model.DB) error {
	return errors.Join(update(ctx, db, "$inc", "in", int32(1)), update(ctx, db, "$inc", "out", int32(1)))
}

// enter overwrites what another one has counted meanwhile.
func enter(ctx context.Context, db model.DB) error {
	g, err := gates.ByID("n").One(ctx, db)
	if err != nil {
		return err
	}
	return update(ctx, db, "$set", "in", g.In+1)
}

func closeAll(ctx context.Context, db model.DB) error {
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "closed", Value: true}}}}
	_, err := db.Client().Database(db.Name()).Collection("gates").UpdateMany(ctx, bson.D{}, set)
	return err
}

func peek(ctx context.Context, db model.DB) error {
	return db.Client().Database(db.Name()).Collection("gates").FindOne(ctx, bson.D{{Key: "_id", Value: "n"}}).Err()
}

// renameGates renames by a field without an index, in a plan of two collections.
func renameGates(ctx context.Context, db model.DB) error {
	byName := mongo.NewUpdateManyModel().SetFilter(bson.D{{Key: "name", Value: "North"}}).
		SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "Nord"}}}})
	_, err := model.NewPlan(
		gates.Update("n", bson.D{{Key: "$set", Value: bson.D{{Key: "closed", Value: true}}}}),
		plainly(stables.Update("n", bson.D{{Key: "$set", Value: bson.D{{Key: "version", Value: int64(0)}}}})),
		model.Write{Collection: "gates", Model: byName},
	).Run(ctx, db)
	return err
}

// closeOnce closes under a lease what is open.
func closeOnce(ctx context.Context, db model.DB) error {
	_, _, err := model.ChangeOf[gate]{
		Lease: &model.Lease{Collection: "locks", ID: "gates", For: 2 * time.Second},
		Read:  func(ctx context.Context, db model.DB) (gate, error) { return gates.ByID("n").One(ctx, db) },
		Decide: func(g gate) (model.Plan, error) {
			if g.Closed {
				return model.Plan{}, errClosed
			}
			return model.NewPlan(gates.Update("n", bson.D{{Key: "$set", Value: bson.D{{Key: "closed", Value: true}}}})), nil
		},
	}.Run(ctx, db)
	return err
}

// open works while nobody has closed.
func open(ctx context.Context, db model.DB) error {
	g, err := gates.ByID("n").One(ctx, db)
	if err == nil && g.Closed {
		err = errClosed
	}
	return err
}

// plainly returns a write that passes by the techniques.
func plainly(w model.Write) model.Write { return model.Write{Collection: w.Collection, Model: w.Model} }

// buy stores a horse that nobody counts.
func buy(ctx context.Context, db model.DB) error {
	_, err := model.NewPlan(plainly(horses.Insert(horse{ID: "bay", Stable: "n", Door: "North"}))).Run(ctx, db)
	return err
}

func stray(ctx context.Context, db model.DB) error {
	_, err := model.NewPlan(model.NewCollection[gate, string]("feed").Insert(gate{ID: "n"})).Run(ctx, db)
	return err
}
