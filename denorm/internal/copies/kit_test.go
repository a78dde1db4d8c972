package copies_test

import "github.com/docmodel/docmodel/internal/testkit"

type docs = testkit.Docs

var (
	e           = testkit.E
	seed        = testkit.Seed
	store       = testkit.Store
	updates     = testkit.Updates
	exec        = testkit.Exec
	mustExec    = testkit.MustExec
	runJob      = testkit.RunJob
	inBatchesOf = testkit.InBatchesOf
	inTurn      = testkit.InTurn
	parallel    = testkit.Parallel
	everyPair   = testkit.EveryPair
	interleaved = testkit.Interleaved
	runFaults   = testkit.RunFaults

	errRefused   = testkit.ErrRefused
	wantError    = testkit.WantError
	wantDocs     = testkit.WantDocs
	foundBy      = testkit.FoundBy
	mended       = testkit.Mended
	mendedNow    = testkit.MendedNow
	mendedByJobs = testkit.MendedByJobs
	emptyFinding = testkit.EmptyFinding
)
