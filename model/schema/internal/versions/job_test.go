package versions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// randomPerson is a document of any version, with unknown fields at several depths, and what of them must survive.
func randomPerson(r *rand.Rand, id string) string {
	d := []string{fmt.Sprintf(`"_id":%q,"n":%d,"u":{"deep":%d}`, id, r.IntN(9), r.IntN(9))}
	lines := `"lines":[{"k":"a","u":1},{"u":2,"k":"bb"}]`
	switch r.IntN(4) {
	case 0:
		d = append(d, `"name":"Ann Lee"`, lines)
		if r.IntN(2) == 0 {
			d = append(d, `"v":1`, `"home":{"u":3,"street":"S"}`)
		}
	case 1:
		d = append(d, `"v":2`, `"first":"Ann"`, `"phone":"1"`, lines, `"home":{"street":"S","city":"C"}`)
	case 2:
		d = append(d, `"v":3`, `"first":"Ann"`, `"lines":[{"k":"a","l":1,"u":1}]`)
	default:
		d = append(d, `"name":"Bob"`, `"phone":null`)
	}
	r.Shuffle(len(d)-1, func(i, j int) { d[i+1], d[j+1] = d[j+1], d[i+1] })
	return "{" + strings.Join(d, ",") + "}"
}

// unknown are the paths of the fields named u, and what they hold.
func listUnknown(v any, path string) (out []string) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			if e.Key == "u" {
				out = append(out, path+".u "+text(bson.D{{Key: "v", Value: e.Value}}))
			} else {
				out = append(out, listUnknown(e.Value, path+"."+e.Key)...)
			}
		}
	case bson.A:
		for i, x := range v {
			out = append(out, listUnknown(x, fmt.Sprint(path, ".", i))...)
		}
	}
	slices.Sort(out)
	return out
}

// A migration leaves what the readers saw before, of the newest version, with all that no type knows; a second one does
// nothing.
func TestMigrate(t *testing.T) {
	n := 60
	if os.Getenv("DOCMODEL_FULL") != "" {
		n = 2000
	}
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, r := t.Context(), rand.New(rand.NewPCG(3, 3))
		before, lost := map[string]string{}, map[string][]string{}
		var docs []any
		old := 0
		for i := range n {
			d := raw(t, randomPerson(r, fmt.Sprintf("%04d", i)))
			p, err := versions.Decode(d)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := d.Lookup("v").AsFloat64OK(); !ok || v < 3 {
				old++
			}
			docs = append(docs, d)
			before[p.ID], lost[p.ID] = fmt.Sprintf("%+v", show(p)), listUnknown(asD(t, d), "")
		}
		if _, err := db.Collection("people").InsertMany(ctx, docs); err != nil {
			t.Fatal(err)
		}
		dry, err := versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{DryRun: true, BatchSize: 7})
		if err != nil || dry.Writes != int64(old) || dry.Modified != 0 || len(storedDocs(t, db)) != n {
			t.Errorf("dry run: %+v, %v", dry, err)
		}
		job := versions.Migrate(schema.MigrateOptions{})
		stop, batches := errors.New("stop"), 0
		part, err := job.Run(ctx, db, model.JobOptions{
			BatchSize: 7, Checkpoint: "jobs",
			Progress: func(model.Progress) error {
				if batches++; batches == 2 {
					return stop
				}
				return nil
			},
		})
		if !errors.Is(err, stop) || part.Modified != 14 {
			t.Errorf("stopped: %+v, %v", part, err)
		}
		rest, err := job.Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
		if err != nil || part.Modified+rest.Modified != int64(old) {
			t.Errorf("went on: %+v and %+v of %d, %v", part, rest, old, err)
		}
		if again, err := job.Run(ctx, db, model.JobOptions{}); err != nil || again.Documents != 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
		counts, err := versions.Counts().All(ctx, db)
		if err != nil || len(counts) != 1 || counts[0].Version.AsInt64() != 3 || counts[0].Documents != int64(n) {
			t.Errorf("counts %v, %v", counts, err)
		}
		left, err := versions.Raw(nil).All(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range left {
			p, err := versions.Decode(d)
			if got := fmt.Sprintf("%+v", show(p)); err != nil || got != before[p.ID] {
				t.Errorf("is read as %s, %v, was as %s", got, err, before[p.ID])
			}
			if got := listUnknown(asD(t, d), ""); !slices.Equal(got, lost[p.ID]) {
				t.Errorf("%s holds %v of what nobody knows, held %v", d, got, lost[p.ID])
			}
		}
	}, monitor)
}

