package subset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// byTwo is the newest three remarks of a thread, and the first two of them whole.
func byTwo(more ...model.Technique) (*model.Model, *model.Store[thread, string], *model.Store[remark, string]) {
	m := model.New("threads", append([]model.Technique{newestThree, wholeTwo}, more...)...)
	return m, model.NewStore(m, threads), model.NewStore(m, remarks)
}

// ofThread is a rule that writes remarks when a thread's title changes: it deletes the remarks with these _ids,
// and moves those that follow "/" to no thread.
func ofThread(deleted, moved []string) model.Technique {
	return model.NewParts(nil, nil, nil, func() []model.Footprint { return model.Writes.In("threads", "title") }).
		WithReactions(func() []model.Reaction {
			return []model.Reaction{{
				Collection: "threads", Paths: []string{"title"},
				Fetch: func(model.StoreWrite) ([]model.Fetch, error) {
					return []model.Fetch{{
						Query: &model.Query{Collection: "remarks", Sort: bson.D{testkit.E("_id", 1)}},
					}}, nil
				},
				React: func(w model.StoreWrite) (a model.Answer, err error) {
					for _, doc := range w.FoundAll(0) {
						id := doc.Lookup("_id").StringValue()
						write := model.StoreWrite{Collection: "remarks", Before: doc}
						switch {
						case w.Before == nil:
							continue
						case slices.Contains(deleted, id):
						case slices.Contains(moved, id):
							write.Change = func(bson.Raw) (bson.D, error) {
								return bson.D{testkit.E("thread", bson.RawValue{})}, nil
							}
						default:
							continue
						}
						a.Writes = append(a.Writes, write)
					}
					return a, err
				},
			}}
		})
}

// following is a rule that moves d to no thread when a has moved.
func following() model.Technique {
	return model.NewParts(nil, nil, nil, func() []model.Footprint { return model.Writes.In("remarks", "thread") }).
		WithReactions(func() []model.Reaction {
			return []model.Reaction{{
				Collection: "remarks", Paths: []string{"thread"},
				Fetch: func(model.StoreWrite) ([]model.Fetch, error) {
					return []model.Fetch{{
						Query: &model.Query{Collection: "remarks", Filter: bson.D{testkit.E("_id", "d")}},
					}}, nil
				},
				React: func(w model.StoreWrite) (a model.Answer, err error) {
					if w.Before != nil && w.After != nil && w.Before.Lookup("_id").StringValue() == "a" {
						a.Writes = []model.StoreWrite{{
							Collection: "remarks", Before: w.Found(0),
							Change: func(bson.Raw) (bson.D, error) {
								return bson.D{testkit.E("thread", bson.RawValue{})}, nil
							},
						}}
					}
					return a, err
				},
			}}
		})
}

func transacting(t testing.TB, db *mongo.Database) model.DB {
	t.Helper()
	mongotest.Need(t, db, mongotest.Transactions)
	tx, err := model.WithTransactions(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func ids(letters string) (out []string) {
	for _, c := range letters {
		out = append(out, string(c))
	}
	return out
}

// seedRemarks stores a thread with n remarks, the newest first: a, b, c and so on.
func seedRemarks(ctx context.Context, db model.DB, n int) error {
	_, posts, notes := byTwo()
	err := last(posts.Insert(thread{ID: "t"}).Run(ctx, db))
	var list []remark
	for i := range n {
		list = append(list, remark{ID: string(rune('a' + i)), Thread: "t", At: 100 - i, Text: "x"})
	}
	if n > 0 {
		err = errors.Join(err, last(notes.InsertMany(list...).Run(ctx, db)))
	}
	return err
}

func last[S any](_ S, _ model.Result, err error) error { return err }

// One action removes several children of a parent: the array is filled up by children that remain, in every order.
func TestSubsetStoreSiblings(t *testing.T) {
	tests := []struct {
		deleted, moved string
		refused        bool
	}{
		{deleted: "ab"}, {deleted: "ad"}, {deleted: "abcd"}, {deleted: "de"}, {deleted: "abcdefg"}, {deleted: "gca"},
		{moved: "ab"}, {moved: "ad"}, {moved: "cd"}, {moved: "abdef"}, {moved: "dfa"},
		{deleted: "a", moved: "b", refused: true}, {deleted: "a", moved: "d", refused: true},
		{deleted: "g", moved: "a", refused: true}, {deleted: "abcdefghijkl", refused: true},
		{moved: "abcdefghijkl", refused: true},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := transacting(t, db)
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s,%s", test.deleted, test.moved), func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"threads": nil, "remarks": nil})
				if err := seedRemarks(t.Context(), tx, 20); err != nil {
					t.Fatal(err)
				}
				m, posts, _ := byTwo(ofThread(ids(test.deleted), ids(test.moved)))
				err := last(posts.Set("t", bson.D{testkit.E("title", "new")}).Run(t.Context(), tx))
				if value := (*model.ValueError)(nil); test.refused != errors.As(err, &value) ||
					!test.refused && err != nil {
					t.Error(err)
				}
				for f, err := range m.Audit().Each(t.Context(), db) {
					t.Errorf("the audit finds %s (%v)", f, err)
				}
				got, err := threads.ByID("t").One(t.Context(), db)
				if err != nil || len(got.Newest) != 3 || len(got.Whole) != 2 {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
	})
}

// A child that fills up the array is moved later in the same action.
func TestSubsetStoreFollowing(t *testing.T) {
	for _, order := range []bool{true, false} {
		m := model.New("m", newestThree, wholeTwo, following())
		if order {
			m = model.New("m", following(), newestThree, wholeTwo)
		}
		store := model.NewStore(m, remarks)
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			tx := transacting(t, db)
			if err := seedRemarks(t.Context(), tx, 6); err != nil {
				t.Fatal(err)
			}
			if err := last(store.Edit("a", func(r *remark) error { r.Thread = ""; return nil }).
				Run(t.Context(), tx)); err != nil {
				t.Fatal(err)
			}
			got, err := threads.ByID("t").One(t.Context(), db)
			if err != nil || len(got.Newest) != 3 || got.Newest[2].ID != "e" {
				t.Errorf("%+v, %v", got, err)
			}
			for f, err := range m.Audit().Each(t.Context(), db) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		})
	}
}

