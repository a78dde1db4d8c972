// Checks of trees, and their repairs.

package pathstest

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
)

// Inspect returns the findings of a tree's check.
func Inspect[D, K any](ctx context.Context, db model.DB, t *paths.Tree[D, K]) ([]model.Finding, error) {
	return t.Checks()[0].All(ctx, db)
}

// ReadKind returns the kind of a finding.
func ReadKind(f model.Finding) string { return f.Detail.Lookup("kind").StringValue() }

// A Runner is a change of a tree or its repair. Tests of cuts treat both alike.
type Runner interface {
	Run(context.Context, model.DB) (model.Result, error)
}

// Mending is the repair of all findings of a check.
type Mending struct{ Check model.Check }

// MendTree returns the repair of a tree, as a Runner.
func MendTree[D, K any](t *paths.Tree[D, K]) Mending { return Mending{t.Checks()[0]} }

func (m Mending) Run(ctx context.Context, db model.DB) (model.Result, error) {
	return m.Check.MendAll(ctx, db, 0)
}
