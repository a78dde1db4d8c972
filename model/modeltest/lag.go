package modeltest

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Lag answers the client's reads from secondaries with what db holds now, whatever is written from here on: a secondary
// that lags. A read is one from a secondary if its read preference allows it
// (options.Client().SetReadPreference(readpref.SecondaryPreferred())). It holds until Reset. An answer must fit one batch;
// indexes and validators are not copied. A test of what reads before it writes should pass under it.
func (f *Faults) Lag(t testing.TB, db *mongo.Database) {
	t.Helper()
	f.LagOf(t, db, fromSecondaries)
}

// LagOf is [Faults.Lag] for the reads that match.
func (f *Faults) LagOf(t testing.TB, db *mongo.Database, m Match) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	dump, err := Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	old := NewClient(t)
	if err := Load(ctx, old.Database(db.Name()), dump); err != nil {
		t.Fatal(err)
	}
	f.From(m, 1, answerFrom(old))
}

// answerFrom answers a read with what another client's server says to it.
func answerFrom(other *mongo.Client) Action {
	return Action{func(c *faultConn, m *message) error {
		body := without(m.command.Body, "lsid", "$db", "$readPreference", "$clusterTime", "txnNumber")
		reply, err := other.Database(m.command.Database).RunCommand(context.Background(), body).Raw()
		var failed mongo.CommandError
		if errors.As(err, &failed) {
			reply, err = failed.Raw, nil
		}
		if err != nil {
			return err
		}
		return c.answer(m, without(reply, "$clusterTime", "operationTime"))
	}}
}

// fromSecondaries matches the commands whose read preference allows a secondary.
func fromSecondaries(c Command) bool {
	switch mode, _ := c.Body.Lookup("$readPreference", "mode").StringValueOK(); mode {
	case "secondary", "secondaryPreferred", "nearest":
		return true
	}
	return false
}

// without is a document less some fields.
func without(doc bson.Raw, keys ...string) bson.D {
	var out bson.D
	elems, _ := doc.Elements()
next:
	for _, e := range elems {
		for _, k := range keys {
			if e.Key() == k {
				continue next
			}
		}
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return out
}
