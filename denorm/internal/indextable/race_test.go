package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mend mends once what the checks find.
func mend[D, K any](ctx context.Context, db *mongo.Database, x *denorm.IndexTable[D, K]) (int, error) {
	found, err := drifts(ctx, db, x)
	if err != nil {
		return 0, err
	}
	return len(found), mendedNow(x.Checks()...)(ctx, db)
}

// Every plan can be cut anywhere and run again.
func TestIndexTableFaults(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
	for _, x := range []struct {
		name   string
		table  *denorm.IndexTable[member, string]
		fields bson.D
	}{
		{"city", byCity, bson.D{e("city", "Oslo"), e("name", "Bo")}},
		{"tags", byTag, bson.D{e("tags", []string{"y", "z"})}},
		{"email", byEmail, bson.D{e("email", "b@x")}},
	} {
		inserted := x.table.Insert(ann, token(1))
		for _, c := range []struct {
			name string
			seed []model.Plan
			plan model.Plan
			n    int64 // of members
		}{
			{"insert", nil, inserted, 1},
			{"set", []model.Plan{inserted}, x.table.Set(&ann, x.fields, token(2)), 1},
			{"delete", []model.Plan{inserted}, x.table.Delete(&ann), 0},
		} {
			t.Run(x.name+" "+c.name, func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, c.seed...) },
					Run:  func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, c.plan) },
					Check: func(t testing.TB, db *mongo.Database) {
						wantDrifts(t, db, x.table)
						if n, err := members.Find(nil).Count(context.Background(), db); err != nil || n != c.n {
							t.Errorf("%d members, %v", n, err)
						}
					},
				})
			})
		}
		for name, plan := range map[string]func(m *member) model.Plan{
			"set": func(m *member) model.Plan { return x.table.Set(m, x.fields, token(2)) }, "delete": x.table.Delete,
		} {
			t.Run(x.name+" "+name+", called anew", func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed:  func(ctx context.Context, db *mongo.Database) error { return exec(ctx, db, inserted) },
					Run:   calledAnew(plan),
					Check: func(t testing.TB, db *mongo.Database) { wantSettled(t, db, x.table) },
				})
			})
		}
		t.Run(x.name+" rebuild and repair", func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					lost := x.table.Insert(member{ID: "z", City: "Lost", Email: "z@x", Tags: []string{"l"}}, token(3))
					lost.Steps = lost.Steps[:1]
					return exec(ctx, db, members.InsertMany([]member{ann, {ID: "b", City: "Oslo", Email: "b@x", Tags: []string{"x"}}}), lost)
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					if _, err := x.table.Rebuild().Run(ctx, db, model.JobOptions{}); err != nil {
						return err
					}
					_, err := mend(ctx, db, x.table)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) { wantDrifts(t, db, x.table) },
			})
		})
	}
}

// calledAnew reads the member and runs what is decided from it. Of a member that is gone the _id is known.
func calledAnew(plan func(*member) model.Plan) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		m, err := members.ByID("a").One(ctx, db)
		if errors.Is(err, model.ErrNotFound) {
			m, err = member{ID: "a"}, nil
		}
		if err != nil {
			return err
		}
		return exec(ctx, db, plan(&m))
	}
}

// What a Set that was cut has left goes with the next Set of the path, also when another operation came in between.
func TestIndexTableSetAgain(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", City: "Rome"}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		cut := byCity.Set(&ann, bson.D{e("city", "Oslo")}, token(2))
		cut.Steps = cut.Steps[:3] // entered, left, written
		mustExec(t, db, byCity.Insert(ann, token(1)), cut)
		for n, city := range []string{"Kyiv", "Oslo"} {
			now, err := members.ByID("a").One(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, db, byCity.Set(&now, bson.D{e("city", city)}, token(3-n)))
			wantSettled(t, db, byCity)
		}
		wantDocs(t, db, docs{"cities": {entry("Oslo", "a", named("", ""), true, 2)}})
	})
}

