package checks

import (
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	registerRollUp("parents", byParent)
	registerRollUp("ancestors", byArray)
	registerRollUp("paths", byPath)
	nested := paths.NewRollUp[float64](nestedOnes, "price", "sums")
	register(
		ofDocs("paths.RollUp.Total", "nested: a range of numbers",
			func(s string) []*bson.D { return []*bson.D{nestedNode(s, nil, "a0", 1, 8, 0)} },
			func(d []*bson.D) any { return nested.Total(d[0]) }),
		ofDocs("paths.RollUp.Branches", "nested: ranges within one", func(s string) []*bson.D {
			return []*bson.D{
				nestedNode(s, nil, "a0", 1, 8, 0), nestedNode(s+"1", s, "a0", 2, 3, 1), nestedNode(s+"2", s, "a1", 4, 5, 1),
				nestedNode(s+"3", s, "a2", 6, 7, 1),
			}
		}, func(d []*bson.D) any { return nested.Branches(d[0], []bson.D{*d[1], *d[2], *d[3]}) }),
		Case{
			Method: "paths.RollUp.Store", Reason: "nested, with fractions", Make: func(string) any { return nested.Store() },
			State: func(s string) any {
				return []bson.Raw{rawDoc(append(*nestedNode(s, nil, "a0", 1, 2, 0), bson.E{Key: "price", Value: 2.5}))}
			},
		},
	)
}

func ofDocs(method, reason string, docs func(s string) []*bson.D, call func(d []*bson.D) any) Case {
	c := ofNodes("", reason, docs, call)
	c.Method, c.Reason = method, reason
	return c
}

func registerRollUp(name string, t *paths.Tree[treeNode, string]) {
	up := paths.NewRollUp[int64](t, "items", "total")
	register(
		Case{Method: "paths.RollUp.Total", Reason: name, MayRefuse: badSegment, From: func(s string) ([]any, func() any) {
			n := treeRoot(s, "a0")
			return []any{n}, func() any { return up.Total(n) }
		}},
		Case{
			Method: "paths.RollUp.Branches", Reason: name + ": children", MayRefuse: badSegment,
			From: func(s string) ([]any, func() any) {
				n := treeChild(treeRoot("clothes", "a0"), s, "a0")
				children := []treeNode{*treeChild(n, "x", "a0"), *treeChild(n, "y", "a1")}
				return []any{n, children}, func() any { return up.Branches(n, children) }
			},
		},
		Case{
			Method: "paths.RollUp.Branches", Reason: name + ": the roots", MayRefuse: badSegment,
			From: func(s string) ([]any, func() any) {
				roots := []treeNode{*treeRoot(s, "a0")}
				return []any{roots}, func() any { return up.Branches(nil, roots) }
			},
		},
		Case{
			Method: "paths.RollUp.Store", Reason: name + ": those that differ", Make: func(string) any { return up.Store() },
			State: func(s string) any {
				a := treeRoot(s, "a0")
				b, c := treeChild(a, s+"2", "a0"), treeChild(a, s+"3", "a1")
				a.Items, b.Items, c.Total = 3, 4, &paths.Totals[int64]{Nodes: 1}
				return []bson.Raw{treeRaw(a), treeRaw(b), treeRaw(c)}
			},
		},
	)
}
