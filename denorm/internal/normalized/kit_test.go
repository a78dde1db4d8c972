package normalized_test

import "github.com/docmodel/docmodel/internal/testkit"

type (
	docs   = testkit.Docs
	dbFunc = testkit.DBFunc
)

var (
	e        = testkit.E
	marshal  = testkit.Marshal
	seed     = testkit.Seed
	store    = testkit.Store
	mustExec = testkit.MustExec
	inTurn   = testkit.InTurn
	parallel = testkit.Parallel

	wantDocs = testkit.WantDocs
	panicOf  = testkit.PanicOf

	findingsOf          = testkit.FindingsOf
	mended              = testkit.Mended
	checkJob            = testkit.CheckJob
	wantRefusedFindings = testkit.WantRefusedFindings
	wantDistinctChecks  = testkit.WantDistinctChecks
	wantStepsIndexed    = testkit.WantStepsIndexed
)
