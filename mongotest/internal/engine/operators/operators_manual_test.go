// This test tries the names of all operators of MongoDB on the whole engine.

package operators

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

// TestNothingIsIgnored walks the names of all operators that MongoDB has: the engine has it, with the cases that
// TestComplete asks for, or refuses it by name, wherever it could stand.
func TestNothingIsIgnored(t *testing.T) {
	db := mongotest.NewClient(t).Database("operators")
	if err := load(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds {
		manual := Manual(k)
		if len(manual) == 0 {
			t.Errorf("the manual's list has no operators of the kind %s", k)
		}
		if !slices.IsSorted(manual) {
			t.Errorf("the manual's operators of the kind %s aren't sorted", k)
		}
		for _, name := range ListRegistered(k) {
			if !slices.Contains(manual, name) {
				t.Errorf("the engine's %s %s isn't MongoDB's", k, name)
			}
		}
		for _, name := range append(manual, "$nonsense") {
			if slices.Contains(ListRegistered(k), name) || name == ChangeStream {
				continue
			}
			for _, input := range uses(k, name) {
				got := outcome(t.Context(), db, kindOfRun(k), text(input))
				switch {
				case !isError(got) || !strings.Contains(got, name):
					t.Errorf("%s %s isn't refused by name in %s: %s", k, name, text(input), got)
				case name != "$nonsense" && name != "$pushAll" && !strings.HasPrefix(got, "error 238: "):
					t.Errorf("%s %s, which MongoDB has, is refused as if it hadn't: %s", k, name, got)
				}
			}
		}
	}
}

// kindOfRun is the kind as which outcome runs what uses makes.
func kindOfRun(k Kind) Kind {
	if k == Area {
		return Query
	}
	return k
}

// uses places an operator everywhere where one of its kind can stand.
func uses(k Kind, name string) []any {
	op := bson.D{{Key: name, Value: bson.D{}}}
	in := func(path ...string) any {
		var v any = op
		for _, p := range slices.Backward(path) {
			v = bson.D{{Key: p, Value: v}}
		}
		return v
	}
	switch k {
	case Query:
		return []any{op, in("v"), in("v", "$not"), in("v", "$elemMatch")}
	case Area:
		return []any{in("g", "$geoWithin")}
	case Projection:
		return []any{in("projection", "v")}
	case Update, Modifier:
		return []any{in("u")}
	case Stage:
		pipeline := bson.A{op}
		return []any{op, bson.D{{Key: "$facet", Value: bson.D{{Key: "x", Value: pipeline}}}},
			bson.D{{
				Key:   "$unionWith",
				Value: bson.D{{Key: "coll", Value: "parts"}, {Key: "pipeline", Value: pipeline}},
			}}}
	case Window:
		return []any{in("$setWindowFields", "output", "x")}
	}
	return []any{op}
}
