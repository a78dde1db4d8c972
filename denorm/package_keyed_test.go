// These tests are of several packages of denorm: all techniques whose _ids are made of keys, with tenants, and moves of older documents.

package denorm_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	keyedUser struct {
		ID    string `bson:"_id"`
		Email string `bson:"email,omitempty"`
	}
	keyedEvent struct {
		ID    string       `bson:"_id"`
		At    time.Time    `bson:"at"`
		Site  string       `bson:"site"`
		N     int64        `bson:"n"`
		State *rollup.Mark `bson:"state,omitempty"`
	}
	keyedItem struct {
		V int64 `bson:"v"`
	}
)

var (
	keyedUsers = model.NewCollection[keyedUser, string]("users")
	keyedMails = indextable.New(keyedUsers, "email", "users.email", indextable.Spec{Unique: true})
	keyedDays  = uniquecount.New(model.NewCollection[uniquecount.Doc[string, string], string]("days"),
		uniquecount.Spec{Period: denorm.Daily})
	keyedMonths = uniquecount.New(model.NewCollection[uniquecount.Doc[string, string], string]("months"),
		uniquecount.Spec{Period: denorm.Monthly})
	keyedStock = slots.New(model.NewCollection[slots.Doc[string], string]("stock"),
		slots.Spec{Slots: 2, Stock: true})
	keyedMail = bucket.New(model.NewCollection[bucket.Doc[string, keyedItem], string]("mail"),
		bucket.Spec{Max: 2})
	keyedLog = eventlog.New(model.NewCollection[eventlog.Commit[string, keyedItem], string]("log"),
		eventlog.Spec[string, keyedItem, int64]{
			Fold: func(sum int64, e keyedItem) (int64, error) { return sum + e.V, nil },
		})
	keyedEvents = model.NewCollection[keyedEvent, string]("hits")
	keyedBins   = rollup.New(keyedEvents, model.NewCollection[rollup.Doc[string, int64], string]("bins"),
		rollup.Spec{
			Time: "at", By: []string{"site"}, Sums: []string{"n"},
			Bins: []denorm.Period{denorm.Hourly, denorm.Daily},
			Mark: "state",
		})

	keyedUserStore  = model.NewStore(model.New("users", keyedMails), keyedUsers)
	keyedEventStore = model.NewStore(model.New("events", keyedBins), keyedEvents)

	keyedTime = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
)

// A keyedLife uses one technique as a tenant whose documents' own _ids begin with a name.
type keyedLife struct {
	name string
	of   model.Technique
	in   string // the keyed collection
	n    int64  // its documents after live
	live func(t *testing.T, db model.DB, name string)
}