// Two actions of stores meet, in transactions and without: one removes a child from the array, the other changes the
// child that fills it up, or refreshes the array.
func TestSubsetStoreMeets(t *testing.T) {
	testkit.Parallel(t)
	m, _, notes := byTwo()
	set := func(id string, fields bson.D) model.ChangeOf[model.Stored[remark]] { return notes.Set(id, fields) }
	others := map[string]model.Change{
		"refresh": newestThree.Refresh("t"), "delete d": notes.Delete("d").Change(),
		"delete b": notes.Delete("b").Change(), "text of d": set("d", bson.D{testkit.E("text", "new")}).Change(),
		"d is the oldest": set("d", bson.D{testkit.E("at", 1)}).Change(),
		"d moves":         set("d", bson.D{testkit.E("thread", "u")}).Change(),
		"between":         notes.Insert(remark{ID: "z", Thread: "t", At: 97}).Change(),
		"likes of c":      set("c", bson.D{testkit.E("likes", 7)}).Change(),
		"e is the newest": set("e", bson.D{testkit.E("at", 500)}).Change(),
		"text of e":       set("e", bson.D{testkit.E("text", "new")}).Change(),
	}
	firsts := map[string]model.Change{
		"delete a": notes.Delete("a").Change(), "a moves": set("a", bson.D{testkit.E("thread", "u")}).Change(),
		"a is the oldest": set("a", bson.D{testkit.E("at", 2)}).Change(),
	}
	for first, a := range firsts {
		for other, b := range others {
			for _, transactions := range []bool{true, false} {
				t.Run(fmt.Sprint(first, ", ", other, ", ", transactions), func(t *testing.T) {
					way := func(ctx context.Context, db *mongo.Database) model.DB {
						if transactions {
							return transacting(t, db)
						}
						return db
					}
					run := func(c model.Change) func(context.Context, *mongo.Database) error {
						return func(ctx context.Context, db *mongo.Database) error {
							_, err := c.Run(ctx, way(ctx, db))
							return err
						}
					}
					meet := modeltest.InterleaveCase{
						Transactions: transactions, Nested: transactions, Sample: 1, A: run(a), B: run(b),
						Seed: func(ctx context.Context, db *mongo.Database) error {
							err := seedRemarks(ctx, way(ctx, db), 5)
							return errors.Join(err,
								last(model.NewStore(m, threads).Insert(thread{ID: "u"}).Run(ctx, db)))
						},
						Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
							if err := errors.Join(errA, errB); err != nil {
								t.Error(err)
							}
							for f, err := range m.Audit().Each(t.Context(), db) {
								t.Errorf("the audit finds %s (%v)", f, err)
							}
						},
					}
					if !transactions {
						meet.Sample, meet.Match = 2, mongotest.Writes
					}
					modeltest.Interleave(t, meet)
				})
			}
		}
	}
}

// What a store refuses, and writes that need no transaction.
func TestSubsetStoreRefuses(t *testing.T) {
	_, posts, notes := byTwo()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedRemarks(t.Context(), db, 4); err != nil {
			t.Fatal(err)
		}
		ways := []model.DB{db}
		if tx, err := model.WithTransactions(t.Context(), db); err == nil {
			ways = append(ways, tx)
		}
		for i, way := range ways {
			for field, c := range map[string]model.ChangeOf[model.Stored[remark]]{
				"at": notes.Set("a", bson.D{testkit.E("at", nil)}),
			} {
				if value := (*model.ValueError)(nil); !errors.As(last(c.Run(t.Context(), way)),
					&value) || value.Field != field {
					t.Errorf("%s: %v", c.Name, last(c.Run(t.Context(), way)))
				}
			}
			err := last(posts.Insert(thread{ID: "x", Newest: []remark{{ID: "a"}}}).Run(t.Context(), way))
			if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "newest" {
				t.Error(err)
			}
			if err := last(notes.Insert(remark{ID: fmt.Sprint("lost", i), Thread: "none", At: 1}).
				Run(t.Context(), way)); !errors.Is(err, model.ErrNotFound) {
				t.Error(err)
			}
		}
		got, err := threads.ByID("t").One(t.Context(), db)
		if problem := mongotest.Diff(thread{ID: "t",
			Newest: []remark{{ID: "a", At: 100, Text: "x"}, {ID: "b", At: 99, Text: "x"}, {ID: "c", At: 98, Text: "x"}},
			Whole:  []remark{{ID: "a", Thread: "t", At: 100, Text: "x"}, {ID: "b", Thread: "t", At: 99, Text: "x"}},
		}, got); err != nil || problem != "" {
			t.Error(problem, err)
		}
	})
}