// wantSettled wants no drift, and each entry confirmed.
func wantSettled(t testing.TB, db *mongo.Database, x *denorm.IndexTable[member, string]) {
	t.Helper()
	wantDrifts(t, db, x)
	for _, name := range []string{"cities", "tags", "emails"} {
		if n, err := db.Collection(name).CountDocuments(context.Background(), bson.D{e("sure", false)}); err != nil || n > 0 {
			t.Errorf("%d entries of %s are not confirmed, %v", n, name, err)
		}
	}
}

// A way is how an operation's plan runs: see [plain] and [model.WithTransactions].
type way func(context.Context, model.DB) (model.DB, error)

func plain(_ context.Context, db model.DB) (model.DB, error) { return db, nil }

// run runs a plan in a way.
func (w way) run(ctx context.Context, db model.DB, p model.Plan) error {
	on, err := w(ctx, db)
	if err != nil {
		return err
	}
	return exec(ctx, on, p)
}

// operations are those on the member "a", which end with the two that know no transaction.
func operations(x *denorm.IndexTable[member, string], w way, there, back, copied bson.D) []operation {
	op := func(name string, plan func(*member, bson.ObjectID) model.Plan) operation {
		return operation{Name: name, Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			m, err := members.ByID("a").One(ctx, db)
			if errors.Is(err, model.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			return w.run(ctx, db, plan(&m, op))
		}}
	}
	set := func(name string, fields bson.D) operation {
		return op(name, func(m *member, op bson.ObjectID) model.Plan { return x.Set(m, fields, op) })
	}
	return []operation{
		set("there", there), set("back", back), set("copied", copied),
		op("delete", func(m *member, _ bson.ObjectID) model.Plan { return x.Delete(m) }),
		{Name: "insert", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return w.run(ctx, db, x.Insert(member{ID: "a", Name: "New", City: "Kyiv", Email: "k@x"}, op))
		}},
		{Name: "mend", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			for _, c := range x.Checks() {
				found, err := c.All(ctx, db)
				found = slices.DeleteFunc(found, func(f model.Finding) bool { return !f.Since.IsZero() }) // every claim may be under way
				if err == nil && c.Mend != nil {
					err = exec(ctx, db, c.Mend(found))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "rebuild", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			_, err := x.Rebuild().Run(ctx, db, model.JobOptions{})
			return err
		}},
	}
}

// Two operations on one document, in every order of their commands: each succeeds or says why not, and what is left is as
// it should be, or what the checks find and one repair mends. No entry is ever missing, no document is changed by the repair.
func TestIndexTableInterleaved(t *testing.T) {
	parallel(t)
	for quick, x := range []struct {
		name  string
		table *denorm.IndexTable[member, string]
		ops   []operation
	}{
		{"email", byEmail, operations(byEmail, plain, bson.D{e("email", "b@x")}, bson.D{e("email", "a@x")}, bson.D{e("name", "Bo")})},
		{"city", byCity, operations(byCity, plain, bson.D{e("city", "Oslo")}, bson.D{e("city", "Rome")}, bson.D{e("name", "Bo")})},
	} {
		for i, a := range x.ops {
			for j, b := range x.ops {
				if !everyPair && j != (i+quick)%len(x.ops) {
					continue
				}
				t.Run(x.name+" "+a.Name+" | "+b.Name, func(t *testing.T) { modeltest.Interleave(t, meeting(t, x.table, a, b)) })
			}
		}
	}
}

// meeting is two operations on a member of Rome.
func meeting(t *testing.T, x *denorm.IndexTable[member, string], a, b operation) modeltest.InterleaveCase {
	if os.Getenv("MONGODB_URI") == "" {
		t.Parallel()
	}
	all, mended := 0, 0
	t.Cleanup(func() { t.Logf("%d of %d orders left what a repair mended", mended, all) })
	return modeltest.InterleaveCase{
		Match:  interleaved,
		Sample: 3,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, x.Insert(member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x"}, token(9)))
		},
		A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, token(1)) },
		B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, token(2)) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			for _, err := range []error{errA, errB} {
				duplicate := mongo.IsDuplicateKeyError(err) // of a document that was deleted before it could be asked for
				if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) && !errors.Is(err, model.ErrTaken) && !duplicate {
					t.Errorf("error %v", err)
				}
			}
			ctx := context.Background()
			before, err := members.Find(nil).All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			found, err := drifts(ctx, db, x)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(found, func(f model.Finding) bool { return indexFault(f) == "missing" }) {
				t.Errorf("entries are missing: %q", texts(found))
			}
			if all++; len(found) > 0 {
				mended++
			}
			if _, err := mend(ctx, db, x); err != nil {
				t.Fatal(err)
			}
			wantDrifts(t, db, x)
			if after, _ := members.Find(nil).All(ctx, db); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the repair changed documents: %v, were %v", after, before)
			}
		},
	}
}

