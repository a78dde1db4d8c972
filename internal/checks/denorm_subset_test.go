package checks

import (
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	loosePosts = anything.Named("posts")
	firstTwo   = subset.New(anything, "post", loosePosts, "recent", subset.Spec{
		Max: 2, By: bson.D{{Key: "time", Value: -1}}, Fields: []string{"text", "by.name"},
	})
	// inOrder holds the same in another order: states that it reads have the children in the order of their names.
	inOrder = subset.New(anything, "post", loosePosts, "recent", subset.Spec{
		Max: 2, By: bson.D{{Key: "time", Value: -1}, {Key: "_id", Value: 1}}, Fields: []string{"text", "by.name"},
	})
	wholeFirst = subset.New(anything, "post", loosePosts, "recent",
		subset.Spec{Max: 2, By: bson.D{{Key: "time", Value: -1}}})
)

func init() { register(subsetCases()...) }

// childOf is a child of the post s.
func childOf(s string) bson.D {
	return roomy(bson.D{
		{Key: "_id", Value: s}, {Key: "post", Value: s}, {Key: "time", Value: noon(0)}, {Key: "text", Value: s},
		{Key: "by", Value: roomy(bson.D{{Key: "name", Value: s}, {Key: "mail", Value: s}})},
	})
}

// heldOf is what a post holds of a child.
func heldOf(s string) bson.D {
	return bson.D{
		{Key: "_id", Value: s}, {Key: "text", Value: s},
		{Key: "by", Value: bson.D{{Key: "name", Value: s}}},
		{Key: "time", Value: noon(0)},
	}
}

// subsetOf is the post s, which holds the first two of its three children, and another without children.
func subsetOf(s string) testkit.Docs {
	var children []any
	for _, id := range []string{s, s + "2", s + "3"} {
		child := childOf(id)
		child[1].Value = s
		children = append(children, child)
	}
	return testkit.Docs{"anything": children, "posts": {
		bson.D{{Key: "_id", Value: s}, {Key: "recent", Value: bson.A{heldOf(s), heldOf(s + "2")}}},
		bson.D{{Key: "_id", Value: s + "9"}},
	}}
}

func subsetCases() []Case {
	return []Case{
		{
			Method: "subset.Subset.Refresh", Reason: "what the children say",
			Make: func(s string) any { return firstTwo.Refresh(s) },

			State: asRead(func(s string) model.Change { return firstTwo.Refresh(s) }, func(s string) testkit.Docs {
				return testkit.Docs{
					"anything": {childOf(s)},
					"posts":    {bson.D{{Key: "_id", Value: s}, {Key: "recent", Value: bson.A{s}}}},
				}
			}),
		},
		{
			Method: "subset.Subset.Rest", Reason: "after the last that the parent holds",
			From: func(s string) ([]any, func() any) {
				doc := roomy(bson.D{{Key: "_id", Value: s}, {Key: "recent", Value: roomy(bson.A{heldOf(s + "2"), heldOf(s)})}})
				return []any{doc}, func() any { return firstTwo.Rest(&doc) }
			},
		},
		{Method: "subset.Subset.Rest", Reason: "of a parent that holds none", From: func(s string) ([]any, func() any) {
			doc := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{doc}, func() any { return firstTwo.Rest(&doc) }
		}},
		{Method: "subset.Subset.Children", Reason: "in order", Make: func(s string) any { return firstTwo.Children(s) }},
		{Method: "subset.Subset.Checks", Reason: "of all parents", Make: func(string) any { return firstTwo.Checks()[0] }},
		{Method: "subset.Subset.Checks", Reason: "of some, whole children", From: func(s string) ([]any, func() any) {
			filter := roomy(bson.D{{Key: "_id", Value: s}})
			return []any{filter}, func() any { return wholeFirst.Checks()[0].In(filter) }
		}},
		{Method: "subset.Subset.Checks", Reason: "mend as it was found", From: func(s string) ([]any, func() any) {
			check := firstTwo.Checks()[0]
			found := findings(check, bson.D{
				{Key: "_id", Value: s}, {Key: "found", Value: bson.A{heldOf(s + "2")}}, {Key: "want", Value: bson.A{heldOf(s)}},
			})
			return []any{found}, func() any { return check.Mend(found) }
		}},
		{Method: "subset.Subset.Indexes", Reason: "children in order", Make: func(string) any { return firstTwo.Indexes() }},
	}
}
