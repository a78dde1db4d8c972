package model_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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

// alikeParts are parts of texts, each with parts that are equal to it under some collation: letters in both cases,
// letters with accents in one character and in two, numbers with zeros, characters that a collation ignores.
var alikeParts = [][]string{
	{"a", "A", "á", "a\u0301", "Á", "ä", "a\u0308"}, {"7", "07", "007"}, {"e", "é", "e\u0301", "E"},
	{"-", " ", "_", ".", "", "\u00ad", "\x00", "\n"}, {"ß", "ss", "SS"}, {"æ", "ae", "Æ"}, {"i", "ı", "İ", "I"},
	{"ﬀ", "ff", "FF"}, {"0", "00"}, {"$", "^", "*", "\\", "(", "", "$"},
}

// A family makes texts that are alike: of one or two lists of parts.
type family [][]string

func newFamily(r *rand.Rand) family {
	return family{alikeParts[r.IntN(3)], alikeParts[r.IntN(len(alikeParts))]}
}

// text is a random text of the family.
func (f family) text(r *rand.Rand) string {
	var b strings.Builder
	for _, parts := range f {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// randomTenant returns a value in one of the forms that Go has for it, and the tenant that it must be. "" is none.
func randomTenant(r *rand.Rand, f family) (v any, tenant string) {
	switch r.IntN(8) {
	case 0:
		n := int32(r.IntN(5) - 2)
		forms := []any{
			int(n), n, int64(n), float64(n), float32(n), pointTo(n), pointTo(int64(n)), core.MustRawValue(n),
			core.MustRawValue(float64(n)), core.MustRawValue(int64(n)), numberID(n),
		}
		return forms[r.IntN(len(forms))], fmt.Sprint("number ", n)
	case 1:
		id := bson.ObjectID{1, 11: byte(r.IntN(2))}
		forms := []any{id, &id, core.MustRawValue(id)}
		return forms[r.IntN(len(forms))], "id " + id.Hex()
	case 2:
		uuid := bson.Binary{Subtype: 4, Data: append(make([]byte, 15), byte(1+r.IntN(2)))}
		forms := []any{uuid, &uuid, core.MustRawValue(uuid)}
		return forms[r.IntN(len(forms))], fmt.Sprint("uuid ", uuid.Data)
	case 3:
		none := slices.Concat(tenantValues()[""], []any{
			math.Nextafter(2, 3), f.text(r) + "\xc3", bson.A{f.text(r)}, []string{f.text(r)}, d("$eq", f.text(r)),
			d("x", f.text(r)),
		})
		v := none[r.IntN(len(none))]
		return []any{v, &v, bson.A{v}, d("x", v)}[r.IntN(4)], ""
	}
	text := f.text(r)
	if r.IntN(20) == 0 {
		text = bson.ObjectID{1}.Hex()
	}
	return []any{
		text, textID(text), pointTo(text), pointTo(pointTo(text)), core.MustRawValue(text),
	}[r.IntN(5)], "text " + text
}

// worlds are documents of several tenants in one database, and, beside it, each tenant's alone in a database without a
// scope.
type worlds struct {
	*testing.T
	r       *rand.Rand
	client  *mongo.Client
	family  family
	folds   *options.Collation // the default collation of all collections
	shared  *mongo.Database
	base    model.DB
	model   *model.Model // nil if the commands say which collections are keyed
	tenants []*worldTenant
	nextID  int32
}

type worldTenant struct {
	name  string
	value any
	on    model.DB
	alone *mongo.Database
}

// worldNames are the collections of each world. The _ids of the second carry the tenant.
var worldNames = []string{"parts", "keyed"}

func newWorlds(t *testing.T, client *mongo.Client, seed uint64) *worlds {
	w := &worlds{T: t, r: rand.New(rand.NewPCG(seed, 42)), client: client}
	w.family = newFamily(w.r)
	if w.r.IntN(4) == 0 {
		w.folds = []*options.Collation{
			{Locale: "en"}, {Locale: "en", Strength: 1}, {Locale: "en", Strength: 2}, {Locale: "en", NumericOrdering: true},
		}[w.r.IntN(4)]
	}
	if w.r.IntN(2) == 0 {
		keyed := docsAny.Named("keyed")
		keyed.Docs().MakeKeyed()
		w.model = model.New("worlds", model.Entity(docsAny.Named("parts")), model.Entity(keyed))
	}
	w.shared = w.database(fmt.Sprintf("w%d", seed))
	w.base = model.Observer{}.On(w.shared)
	for _, name := range worldNames { // documents of no tenant
		var docs []any
		for _, v := range []any{nil, "", bson.A{}, bson.A{true}, d(), true, 7.5, bson.NilObjectID, bson.Regex{Pattern: "."}} {
			docs = append(docs, bson.D{
				{Key: "_id", Value: bson.NewObjectID()}, {Key: "tenant", Value: v}, {Key: "name", Value: "a"},
			})
		}
		docs = append(docs, d("_id", "a", "name", "a"))
		if _, err := w.shared.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *worlds) database(name string) *mongo.Database {
	w.Helper()
	db := w.client.Database(name)
	for _, name := range worldNames {
		o := options.CreateCollection()
		if w.folds != nil {
			o.SetCollation(w.folds)
		}
		if err := db.CreateCollection(w.Context(), name, o); err != nil {
			w.Fatal(err)
		}
	}
	return db
}

// tenant returns a tenant's two worlds under one more value of its name.
func (w *worlds) tenant(v any, name string) *worldTenant {
	scope := model.Scope{Tenant: bson.D{{Key: "tenant", Value: v}}}
	on := scope.On(w.base)
	if w.model != nil {
		on = []model.DB{w.model.On(on), scope.On(w.model.On(w.base))}[w.r.IntN(2)]
	}
	i := slices.IndexFunc(w.tenants, func(t *worldTenant) bool { return t.name == name })
	if i >= 0 {
		return &worldTenant{name, w.tenants[i].value, on, w.tenants[i].alone}
	}
	raw, err := core.RawValue(v)
	if err != nil {
		w.Fatal(err)
	}
	if n, ok := raw.AsInt64OK(); ok {
		raw = core.MustRawValue(n)
	}
	own := &worldTenant{name, raw, on, w.database(fmt.Sprintf("%s_%d", w.shared.Name(), len(w.tenants)))}
	w.tenants = append(w.tenants, own)
	return own
}

// run runs an operation in both worlds of a tenant, and compares what a caller sees.
func (w *worlds) run(own *worldTenant, what string, run worldRun) {
	w.Helper()
	got, err := run(w.Context(), own.on)
	if w.folds != nil && strings.HasPrefix(own.name, "text ") {
		if !errors.As(err, new(*model.ConflictError)) {
			w.Errorf("%s in a collection that folds: %s gives %v", own.name, what, err)
		}
		return
	}
	want, alone := run(w.Context(), own.alone)
	if got != want || outcome(err) != outcome(alone) {
		w.Errorf("%s: %s\n gives %s %v\nalone %s %v", own.name, what, got, err, want, alone)
	}
}

// outcome is the kind of an error.
func outcome(err error) string {
	switch {
	case err == nil:
		return ""
	case mongo.IsDuplicateKeyError(err):
		return "duplicate key"
	case errors.Is(err, model.ErrNotFound):
		return "not found"
	}
	return err.Error()
}

// compare compares each tenant's documents with its own world, and the documents of no tenant with those that were
// stored.
func (w *worlds) compare(before map[string][]string) {
	w.Helper()
	after := w.stored(w.shared)
	for _, own := range w.tenants {
		alone := w.stored(own.alone)["missing"]
		key := fmt.Sprint(own.value)
		if !slices.Equal(after[key], alone) {
			w.Errorf("%s has %v, and alone %v", own.name, after[key], alone)
		}
		delete(after, key)
	}
	for key, docs := range after {
		if !slices.Equal(docs, before[key]) {
			w.Errorf("documents of tenant %s were %v and are %v", key, before[key], docs)
		}
	}
}

// stored returns a database's documents by their tenant.
func (w *worlds) stored(db *mongo.Database) map[string][]string {
	w.Helper()
	out := map[string][]string{}
	for _, name := range worldNames {
		var docs []bson.Raw
		cur, err := db.Collection(name).Find(w.Context(), d())
		if err == nil {
			err = cur.All(w.Context(), &docs)
		}
		if err != nil {
			w.Fatal(err)
		}
		for _, doc := range docs {
			key, text := "missing", bson.D{}
			if v := doc.Lookup("tenant"); v.Type != 0 {
				key = fmt.Sprint(v)
			}
			if id, ok := doc.Lookup("_id", core.KeyOf).StringValueOK(); ok {
				text = d("_id", id)
			}
			elements, _ := doc.Elements()
			for _, e := range elements {
				if e.Key() != "tenant" && !(e.Key() == "_id" && len(text) > 0) {
					text = append(text, bson.E{Key: e.Key(), Value: e.Value()})
				}
			}
			slices.SortStableFunc(text, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
			out[key] = append(out[key], name+" "+model.Shell(text))
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// Random operations of random tenants under random collations give what they give in a database with the tenant's
// documents alone. A value that can't be a tenant is refused before a command is sent.
func TestScopeWorlds(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	seeds, steps := uint64(12), 120
	if os.Getenv("DOCMODEL_FULL") != "" {
		seeds, steps = 400, 300
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorlds(t, client, seed)
			before := w.stored(w.shared)
			for range steps {
				v, name := randomTenant(w.r, w.family)
				if name != "" && len(w.tenants) > 5 { // a few tenants meet often
					for range 30 {
						if slices.ContainsFunc(w.tenants, func(t *worldTenant) bool { return t.name == name }) {
							break
						}
						v, name = randomTenant(w.r, w.family)
					}
				}
				what, run := w.random()
				if name != "" {
					w.run(w.tenant(v, name), what, run)
					continue
				}
				monitor.Reset()
				_, err := run(t.Context(), model.Scope{Tenant: bson.D{{Key: "tenant", Value: v}}}.On(w.base))
				if !errors.As(err, new(*model.ValueError)) || len(monitor.Commands()) > 0 {
					t.Errorf("a tenant of %T(%v): %v, sent %v", v, v, err, monitor.Commands())
				}
			}
			w.compare(before)
		})
	}
}
