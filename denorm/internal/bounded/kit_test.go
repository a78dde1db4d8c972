package bounded_test

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
	mustExec      = testkit.MustExec
	parallel      = testkit.Parallel
	interleaved   = testkit.Interleaved
	runWriteCases = testkit.RunWriteCases

	errRefused = testkit.ErrRefused
	wantError  = testkit.WantError
	wantDocs   = testkit.WantDocs
	panicOf    = testkit.PanicOf

	findingsOf          = testkit.FindingsOf
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
	wantStepsIndexed    = testkit.WantStepsIndexed
)
