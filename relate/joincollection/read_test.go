package joincollection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/joincollection"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Users like items, at a time.
type (
	fan struct {
		ID string `bson:"_id"`
	}
	thing struct {
		ID   int64  `bson:"_id"`
		Name string `bson:"name,omitempty"`
	}
	liking struct {
		ID    string     `bson:"_id"`
		User  string     `bson:"user"`
		Item  int64      `bson:"item"`
		At    *time.Time `bson:"at,omitempty"`
		Stars int        `bson:"stars"`
	}
)

var (
	fans    = model.NewCollection[fan, string]("users")
	things  = model.NewCollection[thing, int64]("items")
	likings = model.NewCollection[liking, string]("likes")
	likes   = joincollection.New(likings, "user", fans, "item", things, joincollection.Spec{By: "at"})

	likeStore = model.NewStore(model.New("likes", likes), likings)
)

func minute(n int) *time.Time {
	t := time.Date(2024, 5, 1, 12, n, 0, 0, time.UTC)
	return &t
}

// like is the like of u by user for item at a minute.
func like(id, user string, item int64, at int) liking { return liking{id, user, item, minute(at), 0} }

func seedLikes(ctx context.Context, db *mongo.Database) error {
	if err := model.New("test", likes).Indexes().Ensure(ctx, db); err != nil {
		return err
	}
	_, err := model.Concat(
		fans.InsertMany([]fan{{ID: "ann"}, {ID: "bob"}, {ID: "cid"}}),
		things.InsertMany([]thing{{1, "one"}, {2, "two"}, {3, "three"}}),
		likings.InsertMany([]liking{
			like("l1", "ann", 1, 1), like("l2", "ann", 2, 2), like("l3", "ann", 3, 2), like("l4", "bob", 1, 3),
			like("l5", "gone", 1, 4), like("l6", "ann", 9, 5),
		}),
	).Run(ctx, db)
	return err
}

type likeChange = model.ChangeOf[model.Stored[liking]]

func pairOf(user string, item int64) bson.D {
	return bson.D{{Key: "user", Value: user}, {Key: "item", Value: item}}
}

// ensure links a pair unless it is linked.
func ensure(l liking) likeChange { return likeStore.EnsureOne(pairOf(l.User, l.Item), l) }

func rate(user string, item int64, stars int) likeChange {
	return likeStore.SetOne(pairOf(user, item), bson.D{{Key: "stars", Value: stars}})
}

// linkIDs are the links that are stored, as id:user-item.
func linkIDs(t testing.TB, db *mongo.Database) []string {
	t.Helper()
	all, err := likings.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, l := range all {
		out = append(out, fmt.Sprintf("%s:%s-%d", l.ID, l.User, l.Item))
	}
	return out
}

func TestJoinCollectionRead(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedLikes)
		rights := func(after *liking, n int64) (got []string, last *liking) {
			t.Helper()
			modeltest.WantCost(t, m, likes.Left.Others("ann", after, n).Cost(), func() error {
				all, err := likes.Left.Others("ann", after, n).All(ctx, db)
				for _, l := range all {
					name := "missing"
					if l.To != nil {
						name = l.To.Name
					}
					got, last = append(got, l.Doc.ID+" "+name), &l.Doc
				}
				return err
			})
			return got, last
		}
		want := []string{"l6 missing", "l3 three", "l2 two", "l1 one"} // l2 and l3 have one time: _id decides
		if got, _ := rights(nil, 0); !slices.Equal(got, want) {
			t.Errorf("all: %q, want %q", got, want)
		}
		var paged []string
		var last *liking
		for range 3 {
			var got []string
			got, last = rights(last, 2)
			if paged = append(paged, got...); last == nil {
				break
			}
		}
		if !slices.Equal(paged, want) {
			t.Errorf("page by page: %q, want %q", paged, want)
		}
	}, m)
}

func TestJoinCollectionSides(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedLikes)
		lefts, err := likes.Right.Others(1, nil, 0).All(ctx, db)
		if err != nil || len(lefts) != 3 || lefts[0].To != nil || lefts[1].To.ID != "bob" || lefts[2].To.ID != "ann" {
			t.Errorf("lefts: %v, %v", lefts, err)
		}
		links, err := likes.Right.Links(1).All(ctx, db)
		if err != nil || len(links) != 3 || links[0].ID != "l5" {
			t.Errorf("links of a right document: %v, %v", links, err)
		}
		n, err := likes.Left.Links("ann").Count(ctx, db)
		if err != nil || n != 4 {
			t.Errorf("count: %d, %v", n, err)
		}
		counts, err := likes.Left.Counts("bob", "ann", "cid").All(ctx, db)
		if err != nil || !slices.Equal(counts, []relate.Count[string]{{ID: "ann", N: 4}, {ID: "bob", N: 1}}) {
			t.Errorf("left counts: %v, %v", counts, err)
		}
		byItem, err := likes.Right.Counts(1, 2, 7).All(ctx, db)
		if err != nil || !slices.Equal(byItem, []relate.Count[int64]{{ID: 1, N: 3}, {ID: 2, N: 1}}) {
			t.Errorf("right counts: %v, %v", byItem, err)
		}
		one, err := likes.Pair("bob", 1).One(ctx, db)
		if err != nil || one.ID != "l4" {
			t.Errorf("pair: %v, %v", one, err)
		}
		if _, err := likes.Pair("bob", 2).One(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a pair that isn't linked: %v", err)
		}
	})
}

