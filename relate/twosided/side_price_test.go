package twosided_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
)

// Each check's findings are one run, those of the left side two: one is taken off, one added.
func TestMendingPrices(t *testing.T) {
	testkit.Parallel(t)
	aged := bareWay.Checks()[0]
	aged.Age = time.Millisecond
	testkit.WantPricesAnew(t, testkit.Stored(testkit.Docs{
		"owners": {lister("a", "lost", "free"), lister("b")},
		"items":  {bareItem{ID: "free"}, bareItem{ID: "alone", Owner: "b"}}, "lefts": {peer("l", "left", "gone")},
		"rights": {peer("left"), peer("right", "l")},
	}),
		testkit.Does("half-links mended", 2+2, 3, 3, testkit.MendedNow(bareWay.Checks()...)),
		testkit.Does("half-links of many mended", 2+3, 3, 3, testkit.MendedNow(barePeers.Checks()...)),
		// Two owners are read, looked at twice and mended; two reads find no more.
		testkit.Does("half-links of bare ids mended by a job, after an age", 1+2+1+2, 2, 2+2*2, testkit.CheckJob(aged)),
	)
}
