package mongotest

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Lag simulates a lagging secondary. Lag copies db's current contents, but no indexes and
// validators. Until [Faults.Reset], the copy answers the reads that m matches. A nil m
// matches all reads with the read preference secondary, secondaryPreferred or nearest. An
// answer must fit one batch.
func (f *Faults) Lag(t testing.TB, db *mongo.Database, m Match) {
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
	if m == nil {
		m = fromSecondaries
	}
	f.From(m, 1, answerFrom(old))
}

// answerFrom answers a read with the reply of another client's server.
func answerFrom(other *mongo.Client) Action {
	return act(func(c *faultConn, m *message) error {
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
	})
}

// fromSecondaries matches commands with a read preference that allows a secondary.
func fromSecondaries(c Command) bool {
	switch mode, _ := c.Body.Lookup("$readPreference", "mode").StringValueOK(); mode {
	case "secondary", "secondaryPreferred", "nearest":
		return true
	}
	return false
}

// without returns a document without some fields.
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
