// The whole package: how each kind of tree is asked the questions of tree_answers_test.go.

package paths_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errUnasked says that a method isn't for a question.
var errUnasked = errors.New("can't be asked")

// answerers are all implementations; the first version is the one in memory.
func answerers(t *testing.T, db *mongo.Database) []answerer {
	out := []answerer{answersOfForest()}
	for _, k := range append(append(slices.Clone(pathstest.Kinds), pathstest.Named), pathstest.NestedKinds[1].Kind) {
		if db != nil {
			k.Ensure(t, db)
		}
		out = append(out, answersOfKind(k, t, db))
	}
	for _, f := range pathstest.DocumentForms {
		out = append(out, answersOfForm(f, t, db))
	}
	return out
}

func answersOfForest() answerer {
	f := &paths.Forest[string]{}
	list := func(of func(string) ([]string, error)) func(question) (string, error) {
		return func(q question) (string, error) { return said(of(q.id)) }
	}
	return answerer{"Forest", []any{f}, map[string]func(question) (string, error){
		"Parent": func(q question) (string, error) {
			parent, ok, err := f.Parent(q.id)
			return fmt.Sprint(parent, ok), err
		},
		"Children":    list(func(id string) ([]string, error) { return f.Children(id) }),
		"Ancestors":   list(func(id string) ([]string, error) { return f.Ancestors(id) }),
		"Descendants": func(q question) (string, error) { return said(f.Descendants(q.id, q.depth)) },
		"Insert":      func(q question) (string, error) { return "", f.Insert(q.id, q.at) },
		"Move":        func(q question) (string, error) { return "", f.Move(q.id, q.at) },
		"Delete":      func(q question) (string, error) { return "", f.Delete(q.id, q.mode) },
	}, func(notation string) { *f = *pathstest.Parse(notation) }, func() string { return pathstest.Shape(f) }}
}

// said is an answer in words.
func said[T any](v T, err error) (string, error) {
	return strings.Trim(fmt.Sprint(v), "[]"), err
}

func answersOfKind(k pathstest.Kind, t *testing.T, db *mongo.Database) answerer {
	ctx, tree := t.Context(), k.Tree
	run := func(c model.Change) (string, error) { _, err := c.Run(ctx, db); return "", err }
	list := func(docs []pathstest.Category, err error) (string, error) { return said(pathstest.IDs(docs, err)) }
	rolled := pathstest.RollUpItems(k)
	a := answerer{k.Name, []any{tree, rolled}, map[string]func(question) (string, error){
		"Children":  func(q question) (string, error) { return list(k.Find(ctx, db, q.id, tree.Children)) },
		"Siblings":  func(q question) (string, error) { return list(k.Find(ctx, db, q.id, tree.Siblings)) },
		"Ancestors": func(q question) (string, error) { return list(k.Ask(ctx, db, q.id, tree.Ancestors)) },
		"Links": func(q question) (string, error) {
			n, err := tree.Links(q.id).One(ctx, db)
			return n.ID, err
		},
		"Leaves": func(q question) (string, error) { // the notation's names are in preorder
			leaves, err := pathstest.IDs(k.Ask(ctx, db, q.id, tree.Leaves))
			slices.Sort(leaves)
			return said(leaves, err)
		},
		"Descendants": func(q question) (string, error) { return list(k.ReadBelow(ctx, db, q.id, q.depth)) },
		"Arrange": func(q question) (string, error) {
			visits, err := k.Walk(ctx, db, q.id, 0)
			var out []string
			for _, v := range visits {
				out = append(out, fmt.Sprint(v.Doc.ID, v.Depth))
			}
			return said(out, err)
		},
		"Insert": func(q question) (string, error) {
			return run(tree.Insert(pathstest.Category{ID: q.id, Name: q.id}, q.at))
		},
		"Move":      func(q question) (string, error) { return run(tree.Move(q.id, q.at)) },
		"Delete":    func(q question) (string, error) { return run(tree.Delete(q.id, q.mode)) },
		"Rebalance": func(q question) (string, error) { return run(tree.Rebalance(&q.id)) },
		"Rename": func(q question) (string, error) {
			if k.Name != pathstest.Named.Name { // others refuse it, whatever the node
				return "", errUnasked
			}
			return run(tree.Rename(q.id, "new"))
		},
		"Total": func(q question) (string, error) {
			n, err := pathstest.FindNode(ctx, db, k.Docs, q.id)
			if err != nil {
				return "", err
			}
			return said(rolled.Total(n).One(ctx, db))
		},
		"RollUp.Children": func(q question) (string, error) {
			n, err := pathstest.FindNode(ctx, db, k.Docs, q.id)
			if err != nil {
				return "", err
			}
			totals, err := rolled.Children(ctx, db, n)
			return fmt.Sprint(len(totals)), err
		},
	}, func(notation string) { k.Store(t, db, pathstest.Parse(notation)) },
		func() string { return pathstest.Shape(k.ReadForest(t, db)) }}
	return a
}

