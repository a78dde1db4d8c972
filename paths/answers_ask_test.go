package paths_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// errUnasked says that a method isn't for a question.
var errUnasked = errors.New("can't be asked")

// answerers are all implementations; the first is the one in memory.
func answerers(t *testing.T, db *mongo.Database) []answerer {
	out := []answerer{answersOfForest()}
	for _, k := range append(append(slices.Clone(kinds), named), nestedKinds[1].kind) {
		if db != nil {
			k.ensure(t, db)
		}
		out = append(out, k.answers(t, db))
	}
	for _, f := range documentForms {
		out = append(out, f.answers(t, db))
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
		"Depth":    func(q question) (string, error) { return said(f.Depth(q.id)) },
		"Children": list(func(id string) ([]string, error) { return f.Children(id) }), "Siblings": list(func(id string) ([]string, error) { return f.Siblings(id) }),
		"Ancestors": list(func(id string) ([]string, error) { return f.Ancestors(id) }), "Leaves": list(func(id string) ([]string, error) { return f.Leaves(id) }),
		"Descendants": func(q question) (string, error) { return said(f.Descendants(q.id, q.depth)) },
		"Count":       func(q question) (string, error) { return said(f.Count(q.id)) },
		"IsAncestor":  func(q question) (string, error) { return said(f.IsAncestor(q.other, q.id)) },
		"CommonAncestor": func(q question) (string, error) {
			id, ok, err := f.CommonAncestor(q.id, q.other)
			return fmt.Sprint(id, ok), err
		},
		"Walk": func(q question) (string, error) {
			var out []string
			for v, err := range f.Walk(q.id) {
				if err != nil {
					return "", err
				}
				out = append(out, fmt.Sprint(v.Doc, v.Depth))
			}
			return said(out, nil)
		},
		"Insert": func(q question) (string, error) { return "", f.Insert(q.id, q.at) },
		"Move":   func(q question) (string, error) { return "", f.Move(q.id, q.at) },
		"Delete": func(q question) (string, error) { return "", f.Delete(q.id, q.mode) },
	}, func(notation string) { *f = *parse(notation) }, func() string { return shape(f) }}
}

// said is an answer in words.
func said[T any](v T, err error) (string, error) {
	return strings.Trim(fmt.Sprint(v), "[]"), err
}

func (k kind) answers(t *testing.T, db *mongo.Database) answerer {
	ctx, tree := t.Context(), k.tree
	run := func(c model.Change[paths.State]) (string, error) { _, _, err := c.Run(ctx, db); return "", err }
	list := func(docs []category, err error) (string, error) { return said(ids(docs, err)) }
	rolled := k.rollUp()
	a := answerer{k.name, []any{tree, rolled}, map[string]func(question) (string, error){
		"Children":    func(q question) (string, error) { return list(tree.Children(ctx, db, q.id)) },
		"Siblings":    func(q question) (string, error) { return list(tree.Siblings(ctx, db, q.id)) },
		"Ancestors":   func(q question) (string, error) { return list(tree.Ancestors(ctx, db, q.id)) },
		"Leaves":      func(q question) (string, error) { return list(tree.Leaves(ctx, db, q.id)) },
		"Descendants": func(q question) (string, error) { return list(tree.Descendants(ctx, db, q.id, q.depth)) },
		"Count":       func(q question) (string, error) { return said(tree.Count(ctx, db, q.id)) },
		"IsAncestor":  func(q question) (string, error) { return said(tree.IsAncestor(ctx, db, q.other, q.id)) },
		"CommonAncestor": func(q question) (string, error) {
			doc, ok, err := tree.CommonAncestor(ctx, db, q.id, q.other)
			return fmt.Sprint(doc.ID, ok), err
		},
		"Walk": func(q question) (string, error) {
			var out []string
			for v, err := range tree.Walk(ctx, db, q.id) {
				if err != nil {
					return "", err
				}
				out = append(out, fmt.Sprint(v.Doc.ID, v.Depth))
			}
			return said(out, nil)
		},
		"Insert":    func(q question) (string, error) { return run(tree.Insert(category{ID: q.id, Name: q.id}, q.at)) },
		"Move":      func(q question) (string, error) { return run(tree.Move(q.id, q.at)) },
		"Delete":    func(q question) (string, error) { return run(tree.Delete(q.id, q.mode)) },
		"Rebalance": func(q question) (string, error) { return run(tree.Rebalance(&q.id)) },
		"Rename": func(q question) (string, error) {
			if k.name != named.name { // others refuse it, whatever the node
				return "", errUnasked
			}
			return run(tree.Rename(q.id, "new"))
		},
		"Of": func(q question) (string, error) { return said(rolled.Of(ctx, db, q.id)) },
		"RollUp.Children": func(q question) (string, error) {
			totals, err := rolled.Children(ctx, db, q.id)
			return fmt.Sprint(len(totals)), err
		},
	}, func(notation string) { k.store(t, db, parse(notation)) }, func() string { return shape(k.stored(t, db)) }}
	return a
}

