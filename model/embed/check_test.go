package embed_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What lies above an array can be damaged too, and what lies above a subdocument. That doesn't keep the others from
// being mended.
func TestEmbeddedDamageAbove(t *testing.T) {
	list := embed.NewEmbedded[bson.D](embOpen, "at.list", embed.EmbeddedSpec{Key: "id", Max: 1, Keep: embed.KeepFirst})
	within := embed.NewNested[bson.D](list, "plan.steps", embed.EmbeddedSpec{Key: "no", Max: 1, Keep: embed.KeepFirst})
	one := embed.NewOne[bson.D](embOpen, "at.home", embed.OneSpec{})
	three := bson.A{d("id", 1), d("id", 2), d("id", 3)}
	steps := func(plan any) bson.D { return d("id", 1, "plan", plan) }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := embStore(t.Context(), db,
			d("_id", "a", "at", d("list", nil, "home", nil)),
			d("_id", "b", "at", bson.A{d("list", nil), d("list", three, "home", d("x", 1))}),
			d("_id", "c", "at", nil), d("_id", "d", "at", d("list", three, "home", bson.A{d("x", 1)})),
			d("_id", "e", "at", bson.A{}), d("_id", "f"),
			d("_id", "g", "at", d("list", d("0", 1, "1", 2), "home", "x")),
			d("_id", "h", "at", d("list", "none", "home", d("y", 1))),
			d("_id", "i", "at", d("list", bson.A{steps(d("steps", nil))})),
			d("_id", "j", "at", d("list", bson.A{steps(bson.A{d("steps", nil)})})),
			d("_id", "k", "at", d("list", bson.A{steps(d("steps", bson.A{d("no", 1), d("no", 2)}))})),
			d("_id", "l", "at", d("list", bson.A{steps("x")})),
		); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			finds, want string
			checks      []model.Check
		}{
			{"null", "a", list.Checks()}, {"too many elements", "d", list.Checks()}, {"malformed", "b c e g h", list.Checks()},
			{"not a document", "b c d e g", one.Checks()}, {"null", "i", within.Checks()},
			{"too many elements", "k", within.Checks()}, {"malformed", "j l", within.Checks()},
		} {
			if got := strings.Join(foundIDs(t, db, checkOf(t, c.finds, c.checks)), " "); got != c.want {
				t.Errorf("%s: found %s, want %s", c.finds, got, c.want)
			}
		}
		if err := mend(t.Context(), db, append(list.Checks(), within.Checks()...)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"{_id: 'a', at: {list: [], home: null}}", "{_id: 'd', at: {list: [{id: 1}], home: [{x: 1}]}}",
			"{_id: 'g', at: {list: {'0': 1, '1': 2}, home: 'x'}}", "{_id: 'i', at: {list: [{id: 1, plan: {steps: []}}]}}",
			"{_id: 'j', at: {list: [{id: 1, plan: [{steps: null}]}]}}",
			"{_id: 'k', at: {list: [{id: 1, plan: {steps: [{no: 1}]}}]}}",
		} {
			if got := embShow(t, db); !strings.Contains(got, want) {
				t.Errorf("stored\n%s\nwithout %s", got, want)
			}
		}
	})
}

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
