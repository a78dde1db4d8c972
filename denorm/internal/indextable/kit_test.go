package indextable_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	dbFunc    = testkit.DBFunc
	operation = testkit.Operation
)

var (
	e            = testkit.E
	marshal      = testkit.Marshal
	token        = testkit.Token
	seed         = testkit.Seed
	updates      = testkit.Updates
	exec         = testkit.Exec
	mustExec     = testkit.MustExec
	runJob       = testkit.RunJob
	parallel     = testkit.Parallel
	everyPair    = testkit.EveryPair
	interleaved  = testkit.Interleaved
	runFaults    = testkit.RunFaults
	wantDocs     = testkit.WantDocs
	wantError    = testkit.WantError
	foundBy      = testkit.FoundBy
	mended       = testkit.Mended
	mendedNow    = testkit.MendedNow
	mendedByJobs = testkit.MendedByJobs
	emptyFinding = testkit.EmptyFinding
)
