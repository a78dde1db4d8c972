package denorm_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs = testkit.Docs
)

var (
	e        = testkit.E
	seed     = testkit.Seed
	store    = testkit.Store
	exec     = testkit.Exec
	mustExec = testkit.MustExec
	parallel = testkit.Parallel

	errRefused = testkit.ErrRefused
	wantError  = testkit.WantError
	wantDocs   = testkit.WantDocs

	foundBy          = testkit.FoundBy
	wantStepsIndexed = testkit.WantStepsIndexed
)
