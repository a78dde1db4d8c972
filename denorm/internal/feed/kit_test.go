package feed_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs = testkit.Docs
)

var (
	e           = testkit.E
	seed        = testkit.Seed
	store       = testkit.Store
	inBatchesOf = testkit.InBatchesOf
	parallel    = testkit.Parallel
	everyPair   = testkit.EveryPair
	runFaults   = testkit.RunFaults
)
