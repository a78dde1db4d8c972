package numbered_test

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
	updates       = testkit.Updates
	exec          = testkit.Exec
	inBatchesOf   = testkit.InBatchesOf
	parallel      = testkit.Parallel
	runWriteCases = testkit.RunWriteCases

	errRefused          = testkit.ErrRefused
	wantError           = testkit.WantError
	wantDocs            = testkit.WantDocs
	findingsOf          = testkit.FindingsOf
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
)