// Of 32 writers of one unique value one wins, and the others leave nothing.
func TestIndexTableOneWins(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		var wait sync.WaitGroup
		errs := make([]error, 32)
		for i := range errs {
			wait.Go(func() {
				errs[i] = exec(t.Context(), db, byEmail.Insert(member{ID: fmt.Sprint(i), Email: "one@x"}, token(i)))
			})
		}
		wait.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, model.ErrTaken) {
				t.Errorf("error %v", err)
			}
		}
		n, err := members.Find(nil).Count(t.Context(), db)
		if won != 1 || n != 1 || err != nil {
			t.Errorf("%d won, %d members, %v", won, n, err)
		}
		wantDrifts(t, db, byEmail)
	})
}

// Whatever is spoilt is found whole, and repaired to exactly what a rebuild from nothing gives.
func TestIndexTableDrift(t *testing.T) {
	parallel(t)
	cities := []string{"Rome", "Oslo", "Kyiv", ""}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			seed(t, db, docs{"members": nil, "cities": nil, "tags": nil})
			var list []member
			for i := range 30 {
				m := member{ID: fmt.Sprint(i), Name: fmt.Sprint("n", i), City: cities[r.IntN(4)], Tags: cities[:r.IntN(4)]}
				if r.IntN(2) == 0 {
					m.Home = &address{fmt.Sprint(i)}
				}
				list = append(list, m)
			}
			mustExec(t, db, members.InsertMany(list))
			for _, x := range []*denorm.IndexTable[member, string]{byCity, byTag} {
				if _, err := x.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
					t.Fatal(err)
				}
				wantDrifts(t, db, x)
			}
			want := map[string]int{}
			for _, i := range r.Perm(30)[:12] {
				if m := list[i]; m.City != "" {
					want[spoil(t, db, &m, r.IntN(4))]++
				}
			}
			found, err := drifts(t.Context(), db, byCity)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, s := range texts(found) {
				got[s]++
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("found %v, want %v", got, want)
			}
			if err := mendedByJobs(byCity.Checks()...)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			wantDrifts(t, db, byCity)
			repaired, _ := modeltest.Dump(t.Context(), db)
			seed(t, db, docs{"cities": nil})
			if _, err := byCity.Rebuild().Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			if rebuilt, _ := modeltest.Dump(t.Context(), db); rebuilt != repaired {
				t.Errorf("repaired:\n%s\nrebuilt:\n%s", repaired, rebuilt)
			}
		}
	})
}

// spoil makes one fault, past the table, and says how a check is to call it.
func spoil(t *testing.T, db *mongo.Database, m *member, how int) string {
	t.Helper()
	ctx, key := t.Context(), bson.D{e("_id", bson.D{e("v", m.City), e("id", m.ID)})}
	var err error
	fault := "surplus"
	switch how {
	case 0:
		_, err = db.Collection("members").DeleteOne(ctx, bson.D{e("_id", m.ID)})
	case 1:
		_, err = db.Collection("members").UpdateByID(ctx, m.ID, bson.D{e("$unset", bson.D{e("city", "")})})
	case 2:
		fault = "missing"
		_, err = db.Collection("cities").DeleteOne(ctx, key)
	case 3:
		fault = "staleCopy"
		_, err = db.Collection("members").UpdateByID(ctx, m.ID, bson.D{e("$set", bson.D{e("home.zip", "new")})})
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: '%s' of '%s'", fault, m.City, m.ID)
}
