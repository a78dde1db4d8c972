package inverted_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs      = testkit.Docs
	operation = testkit.Operation
)

var (
	e           = testkit.E
	token       = testkit.Token
	seed        = testkit.Seed
	exec        = testkit.Exec
	mustExec    = testkit.MustExec
	inBatchesOf = testkit.InBatchesOf
	parallel    = testkit.Parallel
	everyPair   = testkit.EveryPair
	interleaved = testkit.Interleaved
	runFaults   = testkit.RunFaults
	wantError   = testkit.WantError
	errRefused  = testkit.ErrRefused
	foundBy     = testkit.FoundBy
	mendedNow   = testkit.MendedNow
)