// A child that a transaction relies on has the store's own field. Copies of the whole child leave it out.
func TestSubsetStoreField(t *testing.T) {
	m, _, notes := byTwo()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedRemarks(t.Context(), db, 3); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Collection("remarks").
			UpdateMany(t.Context(), bson.D{}, bson.D{
				testkit.E("$inc", bson.D{testkit.E("kept.hold", int64(1))}),
			}); err != nil {
			t.Fatal(err)
		}
		want := func(reason string, err error) {
			t.Helper()
			if err != nil {
				t.Error(reason, err)
			}
			for f, err := range m.Audit().Each(t.Context(), db) {
				t.Errorf("%s: the audit finds %s (%v)", reason, f, err)
			}
		}
		want("held", nil)
		want("Set", last(notes.Set("a", bson.D{testkit.E("likes", 3)}).Run(t.Context(), db)))
		if tx, err := model.WithTransactions(t.Context(), db); err == nil {
			want("Set in a transaction",
				last(notes.Set("a", bson.D{testkit.E("text", "y"), testkit.E("likes", 0)}).Run(t.Context(), tx)))
		}
		want("Delete", last(notes.Delete("a").Run(t.Context(), db)))
	})
}

// In a store too, copies of whole children have the fields that scopes add to each write of a child.
func TestSubsetStoreStamped(t *testing.T) {
	m, _, notes := byTwo()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Feature{Name: "new fields in the order of their names", Probe: addsByName})
		tx, at := transacting(t, db), 0
		stamped := func() model.DB {
			at++
			return model.Scope{
				Insert:      bson.D{testkit.E("by", "ann")},
				Set:         bson.D{testkit.E("at1", at), testkit.E("about", bson.D{testkit.E("z", at)})},
				Collections: []string{"remarks"},
			}.On(tx)
		}
		if err := seedRemarks(t.Context(), stamped(), 5); err != nil {
			t.Fatal(err)
		}
		for i, c := range []model.ChangeOf[model.Stored[remark]]{
			notes.Set("a", bson.D{testkit.E("text", "y"), testkit.E("likes", 3)}),
			notes.Set("a", bson.D{testkit.E("at", 1)}),
			notes.Delete("b"),
			notes.Edit("c", func(r *remark) error { r.Thread = ""; return nil }),
			notes.Insert(remark{ID: "z", Thread: "t", At: 500}),
		} {
			if err := last(c.Run(t.Context(), stamped())); err != nil {
				t.Error(err)
			}
			for f, err := range m.Audit().Each(t.Context(), tx) {
				t.Errorf("change %d, %s: the audit finds %s (%v)", i, c.Name, f, err)
			}
		}
	})
}

// A counter's average is written by a pipeline, which can't be merged with the array's update: without transactions
// too, each of the two updates is applied once.
func TestSubsetStoreBesideAverage(t *testing.T) {
	rating := counter.New(remarks, "thread", threads, counter.Spec{
		Averages: []counter.AverageField{{From: "likes", To: "rating", Value: "score"}},
	})
	m, posts, notes := byTwo(rating)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		err := errors.Join(last(posts.Insert(thread{ID: "t"}).Run(t.Context(), db)),
			last(posts.Insert(thread{ID: "u"}).Run(t.Context(), db)))
		for i, id := range []string{"a", "b", "c", "d", "e"} {
			for range 2 { // a request that comes twice
				ctx := model.WithToken(t.Context(), testkit.Token(i+1))
				err = errors.Join(err, last(notes.Insert(remark{ID: id, Thread: "t", At: i, Likes: i}).Run(ctx, db)))
			}
		}
		for _, c := range []changed{
			notes.Set("e", bson.D{testkit.E("likes", 9), testkit.E("text", "new")}),
			notes.Set("d", bson.D{testkit.E("at", -1), testkit.E("likes", 2)}),
			notes.Set("c", bson.D{testkit.E("thread", "u")}), notes.Delete("e"),
		} {
			err = errors.Join(err, last(c.Run(t.Context(), db)))
		}
		for f, errAudit := range m.Audit().Each(t.Context(), db) {
			t.Errorf("the audit finds %s (%v)", f, errAudit)
		}
		if err != nil {
			t.Error(err)
		}
	})
}
