package relate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestJoinCollectionFaults(t *testing.T) {
	parallel(t)
	l4 := like("l4", "bob", 1, 3)
	many := func(prefix string) []liking {
		return []liking{like(prefix+"1", "cid", 1, 9), like(prefix+"2", "cid", 2, 9), like(prefix+"3", "cid", 3, 9), like(prefix+"4", "bob", 2, 9)}
	}
	for _, c := range []struct {
		name, want string
		plan       model.Plan
	}{
		{"link many", "+m1:cid-1 +m2:cid-2 +m3:cid-3 +m4:bob-2", likes.LinkAll(many("m"))},
		{"ensure many", "+m1:cid-1 +m2:cid-2 +m3:cid-3 +m4:bob-2", likes.EnsureAll(many("m"))},
		{"unlink a side", "-l1:ann-1 -l2:ann-2 -l3:ann-3 -l6:ann-9", model.NewPlan(likes.UnlinkLeft("ann"))},
		{"move", "+l4:cid-2 -l4:bob-1", model.NewPlan(likes.Move(&l4, "cid", 2))},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seedLikes,
				Run:  func(ctx context.Context, db *mongo.Database) error { _, err := c.plan.Run(ctx, db); return err },
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

// A likeOperation is what one writer does to the pairs bob-1, which is linked by l4, and cid-2, which isn't.
type likeOperation struct {
	name string
	run  func(ctx context.Context, db *mongo.Database, writer string) error
}

func likeOperations() []likeOperation {
	l4 := like("l4", "bob", 1, 3)
	op := func(name string, write func(writer string) model.Write) likeOperation {
		return likeOperation{name, func(ctx context.Context, db *mongo.Database, writer string) error {
			_, err := write(writer).Run(ctx, db)
			return err
		}}
	}
	return []likeOperation{
		op("link", func(w string) model.Write { return likes.Link(like(w, "cid", 2, 7)) }),
		op("ensure", func(w string) model.Write { return likes.Ensure(like(w, "cid", 2, 7)) }),
		op("unlink", func(string) model.Write { return likes.Unlink("cid", 2) }),
		op("move", func(string) model.Write { return likes.Move(&l4, "cid", 2) }),
		op("move away", func(w string) model.Write { return likes.Move(&l4, "cid", int64(2+len(w))) }),
		op("unlink old", func(string) model.Write { return likes.Unlink("bob", 1) }),
		op("update", func(w string) model.Write {
			return likes.Update("bob", 1, bson.D{{Key: "$inc", Value: bson.D{{Key: "stars", Value: 1}}}})
		}),
	}
}

// Whatever two writers do at once, a pair is tied by one link, no error is another than stale or linked, and the outcome is
// that of one after the other.
func TestJoinCollectionInterleaved(t *testing.T) {
	parallel(t)
	ops := likeOperations()
	for _, a := range ops {
		for _, b := range ops {
			t.Run(a.name+" | "+b.name, func(t *testing.T) {
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Seed: seedLikes, OnServer: 2,
					A: func(ctx context.Context, db *mongo.Database) error { return a.run(ctx, db, "x") },
					B: func(ctx context.Context, db *mongo.Database) error { return b.run(ctx, db, "yy") },
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						for _, err := range []error{errA, errB} {
							var linked *relate.LinkedError
							if err != nil && !errors.Is(err, model.ErrStale) && !errors.As(err, &linked) {
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
						if errA == nil && errB == nil && a.name == "link" && b.name == "link" {
							t.Error("both linked one pair")
						}
					},
				})
			})
		}
	}
}

// Each query is served by the index that it names. DocumentDB serves no sorts by indexes, so that the unique index would do
// as well for it: that one is made last.
func TestJoinCollectionIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := (model.IndexSet{Needed: likes.Indexes()[1:]}).Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		var all []liking
		for i := range 4000 {
			all = append(all, like(string(rune('a'+i%26))+string(rune(0x4e00+i)), string(rune(0x4e00+i/8)), int64(i%500), i))
		}
		if _, err := likes.LinkAll(all).Run(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		user, link := all[80].User, all[80]
		page := relate.LinkPage[liking]{Limit: 3, After: &link}
		for _, q := range []struct {
			reason string
			query  any
			index  string
		}{
			{"the links of a left document", likes.OfLeft(user), "user_1_at_-1__id_-1"},
			{"the links of a right document", likes.OfRight(80), "item_1_at_-1__id_-1"},
			{"a page of one side", likes.RightsOf(user, page), "user_1_at_-1__id_-1"},
			{"a page of the other side", likes.LeftsOf(80, page), "item_1_at_-1__id_-1"},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
		if err := model.Indexes(likes).Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		modeltest.WantIndexed(t, db, likes.Pair(user, 80), "user_1_item_1")
	})
}

