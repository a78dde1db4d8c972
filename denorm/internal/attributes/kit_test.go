package attributes_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	writeCase = testkit.WriteCase
)

var (
	e             = testkit.E
	marshal       = testkit.Marshal
	seed          = testkit.Seed
	store         = testkit.Store
	parallel      = testkit.Parallel
	runWriteCases = testkit.RunWriteCases

	errRefused = testkit.ErrRefused
	wantError  = testkit.WantError
	wantDocs   = testkit.WantDocs

	wantStepsIndexed = testkit.WantStepsIndexed
)
