package model_test

import (
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestScopeIndexes renders what a scope makes of indexes.
func TestScopeIndexes(t *testing.T) {
	two := model.Scope{Tenant: d("region", "eu", "tenant", "a"), Delete: d("deletedAt", 7)}
	some := tenantOf("a")
	some.Collections = []string{"other"}
	for _, c := range []struct {
		reason string
		scope  model.Scope
		index  model.Index
		want   string
	}{
		{"the tenant leads", tenantOf("a"), ix("qty", -1), "db.parts.createIndex({tenant: 1, qty: -1})"},
		{"a unique one that is partial", tenantOf("a"), unique(partial(ix("qty", 1), d("qty", d("$gt", 0)))),
			"db.parts.createIndex({tenant: 1, qty: 1}, {name: 'tenant_1_qty_1', unique: true, partialFilterExpression: {qty: {$gt: 0}, deletedAt: null}})"},
		{
			reason: "a name of its own", scope: tenantOf("a"), index: named(ix("qty", 1), "stock"),
			want: "db.parts.createIndex({tenant: 1, qty: 1}, {name: 'tenant_1_stock'})",
		},
		{"one that the tenant leads", tenantOf("a"), ix("tenant", 1, "qty", 1), "db.parts.createIndex({tenant: 1, qty: 1})"},
		{"one that has the tenant", tenantOf("a"), ix("qty", 1, "tenant", 1), "db.parts.createIndex({qty: 1, tenant: 1})"},
		{"two fields", two, ix("qty", 1), "db.parts.createIndex({region: 1, tenant: 1, qty: 1})"},
		{
			reason: "a TTL index", scope: tenantOf("a"), index: expiring(ix("at", 1), time.Hour),
			want: "db.parts.createIndex({at: 1}, {name: 'at_1', expireAfterSeconds: 3600})",
		},
		{"a wildcard index", tenantOf("a"), ix("$**", 1), "db.parts.createIndex({'$**': 1})"},
		{"another collection's", some, unique(ix("qty", 1)), "db.parts.createIndex({qty: 1}, {name: 'qty_1', unique: true})"},
		{"no tenant", model.Scope{Set: d("at", 1)}, ix("qty", 1), "db.parts.createIndex({qty: 1})"},
	} {
		set, err := c.scope.Indexes(model.New("test", wants{c.index}).Indexes())
		if got := strings.TrimSpace(set.String()); err != nil || got != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.reason, got, err, c.want)
		}
	}
	if _, err := (model.Scope{Tenant: d("tenant", "")}).Indexes(model.IndexSet{}); err == nil {
		t.Error("an empty tenant")
	}
}

// TestScopeIndexesHold: a key is unique among a tenant's documents that aren't marked, and the index serves the
// tenant's queries.
func TestScopeIndexesHold(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	docs := model.NewCollection[part, int32]("parts")
	set := model.New("test", wants{unique(ix("name", 1)), ix("qty", 1)}).Indexes()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		a, b := tenantOf("a").On(db), tenantOf("b").On(db)
		for range 2 {
			if err := set.Ensure(ctx, a); err != nil {
				t.Fatal(err)
			}
		}
		if diff, err := set.Diff(ctx, b); err != nil || !diff.Empty() || len(diff.Extra) > 0 {
			t.Errorf("another tenant needs more indexes: %+v, %v", diff, err)
		}
		if diff, err := set.Diff(ctx, db); err != nil || len(diff.Missing) != 2 {
			t.Errorf("without a scope: %+v, %v", diff, err)
		}
		run := func(db model.DB, s model.Step) error {
			_, err := model.NewPlan(s).Run(ctx, db)
			return err
		}
		for _, c := range []struct {
			reason string
			err    error
			taken  bool
		}{
			{"the first", run(a, docs.Insert(part{ID: 1, Name: "nut"})), false},
			{"another tenant's of that name", run(b, docs.Insert(part{ID: 2, Name: "nut"})), false},
			{"a second", run(a, docs.Insert(part{ID: 3, Name: "nut"})), true},
			{"the first version is marked", run(a, docs.Delete(1)), false},
			{"the second again", run(a, docs.Insert(part{ID: 3, Name: "nut"})), false},
			{"a third", run(a, docs.Insert(part{ID: 4, Name: "nut"})), true},
		} {
			if mongo.IsDuplicateKeyError(c.err) != c.taken || c.err != nil && !c.taken {
				t.Errorf("%s: %v", c.reason, c.err)
			}
		}
		for i := range int32(300) {
			if err := run([]model.DB{a, b}[i%2],
				docs.Insert(part{ID: 100 + i, Name: string(rune('a' + i)), Qty: i})); err != nil {
				t.Fatal(err)
			}
		}
		modeltest.WantIndexed(t, db, model.Scoped(tenantOf("a"), docs.Find(d("qty", 7))).Command(), "tenant_1_qty_1")
		modeltest.WantIndexed(t, db, model.Scoped(tenantOf("a"), docs.Find(d("name", "x"))).Command(), "tenant_1_name_1")
	})
}
