package outlier_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	operation = testkit.Operation
)

var (
	e                   = testkit.E
	marshal             = testkit.Marshal
	token               = testkit.Token
	seed                = testkit.Seed
	store               = testkit.Store
	updates             = testkit.Updates
	exec                = testkit.Exec
	mustExec            = testkit.MustExec
	inBatchesOf         = testkit.InBatchesOf
	inTurn              = testkit.InTurn
	parallel            = testkit.Parallel
	everyPair           = testkit.EveryPair
	runFaults           = testkit.RunFaults
	errRefused          = testkit.ErrRefused
	wantError           = testkit.WantError
	wantErrorText       = testkit.WantErrorText
	wantDocs            = testkit.WantDocs
	findingsOf          = testkit.FindingsOf
	mended              = testkit.Mended
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
)
