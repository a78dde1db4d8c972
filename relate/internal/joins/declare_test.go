package joins_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestJoinDeclarations(t *testing.T) {
	testkit.Parallel(t)
	for reason, declare := range map[string]func(){
		"no such path":     func() { relate.NewJoin(joinParents, "kidz", joinKids, relate.JoinSpec{}) },
		"another type":     func() { relate.NewJoin(joinParents, "lines", joinKids, relate.JoinSpec{}) },
		"a negative limit": func() { relate.NewJoin(joinParents, "kids", joinKids, relate.JoinSpec{Limit: -1}) },
		"a sort by text": func() {
			relate.NewJoin(joinParents, "kids", joinKids, relate.JoinSpec{Sort: bson.D{{Key: "_id", Value: "up"}}})
		},
		"a sort by nothing": func() {
			relate.NewJoin(joinParents, "kids", joinKids, relate.JoinSpec{Sort: bson.D{{Key: "names", Value: 1}}})
		},
	} {
		func() {
			defer func() {
				if _, ok := recover().(*model.DeclarationError); !ok {
					t.Errorf("%s: no DeclarationError", reason)
				}
			}()
			declare()
		}()
	}
}
