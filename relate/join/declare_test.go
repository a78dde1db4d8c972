package join_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/join"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestJoinDeclarations(t *testing.T) {
	testkit.Parallel(t)
	for reason, declare := range map[string]func(){
		"no such path":     func() { join.New(joinParents, "kidz", joinKids, join.Spec{}) },
		"another type":     func() { join.New(joinParents, "lines", joinKids, join.Spec{}) },
		"a negative limit": func() { join.New(joinParents, "kids", joinKids, join.Spec{Limit: -1}) },
		"a sort by text": func() {
			join.New(joinParents, "kids", joinKids, join.Spec{Sort: bson.D{{Key: "_id", Value: "up"}}})
		},
		"a sort by nothing": func() {
			join.New(joinParents, "kids", joinKids, join.Spec{Sort: bson.D{{Key: "names", Value: 1}}})
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
