package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// renaming is a job that gives each part a new name.
func renaming(name string) model.Job {
	return model.Job{Name: "renaming", Stages: []model.Stage{{
		Collection: "parts", BatchSize: 3, Projection: d("_id", 1),
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			var p model.Plan
			for _, doc := range docs {
				p.Steps = append(p.Steps, updateOne(d("_id", doc.Lookup("_id")), d("$set", d("name", name))))
			}
			return p, nil
		},
	}}}
}

func manyParts(n int) model.Plan {
	docs := make([]part, n)
	for i := range docs {
		docs[i] = part{ID: int32(i + 1), Name: "old"}
	}
	return parts.InsertMany(docs)
}

// renamed counts the parts of that name.
func renamed(t *testing.T, db *mongo.Database, name string) int {
	t.Helper()
	n, err := parts.Find(d("name", name)).Count(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

func TestJob(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(10))
		var told []model.Progress
		dry, err := renaming("dry").Run(t.Context(), db, model.JobOptions{DryRun: true, Checkpoint: "jobs"})
		if err != nil || dry.Documents != 10 || dry.Writes != 10 || dry.Modified != 0 || dry.Batches != 4 ||
			renamed(t, db, "dry") != 0 {
			t.Errorf("a dry run: %+v, %v", dry, err)
		}
		monitor.Reset()
		got, err := renaming("new").
			Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", Progress: func(p model.Progress) error {
				told = append(told, p)
				return nil
			}})
		// 4 batches of one read, one write and one checkpoint; two reads that find no more; the checkpoint before and after.
		if cost := monitor.Cost(); cost.Commands != 4*3+2+2 {
			t.Errorf("%d commands: %v", cost.Commands, monitor.Commands())
		}
		if err != nil || !got.Done || got.Documents != 10 || got.Modified != 10 || got.Batches != 4 ||
			renamed(t, db, "new") != 10 {
			t.Errorf("%+v, %v", got, err)
		}
		if len(told) != 5 || told[0].Documents != 3 || told[0].Done || !told[4].Done || told[3].After.Int32() != 10 {
			t.Errorf("told %+v", told)
		}
		again, err := renaming("new").Run(t.Context(), db, model.JobOptions{})
		if err != nil || again.Documents != 10 || again.Modified != 0 && !tenancy.On { // a scope's time is another time
			t.Errorf("a finished job run again: %+v, %v", again, err)
		}
		some := renaming("some")
		some.Stages[0].Filter = d("_id", d("$in", bson.A{2, 4}))
		if got, err := some.Run(t.Context(), db, model.JobOptions{}); err != nil || got.Documents != 2 ||
			renamed(t, db, "some") != 2 {
			t.Errorf("with a filter on _id: %+v, %v", got, err)
		}
		if n, err := notes.Named("jobs").Find(nil).Count(t.Context(), db); n != 0 || err != nil {
			t.Errorf("%d checkpoints are left, %v", n, err)
		}
	}, monitor)
}

// TestJobStops: by its Progress, by its context, by an error of its plan; and goes on where it was.
func TestJobStops(t *testing.T) {
	stop := errors.New("enough")
	stopAfter := func(batches int) func(model.Progress) error {
		return func(p model.Progress) error {
			if p.Batches == batches {
				return stop
			}
			return nil
		}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(10))
		got, err := renaming("one").Run(t.Context(), db, model.JobOptions{Progress: stopAfter(2)})
		if err != stop || got.Documents != 6 || got.Done || renamed(t, db, "one") != 6 {
			t.Errorf("stopped: %+v, %v", got, err)
		}
		rest, err := renaming("two").Run(t.Context(), db, model.JobOptions{From: got})
		if err != nil || rest.Documents != 4 || renamed(t, db, "two") != 4 || renamed(t, db, "one") != 6 {
			t.Errorf("gone on by From: %+v, %v", rest, err)
		}
		if _, err := renaming("three").
			Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", Progress: stopAfter(3)}); err != stop {
			t.Error(err)
		}
		rest, err = renaming("four").Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"})
		if err != nil || rest.Documents != 1 || renamed(t, db, "four") != 1 {
			t.Errorf("gone on by its checkpoint: %+v, %v", rest, err)
		}
		bad := renaming("bad")
		bad.Stages[0].Plan = func(docs []bson.Raw) (model.Plan, error) {
			if docs[0].Lookup("_id").Int32() > 3 {
				return model.Plan{}, errBad
			}
			return renaming("bad").Stages[0].Plan(docs)
		}
		if got, err := bad.Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, errBad) || got.Documents != 3 ||
			got.After.Int32() != 3 {
			t.Errorf("a plan that fails: %+v, %v", got, err)
		}
		counting := renaming("")
		counting.Stages[0].Plan = func([]bson.Raw) (model.Plan, error) {
			return model.NewPlan(updateMany(bson.D{}, d("$inc", d("qty", 1)))), nil
		}
		if _, err := counting.Run(t.Context(), db, model.JobOptions{DryRun: true}); !errors.Is(err, model.ErrTransactional) {
			t.Errorf("a plan that can't be run again, even in a dry run: %v", err)
		}
		unnamed := renaming("x")
		unnamed.Name = ""
		if _, err := unnamed.Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"}); err == nil {
			t.Error("a checkpoint without a name")
		}
		for _, j := range []model.Job{{}, {Err: errBad}, {Stages: []model.Stage{{Collection: "parts"}}}} {
			if _, err := j.Run(t.Context(), db, model.JobOptions{}); err == nil {
				t.Errorf("%+v runs", j)
			}
		}
	})
}