func starsOf(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := likings.Find(
		bson.D{{Key: "stars", Value: bson.D{{Key: "$ne", Value: 0}}}},
	).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("stars %d", all[0].Stars)
}

func changes(before, after []string, more string) string {
	var out []string
	for _, s := range after {
		if !slices.Contains(before, s) {
			out = append(out, "+"+s)
		}
	}
	for _, s := range before {
		if !slices.Contains(after, s) {
			out = append(out, "-"+s)
		}
	}
	if more != "" {
		out = append(out, more)
	}
	return strings.Join(out, " ")
}

// Links whose other end is missing are found, and deleted.
func TestJoinCollectionDangling(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedLikes)
		checks := likes.Checks()
		testkit.WantNames(
			t, checks, "likes.user: ids without a document in users", "likes.item: ids without a document in items",
		)
		if lefts := testkit.JoinStrings(
			testkit.All(t, db, checks[0]),
		); lefts != "likes 'l5': user → 'gone', which doesn't exist" {
			t.Errorf("lefts: %s", lefts)
		}
		if rights := testkit.JoinStrings(
			testkit.All(t, db, checks[1]),
		); rights != "likes 'l6': item → Long('9'), which doesn't exist" {
			t.Errorf("rights: %s", rights)
		}
		only := dangling.New(likings, "item", things, dangling.Spec{}).Checks() // another scope
		if _, err := testkit.MendAll(ctx, db, only); err == nil || len(linkIDs(t, db)) != 6 {
			t.Errorf("a report deleted, %v", err)
		}
		if planned, err := testkit.MendAll(ctx, db, checks); err != nil || planned != 2 {
			t.Errorf("planned %d, %v", planned, err)
		}
		if got := linkIDs(t, db); !slices.Equal(got, []string{"l1:ann-1", "l2:ann-2", "l3:ann-3", "l4:bob-1"}) {
			t.Errorf("left %v", got)
		}
	})
}

// A deletion takes the links of a document with it, on both sides.
func TestJoinCollectionOnDelete(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, seedLikes)
		spec := ondelete.Spec{Cascade: []relate.Referrer{likes.Left, likes.Right}}
		users := model.NewStore(model.New("users", ondelete.New(fans, spec)), fans)
		items := model.NewStore(model.New("items", ondelete.New(things, spec)), things)
		if _, _, err := users.Delete("ann").Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := items.Delete(1).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if got := linkIDs(t, db); len(got) != 0 {
			t.Errorf("left %v", got)
		}
	})
}

func TestJoinCollectionCommands(t *testing.T) {
	testkit.Parallel(t)
	l := like("l4", "bob", 1, 3)
	noTime := joincollection.New(likings, "user", fans, "item", things, joincollection.Spec{})
	for _, c := range []struct {
		reason string
		got    fmt.Stringer
		want   string
	}{
		{"a side unlinked", likes.Right.Unlink(1), "db.likes.deleteMany({item: Long('1')})"},
		{"the links of a side", likes.Right.Links(1), "db.likes.find({item: Long('1')}).sort({at: -1, _id: -1})"},
		{"without an order of its own", noTime.Left.Links("bob"), "db.likes.find({user: 'bob'}).sort({_id: -1})"},
		{"a pair", likes.Pair("bob", 1), "db.likes.find({user: 'bob', item: Long('1')}).limit(1)"},
		{
			"a page after a link", noTime.Right.Others(1, &l, 2),
			"db.likes.aggregate([{$match: {item: Long('1'), _id: {$lt: 'l4'}}}, {$sort: {_id: -1}}, {$limit: " +
				"Long('2')}, {$project: {_id: 0, doc: '$$ROOT'}}, {$lookup: {from: 'users', localField: 'doc.user', " +
				"foreignField: '_id', as: 'to'}}, {$set: {to: {$arrayElemAt: ['$to', 0]}}}])",
		},
		{
			"counts", likes.Left.Counts("a", "$b"),
			"db.likes.aggregate([{$match: {user: {$in: ['a', '$b']}}}, {$group: {_id: '$user', n: {$sum: 1}}}, " +
				"{$sort: {_id: 1}}])",
		},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant %s", c.reason, got, c.want)
		}
	}
}

// A link needs both ids, and one _id.
func TestJoinCollectionStoreRefuses(t *testing.T) {
	testkit.Parallel(t)
	type end struct {
		ID string `bson:"_id"`
	}
	type bond struct {
		ID string  `bson:"_id"`
		L  *string `bson:"l"`
		R  *string `bson:"r"`
	}
	ends, bonds := model.NewCollection[end, string]("ends"), model.NewCollection[bond, string]("bonds")
	store := model.NewStore(
		model.New("bonds", joincollection.New(bonds, "l", ends, "r", ends, joincollection.Spec{})), bonds,
	)
	x := "x"
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := ends.Insert(end{x}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			reason, want string
			change       model.ChangeOf[model.Stored[bond]]
		}{
			{"no left id", "l: the link has no id", store.Insert(bond{"b", nil, &x})},
			{"no right id", "r: the link has no id", store.Insert(bond{"b", &x, nil})},
			{"no _id", "_id", store.Insert(bond{"", &x, &x})},
			{
				"another pair than the filter's", "r: differs",
				store.EnsureOne(bson.D{{Key: "l", Value: x}, {Key: "r", Value: "y"}}, bond{"b", &x, &x}),
			},
		} {
			if _, _, err := c.change.Run(t.Context(), db); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q in it", c.reason, err, c.want)
			}
		}
	})
}
