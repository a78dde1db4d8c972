// The documents, declarations and helpers that the tests of this package share.

package indextable_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	memberStore  = model.Store[member, string]
	memberChange = model.ChangeOf[model.Stored[member]]
)

var (
	mustChange = testkit.MustChange
)

// storeOfAll is the store of members with all tables.
var storeOfAll = model.NewStore(model.New("members", byCity, byTag, byEmail), members)

// storeOf returns the store of members with one table.
func storeOf(x *indextable.IndexTable[member, string]) *memberStore {
	return model.NewStore(model.New("members", x), members)
}

// run runs a change as a request with a token.
func run(ctx context.Context, db model.DB, op bson.ObjectID, c memberChange) error {
	_, _, err := c.Run(model.WithToken(ctx, op), db)
	return err
}

// cutAfter returns the change that ends after some of its writes, as after a crash.
func cutAfter(writes int, c memberChange) memberChange {
	decide := c.Decide
	c.Decide = func(s model.Stored[member]) (model.Plan, error) {
		p, err := decide(s)
		p.Steps = p.Steps[:min(writes, len(p.Steps))]
		return p, err
	}
	return c
}

// wantEntries compares the entries of a table with texts such as "Rome of a: {name: 'Ann'}".
func wantEntries(t testing.TB, db *mongo.Database, collection string, want ...string) {
	t.Helper()
	list, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: collection, Sort: bson.D{testkit.E("_id", 1)}, Keyed: collection == "emails",
	}}).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, raw := range list {
		var entry indextable.Entry[string]
		if err := bson.Unmarshal(raw, &entry); err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%s of %s", entry.Value.StringValue(), entry.ID)
		if entry.Doc != nil {
			s += ": " + model.Shell(entry.Doc)
		}
		if !entry.Sure {
			s += ", not sure"
		}
		got = append(got, s)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("entries of %s: %q, want %q", collection, got, want)
	}
}
