package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A keyedWorld is one tenant's documents in a database, or a database without tenants.
type keyedWorld struct {
	name   string
	db     *mongo.Database
	on     model.DB
	tenant bson.D // nil for none
}

func (w keyedWorld) seed(t *testing.T) {
	t.Helper()
	for name, list := range seeded() {
		for i, doc := range list {
			d := with(doc, w.tenant...)
			for j := range d {
				if d[j].Key == "_id" && w.tenant != nil {
					d[j].Value = core.NewKeyID(d[j].Value, w.tenant)
				}
			}
			list[i] = d
		}
		if _, err := w.db.Collection(name).InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
}

// see returns the stored documents and the findings of a technique's checks, without the tenant.
func (w keyedWorld) see(t *testing.T, f *fixture, m *model.Model) (out []string) {
	t.Helper()
	for _, name := range m.Collections() {
		if slices.Contains(f.volatile, name+".*") {
			continue
		}
		var docs []bson.Raw
		cur, err := w.db.Collection(name).Find(t.Context(), append(bson.D{}, w.tenant...))
		if err == nil {
			err = cur.All(t.Context(), &docs)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			if w.tenant != nil && doc.Lookup("_id", core.KeyOf).Type == 0 {
				t.Errorf("%s: %s has an _id without the tenant: %s", w.name, name, doc)
			}
			var d bson.D
			if err := bson.Unmarshal(core.WithoutTenant(doc, w.tenant), &d); err != nil {
				t.Fatal(err)
			}
			d = slices.DeleteFunc(d, func(e bson.E) bool {
				return w.tenant != nil && e.Key == w.tenant[0].Key || slices.Contains(f.volatile, name+"."+e.Key)
			})
			slices.SortStableFunc(d, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
			out = append(out, name+" "+model.Shell(d))
		}
	}
	for found, err := range m.Audit().Each(t.Context(), w.on) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, "finding "+found.String())
	}
	slices.Sort(out)
	return out
}

