package bucket_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	writeCase = testkit.WriteCase
)

var (
	seed                = testkit.Seed
	store               = testkit.Store
	createIndexes       = testkit.CreateIndexes
	parallel            = testkit.Parallel
	interleaved         = testkit.Interleaved
	runWriteCases       = testkit.RunWriteCases
	errRefused          = testkit.ErrRefused
	wantError           = testkit.WantError
	wantDocs            = testkit.WantDocs
	findingsOf          = testkit.FindingsOf
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
)
