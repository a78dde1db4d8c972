package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The migrations are tested over documents of any form: parents p list or embed, children c are listed or extracted.
var (
	anyParents  = model.NewCollection[bson.D, string]("p")
	anyChildren = model.NewCollection[bson.D, int]("c")
)

// stored is the content of a database: collections to documents in extended JSON.
type stored map[string][]string

func (s stored) insert(ctx context.Context, db *mongo.Database) error {
	for name, docs := range s {
		for _, text := range docs {
			if _, err := db.Collection(name).InsertOne(ctx, parseDoc(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func parseDoc(text string) bson.D {
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		panic(text + ": " + err.Error())
	}
	return d
}

// want fails the test unless each collection holds just the documents, in the order of _id.
func (s stored) want(t testing.TB, db *mongo.Database) {
	t.Helper()
	for name, docs := range s {
		want := make([]string, len(docs))
		for i, text := range docs {
			want[i] = inOrder(parseDoc(text))
		}
		got := contents(t, db, name)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s holds\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// contents are a collection's documents in the order of _id.
func contents(t testing.TB, db *mongo.Database, name string) []string {
	t.Helper()
	cur, err := db.Collection(name).Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.D
	if err := cur.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = inOrder(d)
	}
	return out
}

// inOrder is a document with its fields in the order of their names: servers differ in where they put a new one.
func inOrder(d bson.D) string {
	slices.SortStableFunc(d, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return model.Shell(d)
}

// mismatches are those of a Verify, in words and in order.
func mismatches(t testing.TB, db *mongo.Database, m *migrate.Migration) []string {
	t.Helper()
	all, err := m.Verify().All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return inWords(all)
}

// inWords are mismatches with their kind first: "missing: p 'a': [3]".
func inWords(all []model.Finding) []string {
	out := make([]string, len(all))
	for i, f := range all {
		kind, rest, _ := strings.Cut(f.Problem, ": ")
		out[i] = fmt.Sprintf("%s: %s %s: %s", kind, f.Collection, model.Shell(f.ID), rest)
	}
	slices.Sort(out)
	return out
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

func wantLines(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// mustPass runs a job that must leave nothing.
func mustPass(t testing.TB, db *mongo.Database, p model.Job, size ...int) model.Progress {
	t.Helper()
	passed, err := p.Run(t.Context(), db, model.JobOptions{BatchSize: sum(size)})
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return passed
}

func update(t testing.TB, db *mongo.Database, collection string, id any, doc string) {
	t.Helper()
	if _, err := db.Collection(collection).UpdateOne(
		context.Background(), bson.D{{Key: "_id", Value: id}}, parseDoc(doc),
	); err != nil {
		t.Error(err)
	}
}

// migrated runs the phases one after the other, as a job that is started again after a crash would.
func runPhases(m *migrate.Migration, size int) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		o := model.JobOptions{BatchSize: size}
		if _, err := m.Copy().Run(ctx, db, o); err != nil && !errors.Is(err, migrate.ErrDropping) {
			return err
		}
		rows, err := m.Verify().All(ctx, db)
		if err != nil || len(rows) > 0 {
			return fmt.Errorf("verify: %v, %w", inWords(rows), err)
		}
		_, err = m.Drop().Run(ctx, db, o)
		return err
	}
}

// beginDrop records what a Drop does that is stopped before it drops anything.
func beginDrop(t *testing.T, db *mongo.Database, m *migrate.Migration) {
	t.Helper()
	id := m.Restart().Model.(*mongo.DeleteOneModel).Filter.(bson.D)[0].Value
	if _, err := db.Collection("docmodel.migrations").InsertOne(
		t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "dropping", Value: true}},
	); err != nil {
		t.Fatal(err)
	}
}

// migrationCase is a whole migration.
type migrationCase struct {
	migration *migrate.Migration
	size      int // of a batch; 0 means the default
	before    stored
	copied    stored // after Copy
	after     stored // after Drop
}

// check runs the phases, and then with every fault.
func (c migrationCase) check(t *testing.T) {
	t.Helper()
	t.Run("phases", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			if err := c.before.insert(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			dry, err := c.migration.Copy().Run(t.Context(), db, model.JobOptions{DryRun: true, BatchSize: c.size})
			if err != nil || dry.Modified != 0 {
				t.Errorf("the dry run wrote %d, %v", dry.Modified, err)
			}
			c.before.want(t, db)
			if got := mustPass(t, db, c.migration.Copy(), c.size); got.Writes != dry.Writes ||
				got.Modified != dry.Writes {
				t.Errorf(
					"the dry run counted %d, and %d were planned, %d written", dry.Writes, got.Writes, got.Modified,
				)
			}
			c.copied.want(t, db)
			if got := mustPass(t, db, c.migration.Copy(), c.size); got.Writes != 0 {
				t.Errorf("a second Copy wrote %d", got.Writes)
			}
			wantLines(t, "after Copy", mismatches(t, db, c.migration), []string{})
			mustPass(t, db, c.migration.Drop(), c.size)
			c.after.want(t, db)
			wantLines(t, "after Drop", mismatches(t, db, c.migration), []string{})
			if _, err := c.migration.Copy().Run(
				t.Context(), db, model.JobOptions{},
			); !errors.Is(err, migrate.ErrDropping) {
				t.Errorf("Copy after Drop: %v", err)
			}
			if _, err := c.migration.Restart().Run(t.Context(), db); err != nil {
				t.Error(err)
			}
			if n, err := db.Collection("docmodel.migrations").CountDocuments(t.Context(), bson.D{}); n != 0 ||
				err != nil {
				t.Errorf("Restart left %d documents, %v", n, err)
			}
		})
	})
	t.Run("faults", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed:  c.before.insert,
			Run:   runPhases(c.migration, c.size),
			Check: func(t testing.TB, db *mongo.Database) { c.after.want(t, db) },
		})
	})
}