func answersOfForm(f pathstest.DocumentForm, t *testing.T, db *mongo.Database) answerer {
	ctx, tree := t.Context(), f.Tree
	run := func(c model.Change) (string, error) { _, err := c.Run(ctx, db); return "", err }
	flat := func(can bool, w model.Write) (string, error) {
		if !can || f.Spec.Nested != "" {
			return "", errUnasked
		}
		_, err := w.Run(ctx, db)
		return "", err
	}
	fields := bson.D{{Key: "text", Value: "x"}}
	list := func(q question, found *model.Aggregate[pathstest.Remark]) (string, error) {
		if found.Err == nil {
			if _, err := tree.Node("p", q.id).One(ctx, db); err != nil {
				return "", err
			}
		}
		nodes, err := found.All(ctx, db)
		return said(pathstest.RemarkIDs(nodes), err)
	}
	return answerer{f.Name, []any{tree}, map[string]func(question) (string, error){
		"Arrange": func(q question) (string, error) {
			forest, err := f.ReadForest(ctx, db, "p")
			if err != nil {
				return "", err
			}
			if !pathstest.Contains(forest, q.id) {
				return "", model.ErrNotFound
			}
			return said(pathstest.WalkIDs(forest, q.id), nil)
		},
		"Node":     func(q question) (string, error) { return list(q, tree.Node("p", q.id)) },
		"Children": func(q question) (string, error) { return list(q, tree.Children("p", q.id)) },
		"Parent": func(q question) (string, error) {
			parent, err := list(q, tree.Parent("p", q.id))
			return fmt.Sprint(parent, parent != ""), err
		},
		"Siblings":    func(q question) (string, error) { return list(q, tree.Siblings("p", q.id)) },
		"Ancestors":   func(q question) (string, error) { return list(q, tree.Ancestors("p", q.id)) },
		"Descendants": func(q question) (string, error) { return list(q, tree.Descendants("p", q.id, q.depth)) },
		"Leaves":      func(q question) (string, error) { return list(q, tree.Leaves("p", q.id)) },
		"Insert": func(q question) (string, error) {
			return run(
				tree.Insert("p", pathstest.Remark{ID: q.id}, q.at),
			)
		},
		"Move":    func(q question) (string, error) { return run(tree.Move("p", q.id, q.at)) },
		"Delete":  func(q question) (string, error) { return run(tree.Delete("p", q.id, q.mode)) },
		"Set":     func(q question) (string, error) { return run(tree.Set("p", q.id, fields)) },
		"Replace": func(q question) (string, error) { return run(tree.Replace("p", pathstest.Remark{ID: q.id})) },
		"Patch":   func(q question) (string, error) { return flat(true, tree.Patch("p", q.id, fields)) },
		"Pull":    func(q question) (string, error) { return flat(q.mode == paths.Restrict, tree.Pull("p", q.id)) },
		"Push": func(q question) (string, error) {
			place := q.at.String()
			return flat(
				f.Spec.Order == "" && (q.ref == "" || strings.Contains(place, "child")),
				tree.Push("p", pathstest.Remark{ID: q.id, Text: "pushed"}, q.at),
			)
		},
	}, func(notation string) { f.Grow(t, db, notation) }, func() string { return f.Shape(t, db) }}
}