func keyedLives() []keyedLife {
	return []keyedLife{
		{"IndexTable", keyedMails, "users.email", 1, func(t *testing.T, db model.DB, name string) {
			keyedChange(t, db, keyedUserStore.Insert(keyedUser{name, "same@mail"}))
			other := keyedUserStore.Insert(keyedUser{name + "2", "same@mail"})
			if _, _, err := other.Run(t.Context(), db); !errors.Is(err, model.ErrTaken) {
				t.Errorf("a second document of the tenant has the value: %v", err)
			}
			keyedWant(t, db, keyedMails.Lookup("same@mail"), func(e indextable.Entry[string]) any {
				v, _ := e.Value.StringValueOK()
				return e.ID + " " + v
			}, name+" same@mail")
			found, err := keyedMails.Documents("same@mail").All(t.Context(), db)
			if err != nil || len(found) != 1 || found[0].ID != name {
				t.Errorf("documents %v, %v", found, err)
			}
		}},
		{"UniqueCount", keyedDays, "days", 2, func(t *testing.T, db model.DB, name string) {
			keyedRun(t, db,
				keyedDays.VisitAll([]model.Write{
					keyedDays.Visit("site", "me", keyedTime), keyedDays.Visit("site", "you", keyedTime),
				}))
			keyedRun(t, db, model.NewPlan(keyedDays.Visit("site", "me", keyedTime)))
			keyedWant(t, db, keyedDays.Visits("site", time.Time{}, time.Time{}),
				func(d uniquecount.Doc[string, string]) any { return d.ID },
				"site#2026-11-29#me", "site#2026-11-29#you")
			keyedWant(t, db, keyedDays.Visits("site", time.Time{}, time.Time{}).After("site#2026-11-29#me"),
				func(d uniquecount.Doc[string, string]) any { return d.ID },
				"site#2026-11-29#you")
			keyedRun(t, db, keyedDays.Rollup(keyedMonths, keyedTime.AddDate(0, 0, -1), keyedTime.AddDate(0, 0, 1)))
			if n, err := keyedMonths.Count("site", time.Time{}, time.Time{}).
				One(t.Context(), db); err != nil || n.N != 2 {
				t.Errorf("the month counts %v, %v", n, err)
			}
			keyedWant(t, db, keyedMonths.Seen("site", "you", keyedTime),
				func(d uniquecount.Doc[string, string]) any { return d.ID }, "site#2026-11#you")
		}},
		{"Slots", keyedStock, "stock", 8, func(t *testing.T, db model.DB, name string) {
			for range 4 {
				keyedChange(t, db, keyedStock.Add("nut", 5, bson.NewObjectID()))
			}
			keyedChange(t, db, keyedStock.Take("nut", 18, bson.NewObjectID()))
			keyedChange(t, db, keyedStock.Resize("nut", 8))
			keyedChange(t, db, keyedStock.Resize("nut", 1))
			if total, err := keyedStock.Totals("nut").One(t.Context(), db); err != nil || total.Sum != 2 ||
				total.Free != 2 || total.Key != "nut" {
				t.Errorf("total %v, %v", total, err)
			}
		}},
		{"Bucket", keyedMail, "mail", 3, func(t *testing.T, db model.DB, name string) {
			for v := range int64(5) {
				keyedChange(t, db, keyedMail.Append("box", keyedItem{v}))
			}
			keyedWant(t, db, keyedMail.Newest("box"), func(b bucket.Doc[string, keyedItem]) any { return b.ID },
				"box#0000000002", "box#0000000001", "box#0000000000")
			first, err := keyedMail.Newest("box").Limited(2).Page(t.Context(), db, "")
			if err != nil || len(first.Docs) != 2 || first.Docs[1].ID != "box#0000000001" {
				t.Fatalf("page %v, %v", first, err)
			}
			second, err := keyedMail.Newest("box").Limited(2).Page(t.Context(), db, first.Next)
			if err != nil || len(second.Docs) != 1 || second.Docs[0].ID != "box#0000000000" || second.Next != "" {
				t.Errorf("second page %v, %v", second, err)
			}
			keyedWant(t, db, keyedMail.Page("box", 1),
				func(b bucket.Doc[string, keyedItem]) any { return b.ID }, "box#0000000001")
		}},
		{"EventLog", keyedLog, "log", 2, func(t *testing.T, db model.DB, name string) {
			keyedChange(t, db, keyedLog.Append("cart", 0, keyedTime, []keyedItem{{1}, {2}}, bson.NewObjectID()))
			keyedChange(t, db, keyedLog.Append("cart", 2, keyedTime, []keyedItem{{3}}, bson.NewObjectID()))
			state, _, err := keyedLog.Load("cart").Run(t.Context(), db)
			if err != nil || state.State != 6 || state.Version != 3 {
				t.Errorf("state %v, %v", state, err)
			}
		}},
		{"Rollup", keyedBins, "bins", 2, func(t *testing.T, db model.DB, name string) {
			keyedChange(t, db, keyedEventStore.InsertMany(
				keyedEvent{ID: name + "1", At: keyedTime, Site: "a", N: 4}, keyedEvent{
					ID: name + "2", At: keyedTime, Site: "a", N: 5,
				},
			))
			if _, err := keyedBins.Roll().Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := keyedBins.Rebuild(keyedTime.Add(-10*time.Hour), keyedTime.Add(14*time.Hour)).
				Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			total, err := keyedBins.Total("a", keyedTime, keyedTime.Add(time.Hour)).One(t.Context(), db)
			if err != nil || total.N != 2 {
				t.Errorf("total %v, %v", total, err)
			}
		}},
	}
}

