package testkit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// WantStepsIndexed tests that each write of the plans with a filter uses the index, or
// another index that it names.
func WantStepsIndexed(t *testing.T, db *mongo.Database, reason, index string, plans ...model.Plan) {
	t.Helper()
	n := 0
	for _, p := range plans {
		for _, s := range p.Steps {
			w, ok := s.(model.Write)
			if _, insert := w.Model.(*mongo.InsertOneModel); insert || !ok {
				continue
			}
			n++
			t.Run(fmt.Sprint(reason, " ", n), func(t *testing.T) { modeltest.WantIndexed(t, db, w, cmp.Or(w.Index, index)) })
		}
	}
	if n == 0 {
		t.Errorf("%s writes nothing that looks something up", reason)
	}
}

// A ReadCase is a change's reads with the index of each command.
type ReadCase struct {
	reason string
	read   DBFunc
	want   []string
}

// ReadBy returns a change's case. The index "" is for a small collection, which
// DocumentDB reads whole.
func ReadBy(reason string, c model.Action, indexes ...string) ReadCase {
	return ReadCase{reason, func(ctx context.Context, db *mongo.Database) error {
		_, err := c.Change().Plan(ctx, db)
		return err
	}, indexes}
}

// InTx returns the case of the same reads in a transaction, where each $unionWith is a
// command of its own. It needs a server with transactions.
func (c ReadCase) InTx(indexes ...string) ReadCase {
	return ReadCase{c.reason + " in a transaction", func(ctx context.Context, db *mongo.Database) error {
		return model.InTx(ctx, db, func(ctx context.Context) error { return c.read(ctx, db) })
	}, indexes}
}

// WantReadsIndexed tests that the reads of changes use their documented indexes.
func WantReadsIndexed(t *testing.T, db *mongo.Database, m *mongotest.Monitor, cases ...ReadCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			before := len(m.Commands())
			if err := c.read(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			sent := slices.DeleteFunc(slices.Clone(m.Commands()[before:]), func(c mongotest.Command) bool {
				return c.Name == "hello" || c.Name == "commitTransaction"
			})
			if len(sent) != len(c.want) {
				t.Fatalf("%d reads, want %d: %v", len(sent), len(c.want), sent)
			}
			for i, x := range sent {
				if c.want[i] == "" {
					continue
				}
				t.Run(fmt.Sprint(i+1), func(t *testing.T) { modeltest.WantIndexed(t, db, AsSent(t, x), c.want[i]) })
			}
		})
	}
}

// AsSent returns a command for explain, without the driver's additions.
func AsSent(t *testing.T, c mongotest.Command) (command bson.D) {
	t.Helper()
	var d bson.D
	if err := bson.Unmarshal(c.Body, &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d {
		switch x.Key {
		case "lsid", "$db", "$readPreference", "$clusterTime", "txnNumber", "startTransaction", "autocommit":
		default:
			command = append(command, x)
		}
	}
	return command
}
