package compose

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const shardsFile = "SHARDS.md"

const shardsHead = `# Shards per operation

A test writes this table: ` + "`go test ./internal/compose -run ShardsPerOperation -update`" + `.
It runs each operation once, as COMMANDS.md does, on a simulated cluster of three shards with
the rules of MongoDB 7.0. All collections of the technique are sharded.

Under **{tenant: "hashed"}** everything runs under a tenant's scope. Every statement is sent to
one shard. Under **{_id: "hashed"}** nothing runs under a scope. A cell says how many statements
are sent to one shard, to several shards, and to all. An operation for several documents by _id
reaches several shards. A query by another field reaches all. Under **{region: "hashed"}** the
documents that techniques share are sharded by a field that no technique knows, and the
collections that a technique keeps for itself by {_id: "hashed"}. A filter by _id is sent to one
shard there if the operation has read the document before. "Refused" means that a unique index
of the technique can't be kept across the shards of that key, or that mongos takes no upsert of
it.

| operation | {tenant: "hashed"} | {_id: "hashed"} | {region: "hashed"} |
| --- | --- | --- | --- |
`

// A sharding is how all collections of a model are sharded.
type sharding struct {
	key  string
	spec keys.ShardSpec
}

// Every operation works on a sharded cluster, and under a tenant's shard key each statement is sent to one shard.
func TestShardsPerOperation(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	byTenant := sharding{key: "tenant", spec: keys.ShardSpec{Tenant: []string{"tenant"}}}
	byID, byRegion := sharding{key: "_id"}, sharding{key: "region"}
	var b strings.Builder
	b.WriteString(shardsHead)
	for _, f := range slices.Concat(fixtures, alone) {
		_, ops := f.declare()
		tenant, id, region := byTenant.touched(t, &f), byID.touched(t, &f), byRegion.touched(t, &f)
		for i, o := range ops {
			fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", f.name, o.name, tenant[i], id[i], region[i])
		}
	}
	if t.Failed() {
		return
	}
	holdFile(t, shardsFile, b.String())
}

// holdFile holds a file to what a test makes. With -update it writes the file.
func holdFile(t *testing.T, name, made string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if made != string(want) {
		t.Errorf("%s differs; -update writes it:\n%s", name, apart(made, string(want)))
	}
}

// model declares the technique with a shard key for each of its collections; an error is the refusal of the model.
func (s sharding) model(technique model.Technique) (m *model.Model, err error) {
	defer func() {
		if wrong, ok := recover().(*model.DeclarationError); ok {
			err = wrong
		} else if wrong != nil {
			panic(wrong)
		}
	}()
	list := []model.Technique{technique}
	for _, name := range model.New("shards", technique).Collections() {
		docs := looseDocs(name)
		shard := s.of(docs)
		wrong := testkit.PanicOf(func() { model.New("shards", technique, shard) })
		if wrong != nil && strings.Contains(wrong.Error(), "made of keys") {
			docs.Docs().MakeKeyed() // as the technique's own value is
		}
		list = append(list, shard)
	}
	return model.New("shards", list...), nil
}

// of is the shard key of a collection.
func (s sharding) of(docs *model.Collection[bson.D, any]) *keys.Shard[bson.D] {
	key := s.key
	if _, shared := seeded()[docs.Name()]; key == "region" && !shared {
		key = "_id"
	}
	return keys.NewShard(docs, bson.D{e(key, "hashed")}, s.spec)
}

// touched tells of each operation of a technique, run alone, how many shards its statements are sent to.
func (s sharding) touched(t *testing.T, f *fixture) []string {
	t.Helper()
	technique, ops := f.declare()
	out := make([]string, len(ops))
	m, err := s.model(technique)
	if err != nil || s.key == "tenant" && f.unscoped {
		for i := range out {
			out[i] = "refused"
			if f.unscoped && s.key == "tenant" {
				out[i] = "no scope"
			}
		}
		return out
	}
	one := !slices.ContainsFunc(alone, func(a fixture) bool { return a.name == f.name })
	var c *shardedRun
	for i := range ops {
		if c == nil || one {
			c = s.cluster(t, f, m)
		}
		out[i] = c.run(t, f.name, ops[i])
	}
	return out
}

// A shardedRun is a cluster with the documents of this package.
type shardedRun struct {
	sharding
	shards *mongotest.Shards
	db     model.DB
}

func (s sharding) cluster(t *testing.T, f *fixture, m *model.Model) *shardedRun {
	t.Helper()
	ctx, shards := t.Context(), mongotest.NewShards(3)
	client, stop := mongotest.Start(shards, mongotest.Settings{Version: "7.0"})
	t.Cleanup(stop)
	raw := client.Database("shards")
	var db model.DB = raw
	if s.key == "tenant" {
		db = model.Scope{Tenant: scope.Tenant}.On(raw)
	}
	for _, name := range m.Collections() {
		command := s.of(looseDocs(name)).Command("shards")
		if err := client.Database("admin").RunCommand(ctx, command).Err(); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	s.seed(t, raw)
	var left *model.LeftError
	db = m.On(db)
	if a := m.Audit(); len(a.Checks) > 0 {
		if _, err := a.Job().Run(ctx, db, model.JobOptions{}); err != nil && !errors.As(err, &left) {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	if err := m.Indexes().Ensure(ctx, db); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return &shardedRun{s, shards, db}
}

func (s sharding) seed(t *testing.T, db *mongo.Database) {
	t.Helper()
	for name, list := range seeded() {
		for i := range list {
			switch s.key {
			case "tenant":
				list[i] = owned(list[i])
			case "region":
				list[i] = with(list[i], e("region", fmt.Sprint("r", i)))
			}
		}
		if _, err := db.Collection(name).InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs an operation and counts the shards of its statements.
func (c *shardedRun) run(t *testing.T, technique string, o operation) string {
	t.Helper()
	db := c.db
	if o.needsTx {
		var err error
		if db, err = model.WithTransactions(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	c.shards.Touched()
	err := o.run(t.Context(), db)
	var conflict *model.ConflictError
	if c.key == "region" && errors.As(err, &conflict) {
		return "refused"
	}
	if err != nil && !typed(err) {
		t.Errorf("%s %s, by %s: %v", technique, o.name, c.key, err)
	}
	one, several, all := 0, 0, 0
	for _, touch := range c.shards.Touched() {
		switch {
		case touch.Broadcast:
			all++
		case len(touch.Shards) > 1:
			several++
		default:
			one++
		}
		if c.key == "tenant" && (touch.Broadcast || len(touch.Shards) > 1) {
			t.Errorf("%s %s: %s %s is sent to %v", technique, o.name, touch.Command, touch.Collection, touch.Shards)
		}
	}
	var said []string
	for _, n := range []struct {
		count int
		name  string
	}{{one, "one"}, {several, "several"}, {all, "all"}} {
		if n.count > 0 {
			said = append(said, fmt.Sprint(n.count, " ", n.name))
		}
	}
	return strings.Join(said, ", ")
}
