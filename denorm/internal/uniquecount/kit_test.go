package uniquecount_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	writeCase = testkit.WriteCase
)

var (
	e             = testkit.E
	seed          = testkit.Seed
	exec          = testkit.Exec
	mustExec      = testkit.MustExec
	parallel      = testkit.Parallel
	runFaults     = testkit.RunFaults
	runWriteCases = testkit.RunWriteCases

	errRefused = testkit.ErrRefused
	wantError  = testkit.WantError
	wantDocs   = testkit.WantDocs
	panicOf    = testkit.PanicOf

	wantStepsIndexed = testkit.WantStepsIndexed
)
