package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mend mends once what the checks find.
func mend[D, K any](ctx context.Context, db *mongo.Database, x *indextable.IndexTable[D, K]) (int, error) {
	found, err := drifts(ctx, db, x)
	if err != nil {
		return 0, err
	}
	return len(found), testkit.MendedNow(x.Checks()...)(ctx, db)
}

// wantSettled wants no drift, and each entry confirmed.
func wantSettled(t testing.TB, db *mongo.Database, x *indextable.IndexTable[member, string]) {
	t.Helper()
	wantDrifts(t, db, x)
	for _, name := range []string{"cities", "tags", "emails"} {
		if n, err := db.Collection(name).
			CountDocuments(context.Background(), bson.D{testkit.E("sure", false)}); err != nil || n > 0 {
			t.Errorf("%d entries of %s are not confirmed, %v", n, name, err)
		}
	}
}

// A tableCase is a table with its store, and fields that change its value.
type tableCase struct {
	name   string
	table  *indextable.IndexTable[member, string]
	store  *memberStore
	fields bson.D
}

var tableCases = []tableCase{
	{"city", byCity, cityStore, bson.D{testkit.E("city", "Oslo"), testkit.E("name", "Bo")}},
	{"tags", byTag, tagStore, bson.D{testkit.E("tags", []string{"y", "z"})}},
	{"email", byEmail, emailStore, bson.D{testkit.E("email", "b@x")}},
}

var faultyMember = member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}

// Each change can be cut anywhere and run again.
func TestIndexTableFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, x := range tableCases {
		insert := x.store.Insert(faultyMember)
		for _, c := range []struct {
			name   string
			seed   []memberChange
			change memberChange
			n      int64 // of members
		}{
			{"insert", nil, insert, 1},
			{"set", []memberChange{insert}, x.store.Set("a", x.fields), 1},
			{"delete", []memberChange{insert}, x.store.Delete("a"), 0},
		} {
			t.Run(x.name+" "+c.name, func(t *testing.T) {
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: func(ctx context.Context, db *mongo.Database) error {
						for _, s := range c.seed {
							if err := run(ctx, db, testkit.Token(1), s); err != nil {
								return err
							}
						}
						return nil
					},
					Run: func(ctx context.Context, db *mongo.Database) error {
						err := run(ctx, db, testkit.Token(2), c.change)
						if c.name == "delete" && errors.Is(err, model.ErrNotFound) { // the first run has deleted it
							err = nil
						}
						return err
					},
					Check: func(t testing.TB, db *mongo.Database) {
						wantSettled(t, db, x.table)
						if n, err := members.Find(nil).Count(context.Background(), db); err != nil || n != c.n {
							t.Errorf("%d members, %v", n, err)
						}
					},
				})
			})
		}
		t.Run(x.name+" rebuild and repair", func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					lost := cutAfter(1,
						x.store.Insert(member{ID: "z", City: "Lost", Email: "z@x", Tags: []string{"l"}}))
					many := members.InsertMany([]member{
						faultyMember,
						{ID: "b", City: "Oslo", Email: "b@x", Tags: []string{"x"}},
					})
					_, err := many.Run(ctx, db)
					return errors.Join(err, run(ctx, db, testkit.Token(3), lost))
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

// A Set that was cut is finished by the next Set of the document.
func TestIndexTableSetAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustChange(t, db, cityStore.Insert(member{ID: "a", City: "Rome"}))
		mustChange(t, db, cutAfter(3, cityStore.Set("a", bson.D{testkit.E("city", "Oslo")}))) // claimed, left, written
		for _, city := range []string{"Kyiv", "Oslo"} {
			mustChange(t, db, cityStore.Set("a", bson.D{testkit.E("city", city)}))
			wantSettled(t, db, byCity)
		}
		wantEntries(t, db, "cities", "Oslo of a: {home: {}}")
	})
}

// A way is the database on which an operation runs: see [plain] and [model.WithTransactions].
type way func(context.Context, model.DB) (model.DB, error)

func plain(_ context.Context, db model.DB) (model.DB, error) { return db, nil }

// operations are operations on the member "a". The last two know no transaction.
func operations(x *indextable.IndexTable[member, string], s *memberStore, w way, there, back bson.D) []testkit.Operation {
	op := func(name string, c memberChange) testkit.Operation {
		return testkit.Operation{
			Name: name,
			Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				on, err := w(ctx, db)
				if err != nil {
					return err
				}
				return run(ctx, on, op, c)
			},
		}
	}
	return []testkit.Operation{
		op("there", s.Set("a", there)), op("back", s.Set("a", back)),
		op("copied", s.Set("a", bson.D{testkit.E("name", "Bo")})), op("delete", s.Delete("a")),
		op("insert", s.Insert(member{ID: "a", Name: "New", City: "Kyiv", Email: "k@x"})),
		{Name: "mend", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			return mendPast(ctx, db, x)
		}},
		{Name: "rebuild", Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
			_, err := x.Rebuild().Run(ctx, db, model.JobOptions{})
			return err
		}},
	}
}

