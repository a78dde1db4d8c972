package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// twoStages renames the parts, all but one that it leaves, and then counts up a part three times, by work of its own.
func twoStages(ran *[]string) model.Job {
	rename := renaming("new").Stages[0]
	first := model.Stage{
		Name: "rename the parts", Collection: "parts", BatchSize: 3,
		Work: func(_ context.Context, b *model.Batch) (model.Plan, error) {
			*ran = append(*ran, fmt.Sprint("batch of ", len(b.Docs)))
			var docs []bson.Raw
			for _, doc := range b.Docs {
				if doc.Lookup("_id").Int32() == 4 {
					b.Leave(model.Finding{Collection: "parts", ID: doc.Lookup("_id"), Problem: "keeps its name"})
					continue
				}
				docs = append(docs, doc)
			}
			return rename.Plan(docs)
		},
	}
	count := model.Stage{Name: "count a part up to 3", Do: func(ctx context.Context, b *model.Batch) error {
		n := int32(0)
		if b.After.Type != 0 {
			n = b.After.Int32()
		}
		*ran = append(*ran, fmt.Sprint("count ", n))
		b.Documents, b.Writes = 1, 1
		if !b.DryRun {
			result, err := parts.Update(1, d("$set", d("qty", n+1))).Run(ctx, b.DB)
			if err != nil {
				return err
			}
			b.Modified = result.Modified()
		}
		b.After, b.Done = rawOf(n+1), n+1 == 3
		return nil
	}}
	return model.Job{Name: "two stages", Stages: []model.Stage{first, count}}
}

// A job does its stages in order, counts them together, and ends with what it left.
func TestJobStages(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(5))
		var ran []string
		dry, err := twoStages(&ran).Run(t.Context(), db, model.JobOptions{DryRun: true})
		if dry.Documents != 8 || dry.Writes != 7 || dry.Modified != 0 || dry.Left != 1 || renamed(t, db, "new") != 0 {
			t.Errorf("a dry run: %+v, %v", dry, err)
		}
		ran = nil
		got, err := twoStages(&ran).Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"})
		var left *model.LeftError
		if !errors.As(err, &left) ||
			err.Error() != "docmodel: job two stages couldn't process 1 finding: parts 4: keeps its name" {
			t.Errorf("left: %v", err)
		}
		if !got.Done || got.Stage != 1 || got.Documents != 8 || got.Modified != 7 || got.Batches != 5 ||
			len(got.Findings) != 1 {
			t.Errorf("%+v", got)
		}
		if want := "batch of 3, batch of 2, count 0, count 1, count 2"; strings.Join(ran, ", ") != want {
			t.Errorf("ran %s", strings.Join(ran, ", "))
		}
		if renamed(t, db, "new") != 4 {
			t.Error("not all were renamed")
		}
		if n, err := notes.Named("jobs").Find(nil).Count(t.Context(), db); n != 0 || err != nil {
			t.Errorf("%d checkpoints are left, %v", n, err)
		}
		if text, want := twoStages(&ran).String(),
			"// 1. rename the parts\ndb.parts.find({}).sort({_id: 1}).limit(3).batchSize(3)\n// 2. count a part up to 3"; text != want {
			t.Errorf("%s\nwant\n%s", text, want)
		}
	})
}

// A job that is stopped after any of its batches goes on there: by its checkpoint, or by the progress that it returned.
func TestJobStagesGoOn(t *testing.T) {
	stop := errors.New("enough")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, checkpoint := range []string{"", "jobs"} {
			var ran []string
			o := model.JobOptions{Checkpoint: checkpoint, Progress: func(model.Progress) error { return stop }}
			if err := db.Collection("parts").Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustRun(t, db, manyParts(5))
			left := int64(0)
			for runs := 1; ; runs++ {
				got, err := twoStages(&ran).Run(t.Context(), db, o)
				left += got.Left
				if got.Done {
					break
				}
				if !errors.Is(err, stop) || runs > 9 {
					t.Fatalf("run %d: %+v, %v", runs, got, err)
				}
				if checkpoint == "" {
					o.From = got
				}
			}
			if want := "batch of 3, batch of 2, count 0, count 1, count 2"; strings.Join(ran, ", ") != want || left != 1 ||
				renamed(t, db, "new") != 4 {
				t.Errorf("checkpoint %q: ran %s; %d left", checkpoint, strings.Join(ran, ", "), left)
			}
		}
		var bad *model.ValueError
		for _, o := range []model.JobOptions{
			{BatchSize: -1}, {From: model.Progress{Stage: 2}}, {From: model.Progress{Stage: -1}},
		} {
			if _, err := twoStages(new([]string)).Run(t.Context(), db, o); !errors.As(err, &bad) {
				t.Errorf("%+v: %v", o, err)
			}
		}
	})
}

// Work of its own is called again when it is stale, or when its stage says so; anything else ends the job.
func TestJobAgain(t *testing.T) {
	taken := errors.New("taken meanwhile")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			fails error
			times int
			calls int
			err   error
		}{
			{model.ErrStale, 2, 3, nil}, {model.ErrStale, 100, 8, model.ErrStale}, {taken, 7, 8, nil}, {errBad, 1, 1, errBad},
		} {
			calls := 0
			job := model.Job{Name: "again", Stages: []model.Stage{{
				Again: func(err error) bool { return errors.Is(err, taken) },
				Do: func(_ context.Context, b *model.Batch) error {
					if calls++; calls <= test.times {
						return test.fails
					}
					b.Done = true
					return nil
				},
			}}}
			if _, err := job.Run(t.Context(), db, model.JobOptions{}); calls != test.calls || !errors.Is(err, test.err) {
				t.Errorf("%v %d times: %d calls, %v", test.fails, test.times, calls, err)
			}
		}
	})
}

// A finding that can't be mended is left, with the reason. It doesn't keep the others of its batch from being mended.
func TestCheckJobLeaves(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := stocked(t.Context(), db, 5, -1, -2, -3, 4); err != nil {
			t.Fatal(err)
		}
		check := negatives(0)
		mend := check.Mend
		check.Mend = func(found []model.Finding) model.Plan {
			for _, f := range found {
				if f.ID.AsInt64() == 3 {
					return model.NewPlan(model.Refused("stocks", &model.ValueError{
						Collection: "stocks", Field: "qty", Value: -2, Reason: "is counted by hand",
					}))
				}
			}
			return mend(found)
		}
		got, err := check.Job().Run(t.Context(), db, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) || left.Left != 1 || !strings.Contains(err.Error(), "is counted by hand") ||
			got.Modified != 2 || inStock(t, db) != "5 0 -2 0 4" {
			t.Errorf("%+v, %v, %s", got, err, inStock(t, db))
		}
	})
}