// Ids that look like commands stay data, from the write to the lookup.
func TestJoinCollectionHostile(t *testing.T) {
	parallel(t)
	type side struct {
		ID any `bson:"_id"`
	}
	type tie struct {
		ID   string `bson:"_id"`
		L    any    `bson:"l"`
		R    any    `bson:"r"`
		Note string `bson:"note"`
	}
	as, bs := model.NewCollection[side, any]("as"), model.NewCollection[side, any]("bs")
	ties := model.NewCollection[tie, string]("ties")
	tied := relate.NewJoinCollection(ties, "l", as, "r", bs)
	hostile := []any{
		"$_id", "$$ROOT", "a.b", "{$ne: null}", "^.*", "é\x00", "' || true || '", int32(0), int64(-1), 1.5, true,
		bson.D{{Key: "a", Value: "$x"}, {Key: "b", Value: 1}}, bson.Binary{Data: []byte{0}},
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		var err error
		do := func(w model.Write) {
			t.Helper()
			if _, err = w.Run(ctx, db); err != nil {
				t.Fatal(w, err)
			}
		}
		for i, id := range hostile {
			do(as.Insert(side{id}))
			do(bs.Insert(side{id}))
			other := hostile[(i+1)%len(hostile)]
			do(tied.Link(tie{string(rune('a' + i)), id, other, "n"}))
			do(tied.Ensure(tie{string(rune('A' + i)), id, other, "n"}))
			do(tied.Update(id, other, bson.D{{Key: "$set", Value: bson.D{{Key: "note", Value: "$note"}}}}))
		}
		for i, id := range hostile {
			got, err := tied.RightsOf(id, relate.LinkPage[tie]{}).All(ctx, db)
			if err != nil || len(got) != 1 || got[0].Doc == nil || got[0].Link.ID != string(rune('a'+i)) || got[0].Link.Note != "$note" {
				t.Errorf("%s: %v, %v", model.Shell(id), got, err)
			}
		}
		for _, id := range hostile {
			do(tied.UnlinkLeft(id))
		}
		if n, err := ties.Find(nil).Count(ctx, db); err != nil || n != 0 {
			t.Errorf("%d left, %v", n, err)
		}
	})
	for _, id := range []any{bson.Regex{Pattern: ".*"}, bson.A{1}, nil, bson.D{{Key: "$gt", Value: 1}}, bson.D{}} {
		if tied.Unlink(id, 1).Err == nil || tied.Pair(1, id).Err == nil || tied.UnlinkRight(id).Err == nil {
			t.Errorf("%s is taken for an id", model.Shell(id))
		}
	}
}

// What a call returns doesn't change with what the caller does to its arguments afterwards.
func TestJoinCollectionPure(t *testing.T) {
	parallel(t)
	fields := bson.D{{Key: "stars", Value: 1}}
	update := bson.D{{Key: "$set", Value: fields}}
	l := like("l4", "bob", 1, 3)
	page := relate.LinkPage[liking]{After: &l}
	w, move, read := likes.Update("bob", 1, update), likes.Move(&l, "cid", 2), likes.RightsOf("bob", page)
	want := []string{w.String(), move.String(), read.String()}
	fields[0].Value, update[0].Key, l.User, l.ID, *l.At = 9, "$inc", "x", "y", *minute(50)
	if got := []string{w.String(), move.String(), read.String()}; !slices.Equal(got, want) {
		t.Errorf("changed: %q, were %q", got, want)
	}
}
