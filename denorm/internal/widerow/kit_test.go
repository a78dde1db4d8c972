package widerow_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	dbFunc    = testkit.DBFunc
	docs      = testkit.Docs
	operation = testkit.Operation
)

var (
	e             = testkit.E
	marshal       = testkit.Marshal
	token         = testkit.Token
	seed          = testkit.Seed
	store         = testkit.Store
	updates       = testkit.Updates
	mustExec      = testkit.MustExec
	inTurn        = testkit.InTurn
	createIndexes = testkit.CreateIndexes
	parallel      = testkit.Parallel
	everyPair     = testkit.EveryPair
	runFaults     = testkit.RunFaults

	errRefused       = testkit.ErrRefused
	wantError        = testkit.WantError
	foundBy          = testkit.FoundBy
	mended           = testkit.Mended
	mendedByJobs     = testkit.MendedByJobs
	emptyFinding     = testkit.EmptyFinding
	wantReadsIndexed = testkit.WantReadsIndexed
)
