package query_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

func TestSampleRate(t *testing.T) {
	m := MustParse(valuetest.Doc("{$sampleRate: 0.25}"))
	n := 0
	for range 4000 {
		if ok, err := m.Match(nil); err != nil {
			t.Fatal(err)
		} else if ok {
			n++
		}
	}
	if n < 800 || n > 1200 { // seven standard deviations
		t.Errorf("%d of 4000", n)
	}
	if _, err := Parse(valuetest.Doc("{$sampleRate: 0.5}"), Options{Stored: true}); mongoerr.CodeOf(err) != 3040500 {
		t.Error("in a validator:", err)
	}
	if _, err := Parse(valuetest.Doc("{$sampleRate: 0.5}"),
		Options{Upsert: true}); mongoerr.CodeOf(err) != mongoerr.QueryFeatureNotAllowed {
		t.Error("in an upsert:", err)
	}
}
