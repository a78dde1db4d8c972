package paths_test

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
)

// inspect is what the check of a tree finds.
func inspect[D, K any](ctx context.Context, db model.DB, t *paths.Tree[D, K]) ([]model.Finding, error) {
	return t.Checks()[0].All(ctx, db)
}

// wrong is the kind of a finding.
func wrong(f model.Finding) string { return f.Detail.Lookup("kind").StringValue() }

// A runner is a change of a tree, or what mends it.
type runner interface {
	Run(context.Context, model.DB) (any, model.Result, error)
}

// mending runs a check's MendAll.
type mending struct{ check model.Check }

func mends[D, K any](t *paths.Tree[D, K]) mending { return mending{t.Checks()[0]} }

func (m mending) Run(ctx context.Context, db model.DB) (_ any, _ model.Result, _ error) {
	result, err := m.check.MendAll(ctx, db, 0)
	return nil, result, err
}