// mendPast mends what the checks find, without claims: each may be under way.
func mendPast(ctx context.Context, db *mongo.Database, x *indextable.IndexTable[member, string]) error {
	for _, c := range x.Checks() {
		found, err := c.All(ctx, db)
		found = slices.DeleteFunc(found, func(f model.Finding) bool { return !f.Since.IsZero() })
		if err == nil && c.Mend != nil {
			_, err = c.Mend(found).Run(ctx, db)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// operationCases are the operations on members by email and by city.
func operationCases(w way) []struct {
	tableCase
	ops []testkit.Operation
} {
	type ops = struct {
		tableCase
		ops []testkit.Operation
	}
	email, city := tableCases[2], tableCases[0]
	return []ops{
		{
			tableCase: email,
			ops: operations(byEmail, emailStore, w, bson.D{testkit.E("email", "b@x")},
				bson.D{testkit.E("email", "a@x")}),
		},
		{city, operations(byCity, cityStore, w, bson.D{testkit.E("city", "Oslo")}, bson.D{testkit.E("city", "Rome")})},
	}
}

// Two operations on one document, in every order of their commands: each succeeds or says
// why not, and a repair mends at most surplus entries. The repair changes no document.
func TestIndexTableInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for quick, x := range operationCases(plain) {
		for i, a := range x.ops {
			for j, b := range x.ops {
				if !testkit.EveryPair && j != (i+quick)%len(x.ops) {
					continue
				}
				t.Run(x.name+" "+a.Name+" | "+b.Name, func(t *testing.T) {
					modeltest.Interleave(t, meeting(t, x.tableCase, a, b))
				})
			}
		}
	}
}

// An operation in a transaction, and any other one, in a transaction or not: the same.
func TestIndexTableInterleavedTransactions(t *testing.T) {
	testkit.Parallel(t)
	const transact = 5 // of the operations
	besides, ands := operationCases(plain), operationCases(model.WithTransactions)
	for quick, x := range besides {
		and := ands[quick].ops[:transact]
		for i, a := range and {
			for j, b := range slices.Concat(x.ops, and) {
				if !testkit.EveryPair && (i+j+quick)%6 > 0 {
					continue
				}
				with := "beside"
				if j >= len(x.ops) {
					with = "and"
				}
				t.Run(fmt.Sprintf("%s %s in a transaction %s %s", x.name, a.Name, with, b.Name), func(t *testing.T) {
					c := meeting(t, x.tableCase, a, b)
					c.Match, c.Transactions, c.Nested = mongotest.Writes, true, true
					modeltest.Interleave(t, c)
				})
			}
		}
	}
}

// meeting is two operations on a member of Rome.
func meeting(t *testing.T, x tableCase, a, b testkit.Operation) modeltest.InterleaveCase {
	if os.Getenv("MONGODB_URI") == "" {
		t.Parallel()
	}
	all, mended := 0, 0
	t.Cleanup(func() { t.Logf("%d of %d orders left surplus entries", mended, all) })
	return modeltest.InterleaveCase{
		Match:  mongotest.Writes,
		Sample: 3,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return run(ctx, db, testkit.Token(9),
				x.store.Insert(member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x"}))
		},
		A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, testkit.Token(1)) },
		B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, testkit.Token(2)) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			for _, err := range []error{errA, errB} {
				duplicate := mongo.IsDuplicateKeyError(err)
				if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) &&
					!errors.Is(err, model.ErrTaken) && !duplicate {
					t.Errorf("error %v", err)
				}
			}
			if all++; wantOnlySurplus(t, db, x.table) > 0 {
				mended++
			}
		},
	}
}

// wantOnlySurplus tests that the checks find at most surplus entries, and that the repair
// deletes them, and changes no document. It returns the number of findings.
func wantOnlySurplus(t testing.TB, db *mongo.Database, x *indextable.IndexTable[member, string]) int {
	t.Helper()
	ctx := context.Background()
	before, err := members.Find(nil).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	found, err := drifts(ctx, db, x)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(found, func(f model.Finding) bool { return indexFault(f) != "surplus" }) {
		t.Errorf("the checks find %q", texts(found))
	}
	if _, err := mend(ctx, db, x); err != nil {
		t.Fatal(err)
	}
	wantSettled(t, db, x)
	if after, _ := members.Find(nil).All(ctx, db); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the repair changed documents: %v, were %v", after, before)
	}
	return len(found)
}

// Of 32 writers of one unique value one wins, and the others leave nothing.
func TestIndexTableOneWins(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var wait sync.WaitGroup
		errs := make([]error, 32)
		for i := range errs {
			wait.Go(func() {
				errs[i] = run(t.Context(), db, testkit.Token(i),
					emailStore.Insert(member{ID: fmt.Sprint(i), Email: "one@x"}))
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
