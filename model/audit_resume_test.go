package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An audit that was stopped goes on in the check where it was, when checks came to the model before it and after it.
// When the check is gone, the audit is refused, and says what to do.
func TestAuditResumes(t *testing.T) {
	enough := errors.New("enough")
	few := embed.NewEmbedded[bson.D](model.NewCollection[bson.D, int64]("songs"), "takes",
		embed.EmbeddedSpec{Key: "no", Max: 1, Keep: embed.KeepFirst})
	lastNotes := bounded.New(model.NewCollection[bson.D, string]("halls"), "notes", bounded.Spec{Max: 1})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := damaged(t.Context(), db, 40); err != nil {
			t.Fatal(err)
		}
		before := model.New("band", songCount, lastTags, revisions)
		_, err := atOnce(before).Job().
			Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", BatchSize: 15, Progress: func(p model.Progress) error {
				if p.Stage == 2 && p.After.Type != 0 {
					return enough
				}
				return nil
			}})
		if err != enough {
			t.Fatal(err)
		}
		var bad *model.ValueError
		_, err = atOnce(model.New("band", songCount, revisions)).Job().
			Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"})
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "bounded.Bounded: songs.tags") ||
			!strings.Contains(err.Error(), "delete the document {_id: 'audit: band'}") {
			t.Errorf("the check is gone: %v", err)
		}
		got, err := atOnce(model.New("band", few, lastNotes, songCount, lastTags, songNames, revisions)).Job().
			Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", BatchSize: 15})
		// the other songs for the tags, all for two checks of copies, the singers for their versions
		if _, left := err.(*model.LeftError); !left || got.Documents != 25+2*40+2 {
			t.Errorf("then went through %d documents: %v", got.Documents, err)
		}
		if n, err := notes.Named("jobs").Find(nil).Count(t.Context(), db); n != 0 || err != nil {
			t.Errorf("%d checkpoints are left, %v", n, err)
		}
	})
}

// Stages of one name, or of none, are told apart in a checkpoint.
func TestJobStagesOfOneName(t *testing.T) {
	enough := errors.New("enough")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(2))
		audit := model.Audit{Name: "twice"}
		for id := range 3 {
			audit.Checks = append(audit.Checks, model.Check{
				Name: "parts", Collection: "parts", Pipeline: mongo.Pipeline{d("$match", d("name", "new"))},
				Mend: func([]model.Finding) model.Plan { return model.Plan{} },
			}.In(d("_id", d("$gte", id))))
		}
		for stage := range 3 {
			p, err := audit.Job().
				Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs", Progress: func(model.Progress) error { return enough }})
			if err != enough || p.Stage != stage || p.Documents == 0 {
				t.Errorf("stopped in stage %d, by %v: want stage %d", p.Stage, err, stage)
			}
		}
	})
}
