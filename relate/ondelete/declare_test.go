package ondelete_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestOnDeleteDeclared(t *testing.T) {
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	for _, c := range []struct {
		reason, want string
		declare      func()
	}{
		{"two rules of one reference", "two rules: cascade and nullify", func() {
			ondelete.New(nodes, ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(ofParent)})
		}},
		{
			"one rule twice", "two rules: owns and owns",
			func() { ondelete.New(nodes, ondelete.Spec{Owns: refs(inList, inList)}) },
		},
		{"one array whose elements are taken and followed", "nullifying twos.b removes whole elements, and with " +
			"them twos.a", func() {
			ondelete.New(
				nodes,
				ondelete.Spec{
					Cascade: refs(dangling.New(nodes, "twos.a", nodes, dangling.Spec{})),
					Nullify: refs(dangling.New(nodes, "twos.b", nodes, dangling.Spec{})),
				},
			)
		}},
		{"the zero reference", "the Reference is empty", func() {
			ondelete.New(nodes, ondelete.Spec{Cascade: refs(twosided.Side[node, string, node, string]{})})
		}},
		{
			"no referrer", "a Referrer is nil",
			func() { ondelete.New(nodes, ondelete.Spec{Owns: refs(nil)}) },
		},
		{"a path of which nothing is known", "the type doesn't tell whether open.a holds a list", func() {
			ondelete.New(
				nodes, ondelete.Spec{Nullify: refs(dangling.New(open, "a", open, dangling.Spec{}))},
			)
		}},
		{
			"the zero collection", "zero Collection",
			func() { ondelete.New(&model.Collection[node, string]{}, ondelete.Spec{}) },
		},
	} {
		testkit.WantPanic(t, c.reason, c.want, c.declare)
	}
	way := ondelete.New(
		nodes,
		ondelete.Spec{
			Cascade: refs(ofParent), Owns: refs(inList), Nullify: refs(inLines), Restrict: refs(inList),
		},
	)
	var labels []string
	for _, r := range way.Relations() {
		labels = append(labels, r.Label+" "+r.FromPath)
	}
	testkit.WantList(
		t, labels,
		[]string{
			"on delete: cascade parent", "on delete: owns list", "on delete: nullify lines.tag",
			"on delete: restrict list",
		},
	)
	if got := len(way.Indexes()); got != 3 || len(way.Relations()) != 4 {
		t.Errorf("%d indexes, %d relations", got, len(way.Relations()))
	}
	store := storeOf(ondelete.Spec{})
	if err := store.DeleteJob().Err; err == nil {
		t.Error("no id is taken")
	}
	if err := store.DeleteJob("a", "").Err; err == nil {
		t.Error("an empty id is taken")
	}
}
