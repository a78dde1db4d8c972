package columns_test

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
	inBatchesOf   = testkit.InBatchesOf
	parallel      = testkit.Parallel
	runWriteCases = testkit.RunWriteCases

	errRefused = testkit.ErrRefused
	wantError  = testkit.WantError
	wantDocs   = testkit.WantDocs
	panicOf    = testkit.PanicOf

	findingsOf          = testkit.FindingsOf
	mended              = testkit.Mended
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
	wantStepsIndexed    = testkit.WantStepsIndexed
)
