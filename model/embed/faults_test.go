package embed_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Repairs of arrays that are cut anywhere, between documents too, are completed by the next check and repair: the
// repeated go, the oversized are cut, nulls become arrays, and nothing else changes.
func TestEmbeddedRepairFaults(t *testing.T) {
	steps := func(keep embed.KeepElement) *embed.Nested[string, embStep] {
		return embed.NewNested[embStep](embTasks, "steps", embed.EmbeddedSpec{Key: "no", Max: 2, Keep: keep})
	}
	stepList := func(list ...int32) (out []embStep) {
		for i, no := range list {
			out = append(out, embStep{No: no, Text: string(rune('a' + i))})
		}
		return out
	}
	for _, c := range []struct {
		reason string
		seed   []any
		run    func(ctx context.Context, db *mongo.Database) error
		want   string
	}{
		{
			"elements", []any{
				embPerson{ID: "a", Tasks: embList("x1 y2 x1 x3 y2")}, embPerson{ID: "b", Tasks: embList("x1 x2")},
				embPerson{ID: "c", Tasks: embList("x1 y2 z3 q4")}, embPerson{ID: "d", Tasks: embList("q1 r2 s3 t4 u5")},
				d("_id", "e", "tasks", nil), d("_id", "f", "tasks", nil), embPerson{ID: "g", Tasks: embList("x1 y1")},
			},
			func(ctx context.Context, db *mongo.Database) error {
				return mend(ctx, db, slices.Concat(embFirst.Checks()[:1], embLast.Checks()[1:]))
			}, "a: x1 y2; b: x1; c: y2 z3 q4; d: s3 t4 u5; e: ; f: ; g: x1 y1",
		}, {
			"inner elements", []any{
				embPerson{ID: "a", Tasks: []embTask{{ID: "x", Steps: stepList(1, 2, 1)}, {ID: "y", Steps: stepList(1, 2, 3)}}},
				embPerson{ID: "b", Tasks: []embTask{{ID: "x", Steps: stepList(5, 5)}, {ID: "z", Steps: stepList(4, 5, 6, 7)}}},
				d("_id", "c", "tasks", bson.A{d("id", "x", "due", int32(0), "steps", nil)}),
				d("_id", "d", "tasks", bson.A{d("id", "x", "due", int32(0), "steps", nil)}),
			},
			func(ctx context.Context, db *mongo.Database) error {
				return mend(ctx, db, slices.Concat(steps(embed.KeepLast).Checks()[:1], steps(embed.KeepFirst).Checks()[1:]))
			}, "a: x0(2b 1c) y0(1a 2b); b: x0(5b) z0(4a 5b); c: x0(); d: x0()",
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 4, Run: c.run,
				Seed: func(ctx context.Context, db *mongo.Database) error { return embStore(ctx, db, c.seed...) },
				Check: func(t testing.TB, db *mongo.Database) {
					if got := embTexts(t, db); got != c.want {
						t.Errorf("stored %s, want %s", got, c.want)
					}
					for _, c := range embTasks.Checks()[2:] {
						if bad, err := c.All(context.Background(), db); err != nil || len(bad) > 0 {
							t.Errorf("%s: %v, %v", c.Name, bad, err)
						}
					}
				},
			})
		})
	}
}

// embTexts writes persons as "a: x1 y2; b: x0(1a 2b)".
func embTexts(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := embPeople.Find(nil).Sorted(d("_id", 1)).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range all {
		var tasks []string
		for _, task := range p.Tasks {
			s := task.ID + string(rune('0'+task.Due))
			if task.Steps != nil {
				var steps []string
				for _, step := range task.Steps {
					steps = append(steps, string(rune('0'+step.No))+step.Text)
				}
				s += "(" + strings.Join(steps, " ") + ")"
			}
			tasks = append(tasks, s)
		}
		out = append(out, p.ID+": "+strings.Join(tasks, " "))
	}
	return strings.Join(out, "; ")
}

// A mend of versions that stops between two documents is completed by the next, which leaves those alone that have one.
func TestVersionedRepairFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return verStore(ctx, db, d("_id", "a", "qty", int32(1), "version", nil),
				d("_id", "b", "qty", int32(2), "version", "x"),
				d("_id", "c", "qty", int32(3), "version", int64(7)), d("_id", "d", "qty", int32(4)))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return mend(ctx, db, verPlain.Checks())
		},
		Check: func(t testing.TB, db *mongo.Database) {
			all, err := verLots.Find(nil).Sorted(d("_id", 1)).All(context.Background(), db)
			if err != nil || len(all) != 4 {
				t.Fatalf("%v, %v", all, err)
			}
			for i, lot := range all {
				mended := i < 2
				if lot.Qty != int32(i+1) || (lot.Version > 1<<39) != mended || !mended && lot.Version != []int64{7, 0}[i-2] {
					t.Errorf("%+v", lot)
				}
			}
		},
	})
}

// Tags that are assigned to many documents, cut between two, are assigned to the rest by the next run.
func TestKindsRetagFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection(uniMedia.Name()).InsertMany(ctx, []any{
				d("_id", "a", "author", "x"), d("_id", "b", "author", "y", "type", nil),
				d("_id", "c", "tracks", bson.A{"t"}, "type", "disc"),
			})
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := uniKinds.Retag(nil, "book").Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			counts, err := uniKinds.Counts().All(context.Background(), db)
			if got := len(counts); err != nil || got != 2 || counts[0].N != 2 || counts[1].N != 1 {
				t.Errorf("%v, %v", counts, err)
			}
		},
	})
}