// show is a person without pointers, and without what an old document doesn't store.
func show(p personV3) any {
	home := addressV3{}
	if p.Home != nil {
		home = *p.Home
	}
	p.Home = nil
	return []any{p, home}
}

// What can't be brought up ends the job, or is left and told of; counts and the query of what is outdated show it.
func TestMigrateSkips(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		store(t, db, `{"_id":"1","name":"Ann","n":1}`, `{"_id":"2","name":"","n":1}`, `{"_id":"3","v":9}`,
			`{"_id":"4","v":"x"}`, `{"_id":"5","name":"Bob","n":1}`,
			`{"_id":"6","v":2,"first":"Cy","n":1}`)
		var failed *schema.VersionError
		_, err := versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{})
		if !errors.As(err, &failed) || failed.ID.StringValue() != "2" || !errors.Is(err, errNameless) {
			t.Errorf("the first ends the job: %v", err)
		}
		one, err := versions.Migrate(schema.MigrateOptions{Version: 2}).Run(ctx, db, model.JobOptions{})
		if err != nil || one.Modified != 1 {
			t.Errorf("of version 2: %+v, %v", one, err)
		}
		first, err := versions.Migrate(schema.MigrateOptions{Version: 1, Skip: true}).
			Run(ctx, db, model.JobOptions{DryRun: true})
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 1 || first.Documents != 3 || first.Writes != 2 {
			t.Errorf("of version 1, which is missing: %+v, %v", first, err)
		}
		p, err := versions.Migrate(schema.MigrateOptions{Skip: true}).Run(ctx, db, model.JobOptions{})
		var skipped []string
		for _, f := range p.Findings {
			skipped = append(skipped, f.ID.StringValue())
		}
		if !errors.As(err, &left) || left.Left != 2 || p.Left != 2 || p.Modified != 2 ||
			!slices.Equal(skipped, []string{"2", "4"}) ||
			!strings.Contains(err.Error(), `people '2': can't be migrated: `) {
			t.Errorf("skipped %v, %+v, %v", skipped, p, err)
		}
		counts, err := versions.Counts().All(ctx, db)
		var shown []string
		for _, c := range counts {
			shown = append(shown, fmt.Sprint(c.Version, " ", c.Documents))
		}
		if got := fmt.Sprint(shown); err != nil ||
			got != `[{"$numberInt":"1"} 1 {"$numberInt":"3"} 3 {"$numberInt":"9"} 1 "x" 1]` {
			t.Errorf("counts %s, %v", got, err)
		}
		outdated, err := versions.Outdated().All(ctx, db)
		if err != nil || len(outdated) != 2 {
			t.Errorf("outdated %v, %v", outdated, err)
		}
		var bad *model.ValueError
		for _, v := range []int{-1, 3, 9} {
			if _, err := versions.Migrate(schema.MigrateOptions{Version: v}).
				Run(ctx, db, model.JobOptions{}); !errors.As(err, &bad) {
				t.Errorf("version %d: %v", v, err)
			}
		}
	})
}

// Whatever write is cut, the next run completes the migration.
func TestMigrateCut(t *testing.T) {
	docs := func() (out []string) {
		r := rand.New(rand.NewPCG(1, 9))
		for i := range 5 {
			out = append(out, randomPerson(r, fmt.Sprint(i)))
		}
		return out
	}()
	want := map[string]string{}
	for _, s := range docs {
		p, err := versions.Decode(raw(t, s))
		if err != nil {
			t.Fatal(err)
		}
		want[p.ID] = fmt.Sprintf("%+v", show(p))
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			for _, s := range docs {
				if _, err := db.Collection("people").InsertOne(ctx, raw(t, s)); err != nil {
					return err
				}
			}
			return nil
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{BatchSize: 2})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			left, err := versions.Outdated().All(context.Background(), db)
			if err != nil || len(left) > 0 {
				t.Errorf("outdated: %v, %v", left, err)
			}
			got, err := people.Find(nil).All(context.Background(), db)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%d documents, %v", len(got), err)
			}
			for _, p := range got {
				if s := fmt.Sprintf("%+v", show(p)); s != want[p.ID] {
					t.Errorf("is read as %s, was as %s", s, want[p.ID])
				}
			}
		},
	})
}

