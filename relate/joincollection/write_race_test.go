package joincollection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestJoinCollectionFaults(t *testing.T) {
	testkit.Parallel(t)
	many := func(prefix string) []liking {
		return []liking{
			like(prefix+"1", "cid", 1, 9), like(prefix+"2", "cid", 2, 9), like(prefix+"3", "cid", 3, 9),
			like(prefix+"4", "bob", 2, 9),
		}
	}
	for _, c := range []struct {
		name, want string
		run        testkit.DBFunc
	}{
		{"link many", "+m1:cid-1 +m2:cid-2 +m3:cid-3 +m4:bob-2", testkit.Changed(likeStore.InsertMany(many("m")...))},
		{"link one", "+m1:cid-1", testkit.Changed(likeStore.Insert(many("m")[0]))},
		{"ensure", "+m1:cid-1", testkit.Changed(ensure(many("m")[0]))},
		{
			"give other ids", "+l4:cid-2 -l4:bob-1",
			testkit.Changed(likeStore.SetOne(bson.D{{Key: "_id", Value: "l4"}}, pairOf("cid", 2))),
		},
		{"unlink a side", "-l1:ann-1 -l2:ann-2 -l3:ann-3 -l6:ann-9", testkit.Doing(likes.Left.Unlink("ann"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seedLikes, Run: c.run,
				Check: func(t testing.TB, db *mongo.Database) {
					before := []string{"l1:ann-1", "l2:ann-2", "l3:ann-3", "l4:bob-1", "l5:gone-1", "l6:ann-9"}
					if got := changes(before, linkIDs(t, db), ""); got != c.want {
						t.Errorf("changed %q, want %q", got, c.want)
					}
				},
			})
		})
	}
}

// likeOperations are what one writer does to the pairs bob-1, which is linked by l4, and cid-2, which isn't.
func likeOperations() []testkit.Operation {
	by := func(name string, of func(writer bson.ObjectID) likeChange) testkit.Operation {
		return testkit.Operation{Name: name, Run: func(
			ctx context.Context, db *mongo.Database, writer bson.ObjectID,
		) error {
			return testkit.Changed(of(writer))(ctx, db)
		}}
	}
	of := func(name string, c likeChange) testkit.Operation {
		return by(name, func(bson.ObjectID) likeChange { return c })
	}
	return []testkit.Operation{
		by("link", func(w bson.ObjectID) likeChange { return likeStore.Insert(like(w.Hex(), "cid", 2, 7)) }),
		by("ensure", func(w bson.ObjectID) likeChange { return ensure(like(w.Hex(), "cid", 2, 7)) }),
		of("unlink", likeStore.DeleteOne(pairOf("cid", 2))),
		of("move", likeStore.SetOne(append(pairOf("bob", 1), bson.E{Key: "_id", Value: "l4"}), pairOf("cid", 2))),
		of("unlink old", likeStore.DeleteOne(pairOf("bob", 1))),
		of("update", rate("bob", 1, 1)),
	}
}

// Whatever two writers do at once, a pair is tied by one link, no error is another than stale or linked, and the
// outcome is
// that of one after the other.
func TestJoinCollectionInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := likeOperations()
	for _, a := range ops {
		for _, b := range ops {
			testkit.Meet(t, a, b, modeltest.InterleaveCase{
				Seed: seedLikes, Sample: 2,
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					for _, err := range []error{errA, errB} {
						if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) &&
							!errors.Is(err, model.ErrTaken) {
							t.Error(err)
						}
					}
					pairs := map[string]int{}
					for _, l := range linkIDs(t, db) {
						_, pair, _ := strings.Cut(l, ":")
						if pairs[pair]++; pairs[pair] > 1 {
							t.Errorf("%s is linked twice: %v", pair, linkIDs(t, db))
						}
					}
					if errA == nil && errB == nil && a.Name == "link" && b.Name == "link" {
						t.Error("both linked one pair")
					}
					for name, err := range map[string]error{a.Name: errA, b.Name: errB} {
						if name == "ensure" && err != nil {
							t.Errorf("ensure: %v", err)
						}
					}
				},
			})
		}
	}
}

// What links that are documents cost.
func TestJoinCollectionCosts(t *testing.T) {
	testkit.Parallel(t)
	l1, l4 := like("l1", "ann", 1, 1), like("l4", "bob", 1, 3)
	before := testkit.Docs{
		"users": {fan{ID: "ann"}, fan{ID: "bob"}, fan{ID: "cid"}}, "items": {thing{1, "one"}, thing{2, "two"}},
		"likes": {l1, like("l2", "ann", 2, 2), l4},
	}
	seed := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(testkit.CreateIndexes(ctx, db, likes), testkit.Store(ctx, db, before))
	}
	testkit.WantPricesAnew(t, seed,
		testkit.Does("Unlink of the left side", 1, 2, 0, testkit.Doing(likes.Left.Unlink("ann"))),
		testkit.Does("Unlink of the right side", 1, 2, 0, testkit.Doing(likes.Right.Unlink(1))),
		testkit.Reads("Pair", 1, likes.Pair("bob", 1)),
		testkit.Reads("Links of the left side", 2, likes.Left.Links("ann")),
		testkit.Reads("Links of the right side", 2, likes.Right.Links(1)),
		testkit.Reads("Others of the right side", 2, likes.Right.Others(1, nil, 0)),
		testkit.Reads("Counts of the left side", 2, likes.Left.Counts("ann", "bob", "cid")),
		testkit.Reads("Counts of the right side", 2, likes.Right.Counts(1, 2, 3)),
	)
}