func (f documentForm) answers(t *testing.T, db *mongo.Database) answerer {
	ctx, tree := t.Context(), f.tree
	run := func(c model.Change[paths.DocumentState]) (string, error) { _, _, err := c.Run(ctx, db); return "", err }
	list := func(docs []remark, err error) (string, error) {
		var out []string
		for _, d := range docs {
			out = append(out, d.ID)
		}
		return said(out, err)
	}
	flat := func(can bool, w model.Write) (string, error) {
		if !can || f.spec.Nested != "" {
			return "", errUnasked
		}
		_, err := w.Run(ctx, db)
		return "", err
	}
	fields := bson.D{{Key: "text", Value: "x"}}
	return answerer{f.name, []any{tree}, map[string]func(question) (string, error){
		"Children":    func(q question) (string, error) { return list(tree.Children(ctx, db, "p", q.id)) },
		"Siblings":    func(q question) (string, error) { return list(tree.Siblings(ctx, db, "p", q.id)) },
		"Ancestors":   func(q question) (string, error) { return list(tree.Ancestors(ctx, db, "p", q.id)) },
		"Leaves":      func(q question) (string, error) { return list(tree.Leaves(ctx, db, "p", q.id)) },
		"Descendants": func(q question) (string, error) { return list(tree.Descendants(ctx, db, "p", q.id, q.depth)) },
		"Count":       func(q question) (string, error) { return said(tree.Count(ctx, db, "p", q.id)) },
		"IsAncestor":  func(q question) (string, error) { return said(tree.IsAncestor(ctx, db, "p", q.other, q.id)) },
		"CommonAncestor": func(q question) (string, error) {
			doc, ok, err := tree.CommonAncestor(ctx, db, "p", q.id, q.other)
			return fmt.Sprint(doc.ID, ok), err
		},
		"Subtree": func(q question) (string, error) {
			visits, err := tree.Subtree(ctx, db, "p", q.id)
			var out []string
			for _, v := range visits {
				out = append(out, fmt.Sprint(v.Doc.ID, v.Depth))
			}
			return said(out, err)
		},
		"Insert":  func(q question) (string, error) { return run(tree.Insert("p", remark{ID: q.id}, q.at)) },
		"Move":    func(q question) (string, error) { return run(tree.Move("p", q.id, q.at)) },
		"Delete":  func(q question) (string, error) { return run(tree.Delete("p", q.id, q.mode)) },
		"Set":     func(q question) (string, error) { return run(tree.Set("p", q.id, fields)) },
		"Replace": func(q question) (string, error) { return run(tree.Replace("p", remark{ID: q.id})) },
		"Patch":   func(q question) (string, error) { return flat(true, tree.Patch("p", q.id, fields)) },
		"Pull":    func(q question) (string, error) { return flat(q.mode == paths.Restrict, tree.Pull("p", q.id)) },
		"Push": func(q question) (string, error) {
			place := q.at.String()
			return flat(f.spec.Order == "" && (q.ref == "" || strings.Contains(place, "child")), tree.Push("p", remark{ID: q.id, Text: "pushed"}, q.at))
		},
	}, func(notation string) { f.grow(t, db, notation) }, func() string { return f.shape(t, db) }}
}