// TestJobSeesEveryType: a comparison by _id stays within one BSON type; the job doesn't.
func TestJobSeesEveryType(t *testing.T) {
	ids := []any{
		int32(-1), int64(2), 2.5, "", "a", "b", d("k", 1), d("k", "x"), []byte{1}, [16]byte{9}, oid(1), oid(2), false, true,

		time.UnixMilli(5).UTC(), bson.Timestamp{T: 1}, bson.NewDecimal128(0, 9), bson.MinKey{}, bson.MaxKey{},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range ids {
			if _, err := db.Collection("parts").InsertOne(t.Context(), d("_id", id)); err != nil {
				t.Fatalf("%v: %v", id, err)
			}
		}
		for _, size := range []int{1, 2, 3, 100} {
			var seen []string
			job := renaming("x")
			job.Stages[0].BatchSize = size
			plan := job.Stages[0].Plan
			job.Stages[0].Plan = func(docs []bson.Raw) (model.Plan, error) {
				for _, doc := range docs {
					seen = append(seen, doc.Lookup("_id").String())
				}
				return plan(docs)
			}
			got, err := job.Run(t.Context(), db, model.JobOptions{})
			unique := slices.Compact(slices.Sorted(slices.Values(seen)))
			if err != nil || len(seen) != len(ids) || len(unique) != len(ids) || got.Documents != int64(len(ids)) {
				t.Errorf("in batches of %d: %d of %d documents, %d once; %v\n%v", size, len(seen), len(ids), len(unique), err, seen)
			}
		}
	})
}

// A pipeline sees each batch before the plan does, and the collections that it reads are under the scope too.
func TestJobPipeline(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(7))
		lookup := d("from", "parts", "localField", "_id", "foreignField", "_id", "as", "same")
		var seen []int
		job := model.Job{Name: "stages", Stages: []model.Stage{{
			Collection: "parts", BatchSize: 3, Projection: d("_id", 1),
			Pipeline: mongo.Pipeline{d("$lookup", lookup), d("$set", d("n", d("$size", "$same")))},
			Plan: func(docs []bson.Raw) (model.Plan, error) {
				for _, doc := range docs {
					seen = append(seen, int(doc.Lookup("_id").AsInt64()*10+doc.Lookup("n").AsInt64()))
				}
				return model.Plan{}, nil
			},
		}}}
		if p, err := job.Run(t.Context(), db, model.JobOptions{}); err != nil || p.Documents != 7 || p.Batches != 3 {
			t.Errorf("%+v, %v", p, err)
		}
		if want := []int{11, 21, 31, 41, 51, 61, 71}; !slices.Equal(seen, want) {
			t.Errorf("seen %v, want %v", seen, want)
		}
		seen = nil
		job.Stages[0].Pipeline[0][0].Value = append(d("pipeline", mongo.Pipeline{}), lookup...)
		odd := model.Scope{Filter: d("_id", d("$mod", bson.A{2, 1}))}
		if _, err := job.Run(t.Context(), odd.On(db), model.JobOptions{}); err != nil ||
			!slices.Equal(seen, []int{11, 31, 51, 71}) {
			t.Errorf("under a scope it sees %v, %v", seen, err)
		}
	})
}

// A job that keeps a checkpoint, cut at any write, its checkpoint's too, goes on and ends in the same; no checkpoint
// stays.
func TestJobFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 4,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := manyParts(5).Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := renaming("new").Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			n, err := parts.Find(d("name", "new")).Count(context.Background(), db)
			kept, err2 := notes.Named("jobs").Find(nil).Count(context.Background(), db)
			if err != nil || err2 != nil || n != 5 || kept != 0 {
				t.Errorf("%d renamed, %v; %d checkpoints, %v", n, err, kept, err2)
			}
		},
	})
}
