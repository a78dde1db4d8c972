package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/internal/engine"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A way is how a program uses the library.
type way struct {
	name           string
	tx, underScope bool
}

var ways = []way{{name: "plain"}, {name: "transactions", tx: true}, {"scope", false, true}, {"scope and transactions", true, true}}

// scope is a tenant's, which marks what it deletes.
var scope = model.Scope{
	Tenant: bson.D{{Key: "tenant", Value: "ours"}},
	Set:    bson.D{{Key: "changedAt", Value: int64(7)}},
	Delete: bson.D{{Key: "deletedAt", Value: int64(7)}},
}

// on is the database as operations are handed it.
func (w way) on(ctx context.Context, m *model.Model, db *mongo.Database) (out model.DB, err error) {
	out = db
	if w.underScope {
		out = scope.On(m.On(out))
	}
	if w.tx {
		out, err = model.WithTransactions(ctx, out)
	}
	return out, err
}

// A pair is two techniques in one way, and what is stored before their operations.
type pair struct {
	a, b     *fixture
	opsA     []operation
	opsB     []operation
	model    *model.Model
	way      way
	volatile []string
	before   map[string][]any // by collection, in the order of _id
	theirs   string           // the other tenant's documents

	prepared bool
	ofOne    map[string]outcome // of operations that run alone
}

// An outcome is what one run of two operations left.
type outcome struct {
	errA, errB error
	found      []string // what the checks find
	left       []string // what they find after the audit's job
	state      string   // the documents then, less what is volatile
	theirs     string
}

// seed stores what the pair begins with.
func (p *pair) seed(ctx context.Context, db *mongo.Database) error {
	on, err := p.way.on(ctx, p.model, db)
	if err != nil {
		return err
	}
	if err := p.model.Indexes().Ensure(ctx, on); err != nil {
		return err
	}
	return store(ctx, db, p.before)
}

// prepare derives what the techniques keep from the seeded documents: that is left to the audit.
func (p *pair) prepare(t *testing.T) (err error) {
	if p.prepared {
		return nil
	}
	p.before, p.prepared, p.ofOne = seeded(), true, map[string]outcome{}
	bubble(t, func(ctx context.Context, client *mongo.Client) {
		db := client.Database("prepare")
		if err = p.derive(ctx, db); err != nil {
			return
		}
		p.before, err = stored(ctx, db, "docmodel.locks") // by which a tree knows that it was adopted
		if err == nil && p.way.underScope {
			addTheirs(p.before)
		}
	})
	if err != nil || !p.way.underScope {
		return err
	}
	bubble(t, func(ctx context.Context, client *mongo.Client) {
		db := client.Database("theirs")
		if err = p.seed(ctx, db); err == nil {
			_, p.theirs, err = p.dump(ctx, db)
		}
	})
	return err
}

func (p *pair) derive(ctx context.Context, db *mongo.Database) error {
	if p.way.underScope {
		for name, list := range p.before {
			for i := range list {
				list[i] = owned(list[i])
			}
			p.before[name] = list
		}
	}
	if err := store(ctx, db, p.before); err != nil { // before there are unique indexes of what is derived
		return fmt.Errorf("seed: %w", err)
	}
	on, err := p.way.on(ctx, p.model, db)
	if err != nil {
		return err
	}
	left, err := p.mend(ctx, on)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("before any operation the checks find: %s", strings.Join(left, "; "))
	}
	return err
}

// mend runs the audit's job, and returns what the checks find then.
func (p *pair) mend(ctx context.Context, on model.DB) ([]string, error) {
	audit := p.model.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = 0 // nothing is under way
	}
	job := audit.Job()
	if len(job.Stages) == 0 { // no check can mend
		return p.audit(ctx, on)
	}
	for range 2 { // mending for one check may break the rule of an earlier one
		var left *model.LeftError
		if _, err := job.Run(ctx, on, model.JobOptions{}); err != nil && !errors.As(err, &left) {
			return nil, fmt.Errorf("mending: %w", err)
		}
	}
	return p.audit(ctx, on)
}

// audit is what the checks of both find.
func (p *pair) audit(ctx context.Context, on model.DB) (found []string, _ error) {
	for f, err := range p.model.Audit().Each(ctx, on) {
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		found = append(found, f.Technique+": "+f.String())
	}
	return found, nil
}