// Two tenants use equal keys, and neither meets the other's documents.
func TestKeyedTenants(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	for _, life := range keyedLives() {
		t.Run(life.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ensureKeyed(t, db, life.of)
				life.live(t, keyedTenant(db, "a"), "a")
				life.live(t, keyedTenant(db, "b"), "b")
				both := model.Scope{Tenant: bson.D{{Key: "region", Value: "eu"}}}.On(keyedTenant(db, "c"))
				life.live(t, both, "c")
				reversed := model.Scope{
					Tenant: bson.D{{Key: "tenant", Value: "c"}},
				}.On(model.Scope{Tenant: bson.D{{Key: "region", Value: "eu"}}}.On(db))
				for _, db := range []model.DB{keyedTenant(db, "a"), keyedTenant(db, "b"), both, reversed} {
					wantSound(t, db, life.of)
				}
			})
		})
	}
}

// Documents that a version without tenants in _ids stored are moved, whatever the run of the job is cut by.
func TestKeyedMove(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	for _, life := range keyedLives() {
		t.Run(life.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					ensureKeyed(t, db, life.of)
					life.live(t, keyedTenant(db, "a"), "a")
					return undoKeys(ctx, db)
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := model.MoveKeys(life.of, keyedMonths).Run(ctx, keyedTenant(db, "a"), model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					wantSound(t, keyedTenant(db, "a"), life.of)
					n, err := db.Collection(life.in).
						CountDocuments(t.Context(), bson.D{{
							Key: "_id.of", Value: bson.D{{Key: "$exists", Value: false}},
						}})
					if err != nil || n != 0 {
						t.Errorf("%d documents have an old _id, %v", n, err)
					}
					n, err = db.Collection(life.in).
						CountDocuments(t.Context(), bson.D{{Key: "docmodelMoved", Value: nil}})
					if err != nil || n != life.n {
						t.Errorf("%d documents, %v, want %d", n, err, life.n)
					}
				},
			})
		})
	}
}

// A document with an old _id is joined to the one that the new version stored for the same key.
func TestKeyedJoin(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	visit := func(name string) model.Plan { return model.NewPlan(keyedDays.Visit("site", name, keyedTime)) }
	rolled := func(t *testing.T, db model.DB, id string, n int64) {
		keyedChange(t, db, keyedEventStore.Insert(keyedEvent{ID: id, At: keyedTime, Site: "a", N: n}))
		if _, err := keyedBins.Roll().Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		of       model.Technique
		old, now func(t *testing.T, db model.DB)
		want     func(t testing.TB, db model.DB)
	}{
		{"Slots", keyedStock, func(t *testing.T, db model.DB) {
			keyedChange(t, db, keyedStock.Add("nut", 5, bson.NewObjectID()))
		}, func(t *testing.T, db model.DB) {
			keyedChange(t, db, keyedStock.Add("nut", 7, bson.NewObjectID()))
		}, func(t testing.TB, db model.DB) {
			if total, err := keyedStock.Totals("nut").One(t.Context(), db); err != nil ||
				total.Sum != 12 || total.Free != 12 {
				t.Errorf("total %v, %v", total, err)
			}
		}},
		{
			name: "UniqueCount", of: keyedDays,
			old: func(t *testing.T, db model.DB) { keyedRun(t, db, visit("me")) },
			now: func(t *testing.T, db model.DB) {
				keyedRun(t, db, visit("me"))
				keyedRun(t, db, visit("you"))
			},
			want: func(t testing.TB, db model.DB) {
				if n, err := keyedDays.Count("site", time.Time{}, time.Time{}).
					One(t.Context(), db); err != nil || n.N != 2 {
					t.Errorf("counts %v, %v", n, err)
				}
			},
		},
		{
			name: "Rollup", of: keyedBins,
			old: func(t *testing.T, db model.DB) { rolled(t, db, "1", 4) },
			now: func(t *testing.T, db model.DB) { rolled(t, db, "2", 5) },

			want: func(t testing.TB, db model.DB) {
				total, err := keyedBins.Total("a", keyedTime, keyedTime.Add(time.Hour)).One(t.Context(), db)
				if err != nil || total.N != 2 || total.Values["n"].Sum != 9 {
					t.Errorf("total %v, %v", total, err)
				}
			},
		},
		{"IndexTable", keyedMails, func(t *testing.T, db model.DB) {
			keyedChange(t, db, keyedUserStore.Insert(keyedUser{"1", "same@mail"}))
		}, func(t *testing.T, db model.DB) {
			if _, err := keyedMails.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
		}, func(t testing.TB, db model.DB) {
			if list, err := keyedMails.Lookup("same@mail").All(t.Context(), db); err != nil ||
				len(list) != 1 || list[0].ID != "1" {
				t.Errorf("entries %v, %v", list, err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					ensureKeyed(t, db, c.of)
					c.old(t, keyedTenant(db, "a"))
					err := undoKeys(ctx, db)
					c.now(t, keyedTenant(db, "a"))
					return err
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := model.MoveKeys(c.of).Run(ctx, keyedTenant(db, "a"), model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					wantSound(t, keyedTenant(db, "a"), c.of)
					c.want(t, keyedTenant(db, "a"))
				},
			})
		})
	}
}

