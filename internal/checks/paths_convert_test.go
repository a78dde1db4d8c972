package checks

import (
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	tree := byParent.Tree(paths.TreeSpec{})
	made := func(n treeNode) (bson.D, error) {
		return bson.D{{Key: "id", Value: n.ID}, {Key: "text", Value: n.Name}}, nil
	}
	same := func(d bson.D) (bson.D, error) { return d, nil }
	absorbed := func(id, parent, order string) paths.Absorbed {
		raw := rawDoc(bson.D{{Key: "id", Value: id}, {Key: "text", Value: id}, {Key: "up", Value: parent}})
		a := paths.Absorbed{Node: rawDoc(bson.D{{Key: "id", Value: id}, {Key: "text", Value: id}}), Parent: raw.Lookup("up"), Order: order}
		if parent == "" {
			a.Parent = bson.RawValue{Type: bson.TypeNull}
		}
		return a
	}
	grows := func(of func(string) any) func(string) any {
		return func(s string) any {
			return paths.AbsorbState{Owner: of(s).(paths.DocumentState), Nodes: []paths.Absorbed{
				absorbed(s, "", "a0"), absorbed(s+"2", s, "a0"), absorbed(s+"3", s+"2", "a0"), absorbed(s+"5", s, "a1"), absorbed(s+"4", "", "a1"),
			}}
		}
	}
	less := func(s string) any {
		return paths.AbsorbState{Owner: thread(s).(paths.DocumentState), Nodes: []paths.Absorbed{absorbed(s+"4", "", "a0")}}
	}
	register(
		Case{Method: "paths.Absorb", Reason: "into a flat list", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, listedComments, any(s), made, paths.AbsorbSpec[string]{})
		}, State: grows(thread)},
		Case{Method: "paths.Absorb", Reason: "a subtree, with order keys and a revision", MayRefuse: tooLong, From: func(s string) ([]any, func() any) {
			top := &s
			return []any{top}, func() any {
				return paths.Absorb(tree, keyedComments, any("p1"), made, paths.AbsorbSpec[string]{Top: top})
			}
		}, State: grows(keyedThread)},
		Case{Method: "paths.Absorb", Reason: "nested", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, nestedComments, any(s), made, paths.AbsorbSpec[string]{})
		}, State: grows(nestedThread)},
		Case{Method: "paths.Absorb", Reason: "nodes that go", MayRefuse: tooLong, Make: func(s string) any {
			return paths.Absorb(tree, listedComments, any(s), made, paths.AbsorbSpec[string]{Delete: true})
		}, State: less},
		Case{Method: "paths.ConvertDocument", Reason: "a flat list nested", MayRefuse: tooLong, From: func(s string) ([]any, func() any) {
			of, owner := bson.D{{Key: "k", Value: s}}, bson.D{{Key: "k", Value: s + "2"}}
			return []any{of, owner}, func() any {
				return paths.ConvertDocument(listedComments, any(of), nestedComments, any(owner), same, paths.AbsorbSpec[string]{})
			}
		}, State: grows(func(string) any { return listState() })},
	)
}