// settle is the outcome that operations have left.
func (p *pair) settle(ctx context.Context, db *mongo.Database, errA, errB error) (o outcome, err error) {
	o.errA, o.errB = errA, errB
	on, err := p.way.on(ctx, p.model, db)
	if err != nil {
		return o, err
	}
	if o.found, err = p.audit(ctx, on); err != nil {
		return o, err
	}
	if len(o.found) > 0 {
		if o.left, err = p.mend(ctx, on); err != nil {
			return o, err
		}
	}
	o.state, o.theirs, err = p.dump(ctx, db)
	return o, err
}

// dump returns the documents in text: ours without what is volatile, and of those marked as deleted the _id alone; the other tenant's as
// they are.
func (p *pair) dump(ctx context.Context, db *mongo.Database) (ours, theirs string, err error) {
	all, err := stored(ctx, db)
	if err != nil {
		return "", "", err
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var b, other strings.Builder
	for _, name := range names {
		if slices.Contains(p.volatile, name+".*") {
			continue
		}
		for _, doc := range all[name] {
			raw := doc.(bson.Raw)
			to := &b
			if v, ok := raw.Lookup("tenant").StringValueOK(); ok && v == "theirs" {
				to = &other
			} else if deleted := raw.Lookup(scope.Delete[0].Key); p.way.underScope && !deleted.IsZero() && deleted.Type != bson.TypeNull {
				fmt.Fprintf(&b, "%s %s was deleted\n", name, raw.Lookup("_id"))
				continue
			} else if raw, err = without(raw, name, p.volatile); err != nil {
				return "", "", err
			}
			fmt.Fprintf(to, "%s %s\n", name, raw)
		}
	}
	return b.String(), other.String(), nil
}

// serial runs operations one after the other, each pair of them on a database of its own.
func (p *pair) serial(t *testing.T, orders ...[2]*operation) (out []outcome, err error) {
	bubble(t, func(ctx context.Context, client *mongo.Client) {
		for i, order := range orders {
			db := client.Database(fmt.Sprint("serial", i))
			if err = p.seed(ctx, db); err != nil {
				return
			}
			var on model.DB
			if on, err = p.way.on(ctx, p.model, db); err != nil {
				return
			}
			var errs [2]error
			for j, op := range order {
				if op != nil {
					errs[j] = op.run(ctx, on)
				}
			}
			var o outcome
			if o, err = p.settle(ctx, db, errs[0], errs[1]); err != nil {
				return
			}
			out = append(out, o)
		}
	})
	return out, err
}

// alone runs one operation of a side, or none.
func (p *pair) alone(t *testing.T, op *operation, side string) (outcome, error) {
	key := "none"
	if op != nil {
		key = side + " " + op.name
	}
	if o, is := p.ofOne[key]; is {
		return o, nil
	}
	list, err := p.serial(t, [2]*operation{op})
	if err != nil {
		return outcome{}, err
	}
	p.ofOne[key] = list[0]
	return list[0], nil
}

// interleaved runs two operations at the same time.
func (p *pair) interleaved(t *testing.T, a, b operation, c modeltest.InterleaveCase) (out []outcome) {
	as := func(op operation) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			on, err := p.way.on(ctx, p.model, db)
			if err != nil {
				return err
			}
			return op.run(ctx, on)
		}
	}
	c.Seed, c.A, c.B, c.OnServer = p.seed, as(a), as(b), 1
	c.Check = func(t testing.TB, db *mongo.Database, errA, errB error) {
		o, err := p.settle(context.Background(), db, errA, errB)
		if err != nil {
			t.Error(err)
		}
		out = append(out, o)
	}
	modeltest.Interleave(t, c)
	return out
}

// bubble runs f with an engine of its own, on a clock of its own.
func bubble(t *testing.T, f func(ctx context.Context, client *mongo.Client)) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		defer e.Close()
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/?heartbeatFrequencyMS=3600000").SetDialer(e))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		defer client.Disconnect(ctx)
		f(ctx, client)
	})
}

// stored are the raw documents of all collections, but for what the library keeps for itself beside some of them.
func stored(ctx context.Context, db *mongo.Database, kept ...string) (map[string][]any, error) {
	names, err := db.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return nil, err
	}
	out := map[string][]any{}
	for _, name := range names {
		if strings.HasPrefix(name, "docmodel.") && !slices.Contains(kept, name) {
			continue
		}
		cur, err := db.Collection(name).Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			return nil, err
		}
		var docs []bson.Raw
		if err := cur.All(ctx, &docs); err != nil {
			return nil, err
		}
		for _, d := range docs {
			out[name] = append(out[name], bson.Raw(bytes.Clone(d)))
		}
	}
	return out, nil
}
