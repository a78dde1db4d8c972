package testkit

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ErrRefused matches any *model.ValueError.
var ErrRefused = errors.New("refused with a *model.ValueError")

// WantError compares an error. ErrRefused matches any error of its kind.
func WantError(t testing.TB, err, want error) {
	t.Helper()
	var bad *model.ValueError
	switch {
	case want == nil && err != nil:
		t.Fatalf("error %v", err)
	case want == ErrRefused && !errors.As(err, &bad):
		t.Fatalf("error %v, want a *model.ValueError", err)
	case want != nil && want != ErrRefused && !errors.Is(err, want):
		t.Fatalf("error %v, want %v", err, want)
	}
}

// WantErrorText is [WantError] that also tests the text.
func WantErrorText(t testing.TB, err, want error, text string) {
	t.Helper()
	if WantError(t, err, want); !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v doesn't say %q", err, text)
	}
}

// A WriteCase is a write with the documents before and after it.
type WriteCase struct {
	Reason string
	Before Docs
	Write  model.Write
	After  Docs // nil means as before
	Status model.Status
	Err    error        // nil, model.ErrStale or ErrRefused
	Again  model.Status // of a second run, which must change nothing; NotSent means that it isn't run
}

// RunWriteCases runs each case on the engine and on a server.
func RunWriteCases(t *testing.T, cases []WriteCase) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.Reason, func(t *testing.T) { c.run(t, db) })
		}
	})
}

func (c WriteCase) run(t *testing.T, db *mongo.Database) {
	Seed(t, db, c.Before)
	after := c.After
	if after == nil {
		after = c.Before
	}
	result, err := c.Write.Run(t.Context(), db)
	WantError(t, err, c.Err)
	WantDocs(t, db, after)
	if c.Err != nil {
		return
	}
	if s := result.Steps[0].Status; s != c.Status {
		t.Errorf("status %d, want %d", s, c.Status)
	}
	if c.Again == model.NotSent {
		return
	}
	result, err = c.Write.Run(t.Context(), db)
	if err != nil {
		t.Fatalf("run again: %v", err)
	}
	if s := result.Steps[0].Status; s != c.Again {
		t.Errorf("run again: status %d, want %d", s, c.Again)
	}
	WantDocs(t, db, after)
}
