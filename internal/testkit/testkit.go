// Package testkit has helpers for tests of several packages: short documents and ids, and
// functions that run plans and checks.
package testkit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// D builds a document from alternating names and values.
func D(nameValue ...any) bson.D {
	out := make(bson.D, 0, len(nameValue)/2)
	for i := 0; i < len(nameValue); i += 2 {
		out = append(out, bson.E{Key: nameValue[i].(string), Value: nameValue[i+1]})
	}
	return out
}

// OID returns the n-th id of a series.
func OID(n int) bson.ObjectID {
	return bson.ObjectID{0x5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n)}
}

// Raw encodes a value.
func Raw(v any) bson.RawValue {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		panic(err)
	}
	return bson.Raw(raw).Lookup("v")
}

// Catch returns the DeclarationError of f's panic, or nil.
func Catch(t testing.TB, f func()) (e *model.DeclarationError) {
	t.Helper()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *model.DeclarationError:
			e = p
		default:
			t.Errorf("panicked with %T %v, not a *DeclarationError", p, p)
		}
	}()
	f()
	return nil
}

// WantDeclarationError fails the test unless f panics with a DeclarationError.
func WantDeclarationError(t testing.TB, reason string, f func()) {
	t.Helper()
	if Catch(t, f) == nil {
		t.Errorf("%s: no *model.DeclarationError", reason)
	}
}

// WantValueError fails the test unless err is a ValueError.
func WantValueError(t testing.TB, reason string, err error) {
	t.Helper()
	var bad *model.ValueError
	if !errors.As(err, &bad) {
		t.Errorf("%s: %v, want a *model.ValueError", reason, err)
	}
}

// MustRun runs plans that prepare a test.
func MustRun(t testing.TB, db model.DB, plans ...model.Plan) {
	t.Helper()
	for _, p := range plans {
		if _, err := p.Run(t.Context(), db); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
	}
}

var (
	ErrDuplicate = errors.New("any duplicate key") // stand for what a server says
	ErrServer    = errors.New("any server error")
)

// CheckErr compares a plan's error. ErrDuplicate and ErrServer match any error of their
// kind.
func CheckErr(t testing.TB, err, want error) {
	t.Helper()
	var step *model.StepError
	var server mongo.ServerError
	switch {
	case want == nil && err != nil, want != nil && err == nil:
		t.Fatalf("error %v, want %v", err, want)
	case want == ErrDuplicate && !mongo.IsDuplicateKeyError(err), want == ErrServer && !errors.As(err, &server):
		t.Errorf("error %v (%T), want %v", err, err, want)
	case want != nil && want != ErrDuplicate && want != ErrServer && !errors.Is(err, want):
		t.Errorf("error %v, want %v", err, want)
	case want != nil && want != model.ErrTransactional && !errors.As(err, &step):
		t.Errorf("error %v is no *StepError", err)
	}
}

// CheckOf returns the check whose name ends with ": " and finds.
func CheckOf(t testing.TB, finds string, checks []model.Check) model.Check {
	t.Helper()
	i := slices.IndexFunc(checks, func(c model.Check) bool { return strings.HasSuffix(c.Name, ": "+finds) })
	if i < 0 {
		t.Fatalf("no check finds %s", finds)
	}
	return checks[i]
}

// FoundIDs returns the sorted _ids, which are strings, of a check's findings.
func FoundIDs(t testing.TB, db *mongo.Database, check model.Check) (ids []string) {
	t.Helper()
	found, err := check.All(context.Background(), db)
	if err != nil {
		t.Fatalf("%s: %v", check.Name, err)
	}
	for _, f := range found {
		if f.Check != check.Name || f.Collection != check.Collection || f.Problem == "" {
			t.Errorf("%s: finds %+v", check.Name, f)
		}
		ids = append(ids, f.ID.StringValue())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Mend runs the jobs of the checks that can repair, in order.
func Mend(ctx context.Context, db *mongo.Database, checks []model.Check) error {
	for _, c := range checks {
		if c.Mend == nil && c.MendAll == nil {
			continue
		}
		if _, err := c.Job().Run(ctx, db, model.JobOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Finding returns a check's finding with a detail.
func Finding(check model.Check, detail bson.D) model.Finding {
	raw, err := bson.Marshal(detail)
	if err != nil {
		panic(err)
	}
	return model.Finding{Check: check.Name, Collection: check.Collection, Detail: raw}
}