// racer is a client option that calls a function just before the n-th command that matches is sent.
type racer struct {
	mu      sync.Mutex
	match   func(name, collection string) bool
	n       int
	do      func()
	running bool
}

func (r *racer) option() mongotest.Option {
	return mongotest.Settings{Client: options.Client().SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			r.mu.Lock()
			collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()
			hit := r.match != nil && !r.running && r.match(e.CommandName, collection)
			if hit {
				r.n--
			}
			hit = hit && r.n == 0
			if hit {
				r.running = true
			}
			do := r.do
			r.mu.Unlock()
			if hit {
				do()
			}
		},
	})}
}

// before sets what happens before the n-th command.
func (r *racer) setBefore(n int, name, collection string, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.do, r.running = n, do, false
	r.match = func(gotName, gotCollection string) bool { return gotName == name && gotCollection == collection }
}

// TestMigrationValues: a migration gives the same each time that it is asked, and what the caller changes in it changes
// nothing else.
func TestMigrationValues(t *testing.T) {
	testkit.Parallel(t)
	x := newExtract(migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids"})
	for name, verify := range map[string]func() model.Check{
		"to refs":  newInvert(migrate.InvertSpec{Order: "at"}).Verify,
		"to lists": newInvert(migrate.InvertSpec{ToLists: true}).Verify,
		"extract":  x.Verify, "absorb": newAbsorb(migrate.AbsorbSpec{Parent: "post"}).Verify,
	} {
		first := verify()
		want := first.String()
		if first.Err != nil || len(first.Pipeline) == 0 {
			t.Errorf("%s: %v", name, first.Err)
		}
		clear(first.Pipeline)
		if got := verify().String(); got != want {
			t.Errorf("%s changed: %s", name, got)
		}
	}
	if got := x.Restart().String(); got != "db.getCollection('docmodel.migrations').deleteOne({_id: 'extract: "+
		"p.list > c'})" {
		t.Error(got)
	}
	indexes := model.New(
		"test", x, newInvert(migrate.InvertSpec{Order: "at"}),
		newAbsorb(migrate.AbsorbSpec{Parent: "post", Order: "at"}),
	).Indexes()
	want := "db.p.createIndex({ids: 1})\ndb.p.createIndex({list: 1})\n" +
		"db.c.createIndex({'of.parent': 1, at: 1, _id: 1})\ndb.c.createIndex({post: 1, at: 1, _id: 1})\n"
	if got := indexes.String(); got != want {
		t.Errorf("indexes:\n%s", got)
	}
}

// A pass that keeps a checkpoint, of one collection or of two, goes on where it was cut, and leaves what one without
// leaves.
func TestPassCheckpointFaults(t *testing.T) {
	testkit.Parallel(t)
	before := stored{
		"p": {`{"_id":"a","list":[3,1]}`, `{"_id":"b","list":[2]}`, `{"_id":"d","list":[5]}`},
		"c": {`{"_id":1}`, `{"_id":2}`, `{"_id":3}`, `{"_id":5}`},
	}
	after := stored{
		"p": {`{"_id":"a"}`, `{"_id":"b"}`, `{"_id":"d"}`},
		"c": {
			`{"_id":1,"of":{"parent":"a"},"at":1}`, `{"_id":2,"of":{"parent":"b"},"at":0}`,
			`{"_id":3,"of":{"parent":"a"},"at":0}`,
			`{"_id":5,"of":{"parent":"d"},"at":0}`,
		},
		"jobs": nil,
	}
	m := newInvert(migrate.InvertSpec{Order: "at"})
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed:   before.insert,
		Run: func(ctx context.Context, db *mongo.Database) error {
			done, err := db.Collection("docmodel.migrations").CountDocuments(
				ctx, bson.D{{Key: "dropping", Value: true}},
			)
			if err != nil {
				return err
			}
			kept := model.JobOptions{Checkpoint: "jobs", BatchSize: 2}
			if done == 0 { // else the copy was through
				if _, err := m.Copy().Run(ctx, db, kept); err != nil {
					return err
				}
			}
			_, err = m.Drop().Run(ctx, db, kept)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { after.want(t, db) },
	})
}