// Each query is served by the index that it names. DocumentDB serves no sorts by indexes, so that the unique index
// would do
// as well for it: that one is made last.
func TestJoinCollectionIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := (model.IndexSet{Needed: likes.Indexes()[1:]}).Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		var all []liking
		for i := range 4000 {
			all = append(
				all, like(string(rune('a'+i%26))+string(rune(0x4e00+i)), string(rune(0x4e00+i/8)), int64(i%500), i),
			)
		}
		if _, err := likings.InsertMany(all).Run(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		user, link := all[80].User, all[80]
		for _, q := range []struct {
			reason string
			query  any
			index  string
		}{
			{"the links of a left document", likes.Left.Links(user), "user_1_at_-1__id_-1"},
			{"the links of a right document", likes.Right.Links(80), "item_1_at_-1__id_-1"},
			{"a page of one side", likes.Left.Others(user, &link, 3), "user_1_at_-1__id_-1"},
			{"a page of the other side", likes.Right.Others(80, &link, 3), "item_1_at_-1__id_-1"},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
		if err := model.New("test", likes).Indexes().Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, likes.Pair(user, 80), "user_1_item_1")
	})
}

// A tie is a link of ids of any type.
type tie struct {
	ID   string `bson:"_id"`
	L    any    `bson:"l"`
	R    any    `bson:"r"`
	Note string `bson:"note"`
}

type side struct {
	ID any `bson:"_id"`
}

var (
	as, bs = model.NewCollection[side, any]("as"), model.NewCollection[side, any]("bs")
	ties   = model.NewCollection[tie, string]("ties")
	tied   = joincollection.New(ties, "l", as, "r", bs, joincollection.Spec{})

	tieStore = model.NewStore(model.New("ties", tied), ties)
)

// int32 1 and int64 1 are one id, as they are to the server.
func TestJoinCollectionSameID(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustSeed(t, db, func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(
				testkit.CreateIndexes(ctx, db, tied),
				testkit.Store(ctx, db, testkit.Docs{"as": {side{"a"}}, "bs": {side{int32(1)}}}),
			)
		})
		testkit.MustChange(t, db, tieStore.Insert(tie{ID: "x", L: "a", R: int32(1)}))
		pair := bson.D{{Key: "l", Value: "a"}, {Key: "r", Value: int64(1)}}
		if s, _, err := tieStore.EnsureOne(pair, tie{ID: "y", L: "a", R: int64(1)}).Run(t.Context(), db); err != nil ||
			s.Doc.ID != "x" {
			t.Errorf("%+v, %v", s.Doc, err)
		}
	})
}

// Ids that look like commands stay data, from the write to the lookup.
func TestJoinCollectionHostile(t *testing.T) {
	testkit.Parallel(t)
	hostile := []any{
		"$_id", "$$ROOT", "a.b", "{$ne: null}", "^.*", "é\x00", "' || true || '", int32(0), int64(-1), 1.5, true,
		bson.D{{Key: "a", Value: "$x"}, {Key: "b", Value: 1}}, bson.Binary{Data: []byte{0}},
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		do := func(run testkit.DBFunc) {
			t.Helper()
			if err := run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range hostile {
			do(testkit.Doing(as.Insert(side{id})))
			do(testkit.Doing(bs.Insert(side{id})))
		}
		for i, id := range hostile {
			other := hostile[(i+1)%len(hostile)]
			pair := bson.D{{Key: "l", Value: mql.Eq(id)}, {Key: "r", Value: mql.Eq(other)}}
			do(testkit.Changed(tieStore.Insert(tie{string(rune('a' + i)), id, other, "n"})))
			do(testkit.Changed(tieStore.EnsureOne(pair, tie{string(rune('A' + i)), id, other, "n"})))
			do(testkit.Changed(tieStore.SetOne(pair, bson.D{{Key: "note", Value: "$note"}})))
		}
		for i, id := range hostile {
			got, err := tied.Left.Others(id, nil, 0).All(ctx, db)
			if err != nil || len(got) != 1 || got[0].To == nil || got[0].Doc.ID != string(rune('a'+i)) ||
				got[0].Doc.Note != "$note" {
				t.Errorf("%s: %v, %v", model.Shell(id), got, err)
			}
		}
		for _, id := range hostile {
			do(testkit.Doing(tied.Left.Unlink(id)))
		}
		if n, err := ties.Find(nil).Count(ctx, db); err != nil || n != 0 {
			t.Errorf("%d left, %v", n, err)
		}
	})
	for _, id := range []any{bson.Regex{Pattern: ".*"}, bson.A{1}, nil, bson.D{{Key: "$gt", Value: 1}}, bson.D{}} {
		if tied.Pair(id, 1).Err == nil || tied.Pair(1, id).Err == nil || tied.Right.Unlink(id).Err == nil {
			t.Errorf("%s is taken for an id", model.Shell(id))
		}
	}
}

// What a call returns doesn't change with what the caller does to its arguments afterwards.
func TestJoinCollectionPure(t *testing.T) {
	testkit.Parallel(t)
	l := like("l4", "bob", 1, 3)
	read := likes.Left.Others("bob", &l, 0)
	want := read.String()
	l.User, l.ID, *l.At = "x", "y", *minute(50)
	if got := read.String(); got != want {
		t.Errorf("changed: %q, was %q", got, want)
	}
}
