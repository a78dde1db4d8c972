package checks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// askNothing are the operations that compare no tenant, with the reason.
var askNothing = map[string]string{
	"model.IndexSet.Diff":     "it reads indexes, which hold no documents",
	"model.Validation.Diff":   "a validator is a collection's",
	"model.Validation.Ensure": "a validator is a collection's",
}

// asked are the commands that may be sent before the refusal.
var asked = map[string]bool{"listCollections": true, "hello": true, "listIndexes": true}

// TestTenantsFolded runs each operation for one tenant on collections whose default collation takes the other tenant
// for the same: each is refused before it reads or writes. The library's own collections count too.
func TestTenantsFolded(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	ctx, source := t.Context(), client.Database("source")
	seedTenants(t, source)
	for i, name := range slices.Sorted(maps.Keys(tenantRuns)) {
		t.Run(name, func(t *testing.T) {
			db := client.Database(fmt.Sprintf("folded%d", i))
			foldTenants(t, source, db)
			if n, err := db.Collection("books").
				CountDocuments(ctx, bson.D{{Key: "tenant", Value: "mine"}}); err != nil || n != 4 {
				t.Fatalf("%d books of both tenants, %v", n, err)
			}
			monitor.Reset()
			_, err := tenantRuns[name].run(ctx, mine.On(db))
			if askNothing[name] != "" {
				return
			}
			sent := monitor.Commands() // some of the operations turn errors into their answers
			if conflict := (*model.ConflictError)(nil); !errors.As(err, &conflict) &&
				!slices.ContainsFunc(sent, func(c mongotest.Command) bool { return c.Name == "listCollections" }) {
				t.Errorf("%v, want a *ConflictError", err)
			}
			for _, c := range sent {
				if !asked[c.Name] {
					t.Errorf("sent %s", c)
				}
			}
		})
	}
}

// foldTenants copies the documents into collections that ignore case. The other tenant's name is this one's in
// capitals.
func foldTenants(t *testing.T, from, to *mongo.Database) {
	t.Helper()
	ctx := t.Context()
	names, err := from.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"locks", "jobs", "places", "checkpoints", "docmodel.relays", "posts", "rooms", "guests",
	} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		caseless := options.CreateCollection().SetCollation(&options.Collation{Locale: "en", Strength: 2})
		if err := to.CreateCollection(ctx, name, caseless); err != nil {
			t.Fatal(err)
		}
		var docs []bson.D
		cur, err := from.Collection(name).Find(ctx, bson.D{})
		if err == nil {
			err = cur.All(ctx, &docs)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			for i, e := range doc {
				if e.Key == "tenant" && e.Value == "theirs" {
					doc[i].Value = "MINE"
				}
			}
			if _, err := to.Collection(name).InsertOne(ctx, doc); err != nil {
				t.Fatal(err)
			}
		}
	}
}
