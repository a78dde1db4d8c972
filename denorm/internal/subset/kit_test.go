package subset_test

import "github.com/docmodel/docmodel/internal/testkit"

type docs = testkit.Docs

var (
	e           = testkit.E
	token       = testkit.Token
	seed        = testkit.Seed
	exec        = testkit.Exec
	mustExec    = testkit.MustExec
	inBatchesOf = testkit.InBatchesOf
	inTurn      = testkit.InTurn
	parallel    = testkit.Parallel
	runFaults   = testkit.RunFaults

	wantError        = testkit.WantError
	wantDocs         = testkit.WantDocs
	foundBy          = testkit.FoundBy
	mended           = testkit.Mended
	mendedNow        = testkit.MendedNow
	mendedByJobs     = testkit.MendedByJobs
	emptyFinding     = testkit.EmptyFinding
	wantReadsIndexed = testkit.WantReadsIndexed
)
