package embed_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
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
