package checks

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var hostile = []struct{ s, reason string }{
	{"$where", "an operator that runs code"},
	{"$set", "an update operator"},
	{"a.b", "a path"},
	{"^.*", "a pattern that matches all"},
	{"NUL\x00", "ends a key, a path and a pattern"},
	{"|", "an alternative in a pattern, a separator in a key"},
	{"é", "more bytes than characters"},
	{"e\u0301\U0001f9e9", "a combining mark, and a character beyond 16 bits"},
	{"$$ROOT", "a variable of a pipeline"},
	{"$name", "a field of a pipeline"},
	{"'); db.dropDatabase(); //", "ends a quoted string of a script"},
	{"/", "ends a pattern, separates a path"},
	{"0#%", "ends a key of several parts, and escapes one"},
	{"{\"$gt\": \"\"}", "a condition as text"},
	{strings.Repeat("x", longest()), "long"},
}

// longest is 1 MiB in .ci/run. Copying that much takes longer than all else that these tests do.
func longest() int {
	if os.Getenv("DOCMODEL_FULL") != "" {
		return 1 << 20
	}
	return 1 << 16
}

// Whatever a caller's string holds, the generated documents have the same keys and operators, and the string is a
// value.
func TestHostileStrings(t *testing.T) {
	for i, c := range registered {
		if testing.Short() && i%32 > 0 {
			continue // with the race detector, which has nothing to find in most of them
		}
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			calm := c.outcome(harmless)
			for _, h := range hostile {
				for _, problem := range c.underHostile(calm, h.s) {
					t.Errorf("%s (%s): %s", clip(h.s), h.reason, problem)
				}
			}
		})
	}
}

func FuzzHostileStrings(f *testing.F) {
	f.Add("$")
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing != nil && fuzzing.Value.String() != "" {
		for _, h := range hostile { // without -fuzz, TestHostileStrings has tried them
			f.Add(h.s[:min(len(h.s), 1000)])
		}
	}
	calm := make([]outcome, len(registered))
	for i, c := range registered {
		calm[i] = c.outcome(harmless)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || !utf8.ValidString(s) || len(s) > 1000 {
			return // an empty id is refused, and says so in its own cases; BSON strings are UTF-8
		}
		if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" {
			return // cases have plain words of their own, and one twice is another case
		}
		for i, c := range registered {
			for _, problem := range c.underHostile(calm[i], s) {
				t.Errorf("%s: %q: %s", c.name(), s, problem)
			}
		}
	})
}

// An outcome is what a case generates for one string: its documents, encoded.
type outcome struct {
	parts []encodedPart
	err   error
}

func (c Case) outcome(s string) outcome {
	parts, err := c.parts(c.value(s), s)
	return outcome{encodeParts(parts), err}
}

// underHostile says what a string changes in what is generated, other than values.
func (c Case) underHostile(calm outcome, s string) []string {
	got := c.outcome(s)
	var refused *model.ValueError
	var unseen caseError
	switch {
	case errors.As(calm.err, &unseen):
		return []string{unseen.Error()}
	case calm.err != nil && got.err != nil: // the case is a refusal
		return nil
	case calm.err != nil:
		return []string{"is not refused, as a harmless string is: " + calm.err.Error()}
	case got.err != nil && c.MayRefuse != "" && errors.As(got.err, &refused):
		return nil
	case got.err != nil:
		return []string{"is refused: " + got.err.Error()}
	}
	return compareParts(calm.parts, got.parts)
}

// A string that no document can hold is refused before anything is sent.
func TestTooLargeStrings(t *testing.T) {
	huge := strings.Repeat("x", 17<<20)
	db := unreachable(t)
	for i, c := range registered {
		if os.Getenv("DOCMODEL_FULL") == "" && i%16 > 0 {
			continue // each holds 17 MiB several times
		}
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			if _, isWrite := planOf(c.value(harmless)); !isWrite || !c.storesIts(t, harmless) {
				return // nothing is written, or the string isn't
			}
			p, _ := planOf(c.value(huge))
			p.Options.AllowPartial = true
			_, err := p.Run(t.Context(), db)
			var refused *model.ValueError
			if !errors.As(err, &refused) {
				t.Fatalf("running it gives %v, not a *model.ValueError", err)
			}
			if n := len(err.Error()); n > 2000 {
				t.Errorf("the error repeats %d bytes of the value", n)
			}
		})
	}
}

// planOf is the plan that a value is, if it writes.
func planOf(v any) (model.Plan, bool) {
	switch v := v.(type) {
	case model.Write:
		return model.NewPlan(v), true
	case model.Plan:
		return v, true
	}
	return model.Plan{}, false
}

// storesIts reports whether the string goes into what is generated; it doesn't into what is refused anyway.
func (c Case) storesIts(t *testing.T, s string) bool {
	parts, err := c.parts(c.value(s), s)
	if err != nil {
		return false
	}
	for _, x := range parts {
		raw, err := bson.Marshal(bson.D{{Key: "v", Value: x.value}})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(s)) {
			return true
		}
	}
	return false
}

// unreachable is a database of a server that nobody answers for.
func unreachable(t *testing.T) *mongo.Database {
	client, err := mongo.Connect(options.Client().
		SetDialer(nobody{}).SetServerSelectionTimeout(time.Millisecond).ApplyURI("mongodb://nobody.invalid"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("checks")
}

type nobody struct{}

func (nobody) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nobody answers")
}

func clip(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", s[:8], len(s))
	}
	return fmt.Sprintf("%q", s)
}