// Two tenants with the same documents under keyed _ids: each technique does for each of them what it does for documents
// that are alone in a database, whichever handle is around the other, with and without transactions.
func TestKeyedTenants(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	client := mongotest.NewClient(t)
	all := slices.Concat(fixtures, alone)
	for i := range all {
		f := &all[i]
		if f.unscoped {
			continue
		}
		for _, tx := range []bool{false, true} {
			t.Run(fmt.Sprint(f.name, ", transactions ", tx), func(t *testing.T) {
				technique, ops := f.declare()
				m := model.New("keyed", technique)
				if strings.HasPrefix(f.name, "ondelete.OnDelete") { // in a program's model the references tell their documents
					m = model.New("keyed", technique, model.Entity(comments))
				}
				if keyed := keyedOf(m); slices.ContainsFunc(m.Collections(), func(name string) bool { return !keyed[name] }) {
					t.Errorf("of the collections %v only %v are keyed: give the technique KeyedDocs with From", m.Collections(),
						slices.Sorted(maps.Keys(keyed)))
				}
				worlds := keyedWorlds(t, client, fmt.Sprintf("k%d_%v", i, tx), m, tx)
				for _, o := range ops {
					var want string
					for _, w := range worlds {
						got := kindOf(o.run(t.Context(), w.on))
						if w.tenant == nil {
							want = got
						} else if got != want {
							t.Errorf("%s of %s: %s, alone %s", o.name, w.name, got, want)
						}
					}
				}
				want := worlds[0].see(t, f, m)
				for _, w := range worlds[1:] {
					if got := w.see(t, f, m); !slices.Equal(got, want) {
						t.Errorf("%s has\n%s\nalone\n%s", w.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			})
		}
	}
}

// keyedOf returns the collections of a model whose _ids carry the tenant.
func keyedOf(m *model.Model) map[string]bool {
	out := map[string]bool{}
	own := model.Scope{Tenant: bson.D{e("tenant", "a")}}.On(m.On((&mongo.Client{}).Database("none")))
	for _, name := range m.Collections() {
		q := model.Query{Collection: name, Filter: bson.D{e("_id", "x")}}
		if scoped, _, ok := own.(core.Handle).UnderScopes(&q); ok &&
			strings.Contains(model.Shell(scoped.(interface{ Command() bson.D }).Command()), core.KeyOf+": 'x'") {
			out[name] = true
		}
	}
	return out
}

// keyedWorlds are a database without tenants, and two tenants in another.
func keyedWorlds(t *testing.T, client *mongo.Client, name string, m *model.Model, tx bool) []keyedWorld {
	t.Helper()
	shared := client.Database(name)
	tenant := func(name string) model.Scope { return model.Scope{Tenant: bson.D{e("tenant", name)}} }
	worlds := []keyedWorld{
		{"alone", client.Database(name + "_alone"), m.On(client.Database(name + "_alone")), nil},
		{"tenant a", shared, tenant("a").On(m.On(shared)), tenant("a").Tenant},
		{"tenant b", shared, m.On(tenant("b").On(shared)), tenant("b").Tenant},
	}
	for i := range worlds {
		w := &worlds[i]
		w.seed(t)
		if err := m.Indexes().Ensure(t.Context(), w.on); err != nil {
			t.Fatal(err)
		}
		if a := m.Audit(); len(a.Checks) > 0 {
			if _, err := a.Job().Run(t.Context(), w.on, model.JobOptions{}); err != nil &&
				!errors.As(err, new(*model.LeftError)) {
				t.Fatal(err)
			}
		}
		if tx {
			on, err := model.WithTransactions(t.Context(), w.on)
			if err != nil {
				t.Fatal(err)
			}
			w.on = on
		}
	}
	return worlds
}

// kindOf is what an error is for a program.
func kindOf(err error) string {
	for _, kind := range []error{model.ErrTaken, model.ErrNotFound, model.ErrStale, model.ErrFull, context.Canceled} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if mongo.IsDuplicateKeyError(err) {
		return "duplicate key"
	}
	return fmt.Sprint(err)
}

// keyedDocs is the technique that made the _ids of the documents.
type keyedDocs struct{ model.Parts }

var keysOfAll = &keyedDocs{
	model.NewParts(nil, nil, nil, nil).WithDocs(users.Docs(), posts.Docs(), addresses.Docs(), comments.Docs()).WithKeys(
		model.KeyedDocs{Collection: users.Name()}, model.KeyedDocs{Collection: posts.Name()},
		model.KeyedDocs{Collection: addresses.Name()}, model.KeyedDocs{Collection: comments.Name()},
	),
}

// Documents that a technique stored under _ids without the tenant are moved with all that the technique stores beside
// them. Then the technique goes on. With transactions, unique indexes may exist.
func TestKeyedMoves(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	client := mongotest.NewClient(t)
	for i := range fixtures {
		f := &fixtures[i]
		if f.unscoped {
			continue
		}
		for _, tx := range []bool{false, true} {
			t.Run(fmt.Sprint(f.name, ", transactions ", tx), func(t *testing.T) {
				technique, ops := f.declare()
				m := model.New("keyed", technique, keysOfAll)
				worlds := keyedWorlds(t, client, fmt.Sprintf("m%d_%v", i, tx), m, tx)
				old, own := worlds[0], worlds[1]
				half := len(ops) / 2
				for _, o := range ops[:half] {
					_ = o.run(t.Context(), old.on)
				}
				own.copyOld(t, old, m, tx)
				own.copyLocks(t, old, m)
				move := model.DB(model.Scope{Tenant: own.tenant}.On(own.db))
				if tx {
					var err error
					if move, err = model.WithTransactions(t.Context(), move); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // again, it finds nothing
					if _, err := model.MoveKeys(technique, keysOfAll).
						Run(t.Context(), move, model.JobOptions{BatchSize: 2}); err != nil {
						t.Fatal(err)
					}
				}
				if err := m.Indexes().Ensure(t.Context(), own.on); err != nil {
					t.Fatal(err)
				}
				for _, o := range ops[half:] {
					if got, want := kindOf(o.run(t.Context(), own.on)), kindOf(o.run(t.Context(), old.on)); got != want {
						t.Errorf("%s: %s, alone %s", o.name, got, want)
					}
				}
				if got, want := own.see(t, f, m), old.see(t, f, m); !slices.Equal(got, want) {
					t.Errorf("moved\n%s\nalone\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// copyOld replaces the tenant's documents by those of a database without tenants, under their _ids.
func (w keyedWorld) copyOld(t *testing.T, old keyedWorld, m *model.Model, indexed bool) {
	t.Helper()
	for _, name := range m.Collections() {
		var docs []bson.D
		cur, err := old.db.Collection(name).Find(t.Context(), bson.D{})
		if err == nil {
			err = cur.All(t.Context(), &docs)
		}
		for i := range docs {
			docs[i] = append(docs[i], w.tenant...)
		}
		if indexed && err == nil {
			_, err = w.db.Collection(name).DeleteMany(t.Context(), w.tenant)
		} else if err == nil {
			err = w.db.Collection(name).Drop(t.Context())
		}
		if err == nil && len(docs) > 0 {
			_, err = w.db.Collection(name).InsertMany(t.Context(), docs)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copyLocks copies the library's own documents, such as those of leases, under the tenant's names.
func (w keyedWorld) copyLocks(t *testing.T, old keyedWorld, m *model.Model) {
	t.Helper()
	names, err := old.db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if slices.Contains(m.Collections(), name) || seeded()[name] != nil {
			continue
		}
		var docs []bson.D
		cur, err := old.db.Collection(name).Find(t.Context(), bson.D{})
		if err == nil {
			err = cur.All(t.Context(), &docs)
		}
		for _, doc := range docs {
			id := e("_id", fmt.Sprint(doc[0].Value, " ", model.Shell(w.tenant)))
			if err == nil {
				_, err = w.db.Collection(name).
					ReplaceOne(t.Context(), bson.D{id}, append(bson.D{id}, doc[1:]...), options.Replace().SetUpsert(true))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
