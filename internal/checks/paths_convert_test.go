package checks

import (
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	tree, made := byParent, commentFrom
	same := func(d bson.D) (bson.D, error) { return d, nil }
	// grows is what a conversion reads: the list of an owner, and s(s2(s3) s5) s4 to be in it.
	grows := func(t *commentTree, list func(s string) []any) func(string) any {
		return absorbing(t, list, func(s string) []*treeNode {
			root := treeNamed(s, nil, "a0")
			second := treeNamed(s+"2", root, "a0")
			return []*treeNode{
				root, second, treeNamed(s+"3", second, "a0"), treeNamed(s+"5", root, "a1"), treeNamed(s+"4", nil, "a1"),
			}
		})
	}
	less := absorbing(listedComments, thread, func(s string) []*treeNode {
		return []*treeNode{treeNamed(s+"4", nil, "a0")}
	})
	other := paths.NewParentTree(treeNodes.Named("other"), paths.TreeSpec{})
	register(
		Case{Method: "paths.ConvertInto", Reason: "under a node", From: func(s string) ([]any, func() any) {
			under := &s
			return []any{under}, func() any {
				return paths.ConvertInto(tree, other, func(n treeNode) (treeNode, error) { return n, nil },
					paths.IntoSpec[string]{Under: under})
			}
		}},
		Case{Method: "paths.ConvertInto", Reason: "under an empty id is refused", Make: func(string) any {
			return paths.ConvertInto(tree, other, func(n treeNode) (treeNode, error) { return n, nil },
				paths.IntoSpec[string]{Under: new(string)})
		}},
		Case{Method: "paths.Extract", Reason: "of an owner", From: func(s string) ([]any, func() any) {
			owner := bson.D{{Key: "k", Value: s}}
			return []any{owner}, func() any {
				return paths.Extract(listedComments, any(owner), other, func(d bson.D) (treeNode, error) { return treeNode{}, nil },
					paths.IntoSpec[string]{})
			}
		}},
		Case{Method: "paths.Absorb", Reason: "into a flat list", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, listedComments, any(s), made, paths.AbsorbSpec[string]{})
		}, State: grows(listedComments, thread)},
		Case{
			Method:    "paths.Absorb",
			Reason:    "a subtree, with order keys and a revision",
			MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				top := &s
				return []any{top}, func() any {
					return paths.Absorb(tree, keyedComments, any("p1"), made, paths.AbsorbSpec[string]{Top: top})
				}
			},
			State: grows(keyedComments, keyedThread),
		},
		Case{Method: "paths.Absorb", Reason: "nested", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, nestedComments, any(s), made, paths.AbsorbSpec[string]{})
		}, State: grows(nestedComments, nestedThread)},
		Case{Method: "paths.Absorb", Reason: "nodes that go", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, listedComments, any(s), made, paths.AbsorbSpec[string]{Delete: true})
		}, State: less},
		Case{
			Method: "paths.ConvertDocument", Reason: "a flat list nested", MayRefuse: tooLong,
			From: func(s string) ([]any, func() any) {
				of, owner := bson.D{{Key: "k", Value: s}}, bson.D{{Key: "k", Value: s + "2"}}
				return []any{of, owner}, func() any {
					return paths.ConvertDocument(listedComments, any(of), nestedComments, any(owner), same, paths.AbsorbSpec[string]{})
				}
			},
			State: grows(nestedComments, func(string) []any { return nil }),
		},
	)
}

func commentFrom(n treeNode) (bson.D, error) {
	return bson.D{{Key: "id", Value: n.ID}, {Key: "text", Value: n.Name}}, nil
}

// treeNamed is a category that has its id as its name.
func treeNamed(id string, parent *treeNode, order string) *treeNode {
	n := &treeNode{ID: id, Name: id, Order: order}
	if parent != nil {
		n.Parent = &parent.ID
	}
	return n
}

// absorbing is what a conversion into comments reads of an owner's list and of categories.
func absorbing(t *commentTree, list func(s string) []any, nodes func(s string) []*treeNode) func(string) any {
	return asRead(func(string) model.Change {
		return paths.Absorb(byParent, t, any("p"), commentFrom, paths.AbsorbSpec[string]{})
	}, func(s string) testkit.Docs {
		docs := ownerOf(s, list)
		for _, d := range kept(nodes(s)...) {
			docs["categories"] = append(docs["categories"], d)
		}
		return docs
	})
}
