package counter_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	dbFunc    = testkit.DBFunc
	operation = testkit.Operation
)

var (
	e                = testkit.E
	marshal          = testkit.Marshal
	token            = testkit.Token
	seed             = testkit.Seed
	store            = testkit.Store
	updates          = testkit.Updates
	exec             = testkit.Exec
	mustExec         = testkit.MustExec
	inTurn           = testkit.InTurn
	createIndexes    = testkit.CreateIndexes
	parallel         = testkit.Parallel
	everyPair        = testkit.EveryPair
	runFaults        = testkit.RunFaults
	errRefused       = testkit.ErrRefused
	wantError        = testkit.WantError
	foundBy          = testkit.FoundBy
	mended           = testkit.Mended
	mendedNow        = testkit.MendedNow
	mendedByJobs     = testkit.MendedByJobs
	wantReadsIndexed = testkit.WantReadsIndexed
)