// Two buckets with elements can't be joined: both stay, and the job tells of the older.
func TestKeyedNotJoined(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		own := keyedTenant(db, "a")
		keyedChange(t, own, keyedMail.Append("box", keyedItem{1}))
		if err := undoKeys(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		keyedChange(t, own, keyedMail.Append("box", keyedItem{2}))
		_, err := model.MoveKeys(keyedMail).Run(t.Context(), own, model.JobOptions{})
		var left *model.LeftError
		if !errors.As(err, &left) || len(left.Findings) != 1 || model.Shell(left.Findings[0].ID) != "'box#0000000000'" {
			t.Errorf("the job: %v", err)
		}
		if n, err := db.Collection("mail").CountDocuments(t.Context(), bson.D{}); err != nil || n != 2 {
			t.Errorf("%d buckets, %v", n, err)
		}
		var refused *model.ValueError
		if _, err := model.MoveKeys(keyedMail).Run(t.Context(), db, model.JobOptions{}); !errors.As(err, &refused) {
			t.Errorf("without a tenant: %v", err)
		}
		if _, err := model.MoveKeys(model.Entity(model.NewCollection[keyedUser, string]("users"))).
			Run(t.Context(), own, model.JobOptions{}); !errors.As(err, &refused) {
			t.Errorf("without keyed documents: %v", err)
		}
	})
}

func keyedTenant(db model.DB, name string) model.DB {
	return model.Scope{Tenant: bson.D{{Key: "tenant", Value: name}}}.On(db)
}

func ensureKeyed(t *testing.T, db *mongo.Database, of model.Technique) {
	t.Helper()
	if err := (model.IndexSet{Needed: of.Indexes()}).Ensure(t.Context(), keyedTenant(db, "a")); err != nil {
		t.Fatal(err)
	}
}

// undoKeys gives all documents the _ids of a version without tenants in them.
func undoKeys(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	for _, name := range names {
		if err == nil {
			err = undoKeysIn(ctx, db.Collection(name))
		}
	}
	return err
}

func undoKeysIn(ctx context.Context, docs *mongo.Collection) error {
	cur, err := docs.Find(ctx, bson.D{{Key: "_id.of", Value: bson.D{{Key: "$exists", Value: true}}}})
	if err != nil {
		return err
	}
	var list []bson.D
	err = cur.All(ctx, &list)
	for _, doc := range list {
		if err == nil {
			_, err = docs.DeleteOne(ctx, bson.D{{Key: "_id", Value: doc[0].Value}})
		}
		id := doc[0].Value.(bson.D)
		doc[0].Value = id[len(id)-1].Value
		if err == nil {
			_, err = docs.InsertOne(ctx, doc)
		}
	}
	return err
}

func wantSound(t testing.TB, db model.DB, of model.Technique) {
	t.Helper()
	for _, check := range of.Checks() {
		found, err := check.All(t.Context(), db)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", check.Name, found, err)
		}
	}
}

func keyedRun(t *testing.T, db model.DB, p model.Plan) {
	t.Helper()
	p.Options.AllowPartial = true
	if _, err := p.Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

func keyedChange(t *testing.T, db model.DB, c model.Action) {
	t.Helper()
	if _, err := c.Change().Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

func keyedWant[D any](t *testing.T, db model.DB, f *model.Find[D], of func(D) any, want ...any) {
	t.Helper()
	docs, err := f.All(t.Context(), db)
	var got []any
	for _, d := range docs {
		got = append(got, of(d))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}
}