// In every order with old code's write neither is lost.
func TestUpgradeInterleaved(t *testing.T) {
	ops := map[string]func(ctx context.Context, db *mongo.Database) error{
		"edit": func(ctx context.Context, db *mongo.Database) error {
			_, _, err := peopleStore.Edit("a", func(p *personV3) error { p.N += 10; return nil }).Run(ctx, db)
			return err
		},
		"migration": func(ctx context.Context, db *mongo.Database) error {
			_, err := versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{})
			return err
		},
		"old code counts": func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("people").UpdateByID(ctx, "a",
				bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 100}}}})
			return err
		},
		"old code renames": func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("people").
				UpdateByID(ctx, "a", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "Bob Roe"}}}})
			return err
		},
	}
	for _, pair := range [][2]string{
		{"edit", "edit"}, {"edit", "migration"}, {"edit", "old code counts"}, {"edit", "old code renames"},
		{"migration", "migration"}, {"migration", "old code counts"}, {"migration", "old code renames"},
	} {
		t.Run(pair[0]+" and "+pair[1], func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 2,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					_, err := db.Collection("people").
						InsertOne(ctx, bson.D{{Key: "_id", Value: "a"}, {Key: "name", Value: "Ann Lee"},
							{Key: "n", Value: 1}})
					return err
				},
				A: ops[pair[0]], B: ops[pair[1]],
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if errA != nil || errB != nil {
						t.Errorf("errors %v, %v", errA, errB)
					}
					n := 1
					for _, op := range pair {
						n += map[string]int{"edit": 10, "old code counts": 100}[op]
					}
					d, err := versions.Raw(nil).One(context.Background(), db)
					if err != nil {
						t.Fatal(err)
					}
					p, err := versions.Decode(d)
					// A name is stored by old code, after the write-back.
					renamed := p.First == "Bob" || d.Lookup("name").Type != 0
					if err != nil || p.N != n || (pair[1] == "old code renames") != renamed ||
						d.Lookup("v").AsInt64() != 3 {
						t.Errorf("leaves %s, %v", d, err)
					}
				},
			})
		})
	}
}

// 32 writers of old and new code at once, a migration among them: nothing is lost, and nothing counted twice.
func TestVersionsRace(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		const documents, writers = 4, 32
		for i := range documents {
			if _, err := db.Collection("people").
				InsertOne(ctx, bson.D{
					{Key: "_id", Value: fmt.Sprint(i)}, {Key: "name", Value: "Ann"}, {Key: "n", Value: 0},
				}); err != nil {
				t.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		for w := range writers {
			wait.Go(func() {
				id := fmt.Sprint(w % documents)
				var err error
				switch {
				case w == 0:
					_, err = versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{BatchSize: 2})
				case w%2 == 0:
					change := peopleStore.Edit(id, func(p *personV3) error { p.N++; return nil })
					change.Attempts = 100
					_, _, err = change.Run(ctx, db)
				default:
					_, err = db.Collection("people").UpdateByID(ctx, id,
						bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
				}
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			})
		}
		wait.Wait()
		all, err := people.Find(nil).All(ctx, db)
		sum := 0
		for _, p := range all {
			sum += p.N
		}
		if err != nil || sum != writers-1 {
			t.Errorf("%d of %d counted, %v", sum, writers-1, err)
		}
	})
}

// The costs and the index that the comments promise.
func TestVersionsCost(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		store(t, db, `{"_id":"a","name":"Ann","n":1}`, `{"_id":"b","v":3,"first":"Bob","n":1}`)
		cost := func(commands, written, returned int, f func() error) {
			t.Helper()
			modeltest.WantCost(t, monitor, model.Cost{Commands: commands, Written: written, Returned: returned}, f)
		}
		edit := func(id string, f func(*personV3) error) func() error {
			return func() error { _, _, err := peopleStore.Edit(id, f).Run(ctx, db); return err }
		}
		cost(1, 0, 2, func() error { _, err := people.Find(nil).All(ctx, db); return err })
		cost(2, 1, 1, edit("a", func(*personV3) error { return nil }))
		cost(1, 0, 1, edit("a", func(*personV3) error { return nil }))
		cost(2, 1, 1, edit("b", func(p *personV3) error { p.N++; return nil }))
		var many []any
		for i := range 3000 {
			many = append(many, bson.D{
				{Key: "_id", Value: fmt.Sprintf("x%04d", i)}, {Key: "v", Value: 3 - min(1, i/2990)},
				{Key: "first", Value: "x"},
			})
		}
		if _, err := db.Collection("people").InsertMany(ctx, many); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Collection("people").Indexes().CreateOne(ctx, versions.Indexes()[0].Model()); err != nil {
			t.Fatal(err)
		}
		of2 := people.Find(versions.Migrate(schema.MigrateOptions{Version: 2}).Stages[0].Filter)
		modeltest.WantIndexed(t, db, of2, "v_1__id_1")
		w := versions.Upgrade(raw(t, `{"_id":"x2999","v":2,"first":"x"}`))
		modeltest.WantIndexed(t, db, w, model.IDIndex)
	}, monitor)
}
