package engine

import (
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// The codes are those of MongoDB's isTransientTransactionError.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		reason, name string
		autocommit   bool
		code         int32
		want         []string
	}{
		{"a conflict in a transaction", "update", true, mongoerr.WriteConflict, []string{"TransientTransactionError"}},
		{"a network error in a transaction", "update", true, mongoerr.HostUnreachable,
			[]string{"TransientTransactionError"}},
		{"a network error of a commit", "commitTransaction", true, mongoerr.HostUnreachable,
			[]string{"RetryableWriteError"}},
		{"a network error of a write", "update", false, mongoerr.HostUnreachable, []string{"RetryableWriteError"}},
		{"a conflict of a commit", "commitTransaction", true, mongoerr.WriteConflict,
			[]string{"TransientTransactionError"}},
		{"a commit that meets a prepared transaction", "commitTransaction", true, 267,
			[]string{"TransientTransactionError"}},
		{
			reason: "a commit of what is gone", name: "commitTransaction", autocommit: true,
			code: mongoerr.NoSuchTransaction,
			want: []string{"TransientTransactionError"},
		},
		{"a conflict of a write", "update", false, mongoerr.WriteConflict, nil},
		{"a duplicate key in a transaction", "insert", true, mongoerr.DuplicateKey, nil},
	} {
		r := &request{name: c.name, hasNumber: true, autocommit: c.autocommit}
		if got := r.addLabels(mongoerr.New(c.code, "x")).Labels; !slices.Equal(got, c.want) {
			t.Errorf("%s: labels %v, want %v", c.reason, got, c.want)
		}
	}
}
