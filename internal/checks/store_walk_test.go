package checks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Each technique takes part in the stores of the collections that it writes, or refuses by its name with what to call
// instead.
func TestTechniquesInStores(t *testing.T) {
	takesPart, refuses := map[string]bool{}, map[string]bool{}
	for _, technique := range declaredTechniques {
		name := typeName(technique)
		for _, f := range technique.Footprints() {
			if f.Use != model.Owns && f.Use != model.Writes {
				continue
			}
			switch problem := storeRefused(technique, f.Collection); {
			case problem == "":
				takesPart[name] = true
			case !strings.Contains(problem, name) || strings.Contains(problem, "the methods of the technique"):
				t.Errorf("%s neither takes part in a store of %s nor says what to use instead: %s", name, f.Collection, problem)
			default:
				refuses[name] = true
			}
		}
	}
	if len(takesPart) < 20 || len(refuses) < 5 {
		t.Errorf("%d techniques take part, %d refuse", len(takesPart), len(refuses))
	}
}

// storeRefused returns why a technique's collection has no store, or "".
func storeRefused(technique model.Technique, collection string) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprint(r)
		}
	}()
	model.NewStore(model.New("alone", technique), model.NewCollection[bson.D, any](collection))
	return ""
}
