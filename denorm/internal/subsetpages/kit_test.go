package subsetpages_test

import "github.com/docmodel/docmodel/internal/testkit"

type docs = testkit.Docs

var (
	e                = testkit.E
	seed             = testkit.Seed
	exec             = testkit.Exec
	mustExec         = testkit.MustExec
	inTurn           = testkit.InTurn
	parallel         = testkit.Parallel
	runFaults        = testkit.RunFaults
	changed          = testkit.Changed
	wantError        = testkit.WantError
	wantDocs         = testkit.WantDocs
	findingsOf       = testkit.FindingsOf
	checkJob         = testkit.CheckJob
	createIndexes    = testkit.CreateIndexes
	wantNothingFound = testkit.WantNothingFound
	errRefused       = testkit.ErrRefused
)
