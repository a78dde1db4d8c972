package slots_test

import (
	core "github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/internal/testkit"
)

type docs = testkit.Docs

var (
	hash                = core.HashToken
	seed                = testkit.Seed
	parallel            = testkit.Parallel
	interleaved         = testkit.Interleaved
	errRefused          = testkit.ErrRefused
	wantError           = testkit.WantError
	findingsOf          = testkit.FindingsOf
	wantDistinctChecks  = testkit.WantDistinctChecks
	wantRefusedFindings = testkit.WantRefusedFindings
)
