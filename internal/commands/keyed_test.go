package commands_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
)

// All writes of a collection are marked, those instead of others too; the caller's plan stays as it is.
func TestMarkPlanKeyed(t *testing.T) {
	write := func(collection string) model.Write {
		return model.Write{Collection: collection, Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: 1}}}}
	}
	first := write("books")
	first.Reasons = []model.Reason{{Instead: []model.Step{write("authors"), write("books")}}}
	plan := model.NewPlan(first, write("authors"), model.MergeInto{Collection: "books"})
	plan.InTx, plan.IfStale = []model.Step{write("books")}, []model.Step{write("books"), write("authors")}

	list := func(p model.Plan) (out []model.Write) {
		for _, steps := range [][]model.Step{p.Steps, p.InTx, p.IfStale, p.Steps[0].(model.Write).Reasons[0].Instead} {
			for _, s := range steps {
				if w, ok := s.(model.Write); ok {
					out = append(out, w)
				}
			}
		}
		return out
	}
	marked := list(commands.MarkPlanKeyed(plan, "books"))
	if len(marked) != 7 {
		t.Fatalf("%d writes", len(marked))
	}
	for _, w := range marked {
		if w.Keyed != (w.Collection == "books") {
			t.Errorf("a write of %s: keyed is %v", w.Collection, w.Keyed)
		}
	}
	for _, w := range list(plan) {
		if w.Keyed {
			t.Errorf("the caller's write of %s was marked", w.Collection)
		}
	}
}

// What a check mends, and what a change decides, is marked when it is made.
func TestMarkChecksKeyed(t *testing.T) {
	mend := func([]model.Finding) model.Plan {
		return model.NewPlan(model.Write{Collection: "books"}, model.Write{Collection: "authors"})
	}
	checks := commands.MarkChecksKeyed([]model.Check{{Mend: mend}, {}}, "books", "authors")
	for _, s := range checks[0].Mend(nil).Steps {
		if w := s.(model.Write); !w.Keyed {
			t.Errorf("a write of %s isn't keyed", w.Collection)
		}
	}
	if checks[1].Mend != nil || len(checks[1].Keyed) != 2 {
		t.Errorf("a check without a repair: %v", checks[1].Keyed)
	}
}
