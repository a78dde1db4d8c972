package ondelete_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A node refers to others of its collection in every way: its parent, those that it lists, that its elements name.
type node struct {
	ID     string   `bson:"_id"`
	Parent string   `bson:"parent,omitempty"`
	List   []string `bson:"list,omitempty"`
	Lines  []line   `bson:"lines,omitempty"`
	Twos   []struct {
		A string `bson:"a"`
		B string `bson:"b"`
	} `bson:"twos,omitempty"`
}

type line struct {
	Tag string `bson:"tag,omitempty"`
	N   int    `bson:"n"`
}

// The references are declared as weak links alone: each technique takes its time to compile.
var (
	nodes    = model.NewCollection[node, string]("nodes")
	ofParent = dangling.New(nodes, "parent", nodes, dangling.Spec{Repair: dangling.DeleteReferrers})
	inList   = dangling.New(nodes, "list", nodes, dangling.Spec{Repair: dangling.DetachIDs})
	inLines  = dangling.New(nodes, "lines.tag", nodes, dangling.Spec{})
)

// insertNodes stores nodes, in a notation of their own: "b<a" has the parent a; "c:a,b" lists a and b; "d.a" has a line
// of a.
func insertNodes(ctx context.Context, db *mongo.Database, text string) error {
	var all []node
	for word := range strings.FieldsSeq(text) {
		n := node{ID: word[:1]}
		switch rest := word[1:]; {
		case strings.HasPrefix(rest, "<"):
			n.Parent = rest[1:]
		case strings.HasPrefix(rest, ":"):
			n.List = strings.Split(rest[1:], ",")
		case strings.HasPrefix(rest, "."):
			n.Lines = []line{{rest[1:], 1}}
		}
		all = append(all, n)
	}
	if err := (model.IndexSet{
		Needed: ondelete.New(nodes, ondelete.Spec{Cascade: refs(ofParent, inList, inLines)}).Indexes(),
	}).Ensure(ctx, db); err != nil {
		return err
	}
	_, err := nodes.InsertMany(all).Run(ctx, db)
	return err
}

// nodesLeft are the stored nodes in the notation of insertNodes.
func nodesLeft(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := nodes.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range all {
		s := n.ID
		if n.Parent != "" {
			s += "<" + n.Parent
		}
		if len(n.List) > 0 {
			s += ":" + strings.Join(n.List, ",")
		}
		if len(n.Lines) > 0 {
			s += "." + n.Lines[0].Tag
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// storeOf returns the store of nodes with these rules.
func storeOf(spec ondelete.Spec) *model.Store[node, string] {
	return model.NewStore(model.New("nodes", ondelete.New(nodes, spec)), nodes)
}

// deletedBy returns functions that delete nodes: by a store's deletions, and by its job with many or few documents in
// an action.
func deletedBy(spec ondelete.Spec) map[string]func(ctx context.Context, db model.DB, ids ...string) error {
	store := storeOf(spec)
	job := func(size int) func(ctx context.Context, db model.DB, ids ...string) error {
		return func(ctx context.Context, db model.DB, ids ...string) error {
			_, err := store.DeleteJob(ids...).Run(ctx, db, model.JobOptions{BatchSize: size})
			return err
		}
	}
	return map[string]func(ctx context.Context, db model.DB, ids ...string) error{
		"job": job(0), "job in small parts": job(1), "deletion": func(
			ctx context.Context, db model.DB, ids ...string,
		) error {
			for _, id := range ids {
				if _, _, err := store.Delete(id).Run(ctx, db); err != nil && !errors.Is(err, model.ErrNotFound) {
					return err
				}
			}
			return nil
		},
	}
}

func refs(from ...relate.Referrer) []relate.Referrer { return from }

var onDeleteCases = []struct {
	reason, nodes string
	spec          ondelete.Spec
	delete        []string
	left          string
	forbidden     string // by whom
	jobOnly       bool   // a deletion of one at a time is forbidden
}{
	{"no rule: the document alone", "a b<a", ondelete.Spec{}, []string{"a"}, "b<a", "", false},
	{"a document that isn't there", "b", ondelete.Spec{Cascade: refs(ofParent)}, []string{"a"}, "b", "", false},
	{
		"what refers to one that isn't there goes", "b<a c<b d:a,x x",
		ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)}, []string{"a"}, "d:x x", "", true,
	},
	{
		"several levels", "a b<a c<b d<c e<b f", ondelete.Spec{Cascade: refs(ofParent)}, []string{"a"}, "f", "",
		false,
	},
	{
		"two at once, one below the other", "a b<a c<b d", ondelete.Spec{Cascade: refs(ofParent)},
		[]string{"a", "b"}, "d", "", false,
	},
	{
		"a circle is gone through once", "a<c b<a c<b d", ondelete.Spec{Cascade: refs(ofParent)}, []string{"a"},
		"d", "", false,
	},
	{"its own parent", "a<a b", ondelete.Spec{Cascade: refs(ofParent)}, []string{"a"}, "b", "", false},
	{
		"lists are pulled from", "a b<a c:a,d,b d", ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)},
		[]string{"a"}, "c:d d", "", false,
	},
	{
		"elements are pulled", "a b.a c.b", ondelete.Spec{Nullify: refs(inLines)}, []string{"a"}, "b c.b", "",
		false,
	},
	{
		"single ids are unset", "a b<a c<b", ondelete.Spec{Nullify: refs(ofParent)}, []string{"a"}, "b c<b", "",
		false,
	},
	{
		"forbidden by one that stays", "a b:a", ondelete.Spec{Restrict: refs(inList)}, []string{"a"}, "a b:a",
		"nodes 'b': list → 'a'", false,
	},
	{
		"forbidden two levels down", "a b<a c<b d:x,c",
		ondelete.Spec{Cascade: refs(ofParent), Restrict: refs(inList)}, []string{"a"}, "a b<a c<b d:x,c",
		"nodes 'd': list → 'c'", false,
	},
	{
		"not forbidden by one that goes too", "a b:a c", ondelete.Spec{Restrict: refs(inList)},
		[]string{"a", "b"}, "c", "", true,
	},
	{
		"forbidden by several", "a b:a c:a", ondelete.Spec{Restrict: refs(inList)}, []string{"a"}, "a b:a c:a",
		"nodes 'b': list → 'a' and 1 more", false,
	},
	{"what it owns goes", "a:b,c b c:d d e", ondelete.Spec{Owns: refs(inList)}, []string{"a"}, "e", "", false},
	{
		"what it owns goes out of others' lists", "a:b b c:b,d d",
		ondelete.Spec{Owns: refs(inList), Nullify: refs(inList)}, []string{"a"}, "c:d d", "", false,
	},
	{
		"what it owns is owned by others too", "a:b b c:b",
		ondelete.Spec{Owns: refs(inList), Restrict: refs(inList)}, []string{"a"}, "a:b b c:b",
		"nodes 'c': list → 'b'", false,
	},
	{
		"reached in two ways", "a b<a c:a,b", ondelete.Spec{Cascade: refs(ofParent, inList)}, []string{"a"}, "",
		"", false,
	},
}

func TestOnDelete(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range onDeleteCases {
		for name, remove := range deletedBy(c.spec) {
			if c.jobOnly && name == "deletion" {
				continue
			}
			t.Run(c.reason+"/"+name, func(t *testing.T) {
				eachWay(t, func(t *testing.T, db *mongo.Database, on model.DB) {
					if err := db.Collection("nodes").Drop(t.Context()); err != nil {
						t.Fatal(err)
					}
					ctx := testkit.MustSeed(
						t, db,
						func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, c.nodes) },
					)
					err := remove(ctx, on, c.delete...)
					var forbidden *ondelete.RestrictError
					switch {
					case errors.As(err, &forbidden):
						if got := forbidden.Error(); !strings.HasSuffix(
							got, "the deletion is forbidden by "+c.forbidden,
						) || c.forbidden == "" {
							t.Errorf("%s, want %s", got, c.forbidden)
						}
					case err != nil || c.forbidden != "":
						t.Errorf("error %v", err)
					}
					if got := nodesLeft(t, db); got != c.left {
						t.Errorf("left %s, want %s", got, c.left)
					}
				})
			})
		}
	}
}

// eachWay runs a test outside transactions, and on a handle with transactions.
func eachWay(t *testing.T, test func(t *testing.T, db *mongo.Database, on model.DB)) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		test(t, db, db)
		if on, err := model.WithTransactions(t.Context(), db); err == nil {
			test(t, db, on)
		}
	})
}

func TestOnDeleteManyForbid(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		text := "a"
		for r := 'b'; r <= 'z'; r++ {
			text += " " + string(r) + ":a"
		}
		ctx := testkit.MustSeed(
			t, db, func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, text) },
		)
		for name, remove := range deletedBy(ondelete.Spec{Restrict: refs(inList)}) {
			err := remove(ctx, db, "a")
			var forbidden *ondelete.RestrictError
			if !errors.As(err, &forbidden) || len(forbidden.Refs) != 10 || !forbidden.More ||
				!strings.HasSuffix(err.Error(), "and more than 9 others") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Random graphs, in lockstep with a plain model in memory.
func TestOnDeleteAgrees(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if err := (model.IndexSet{
			Needed: ondelete.New(
				nodes, ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)},
			).Indexes(),
		}).Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			stored := map[string]node{}
			var all []node
			name := func() string { return string(rune('a' + r.IntN(20))) }
			for i := range 20 {
				n := node{ID: string(rune('a' + i))}
				if r.IntN(3) > 0 {
					n.Parent = name()
				}
				for range r.IntN(3) {
					n.List = append(n.List, name())
				}
				stored[n.ID] = n
				all = append(all, n)
			}
			if _, err := nodes.InsertMany(all).Run(ctx, db); err != nil {
				t.Fatal(err)
			}
			root := name()
			gone := map[string]bool{root: true}
			for again := true; again; {
				again = false
				for _, n := range stored {
					if !gone[n.ID] && gone[n.Parent] {
						gone[n.ID], again = true, true
					}
				}
			}
			var want []string
			for _, n := range all {
				if gone[n.ID] {
					continue
				}
				s := n.ID
				if n.Parent != "" {
					s += "<" + n.Parent
				}
				if list := slices.DeleteFunc(n.List, func(id string) bool { return gone[id] }); len(list) > 0 {
					s += ":" + strings.Join(list, ",")
				}
				want = append(want, s)
			}
			remove := deletedBy(
				ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)},
			)[[]string{"deletion", "job", "job in small parts"}[seed%3]]
			err := remove(ctx, db, root)
			if got := nodesLeft(t, db); got != strings.Join(want, " ") || err != nil {
				t.Fatalf("seed %d: left %s\nwant %s, %v", seed, got, strings.Join(want, " "), err)
			}
			if _, err := db.Collection("nodes").DeleteMany(ctx, bson.D{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Ids that look like commands stay data; what no _id can be, in a list, is not followed.
func TestOnDeleteHostile(t *testing.T) {
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	list := dangling.New(open, "list", open, dangling.Spec{List: "list"})
	up := parentref.New(open, "up", open, parentref.Spec{})
	hostile := []any{"$_id", "a.b", "^.*", "é\x00", int32(0), 1.5, bson.D{{Key: "a", Value: "$x"}}}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		for i, id := range hostile {
			seed := open.InsertMany([]bson.D{
				{{Key: "_id", Value: id}, {Key: "list", Value: bson.A{bson.Regex{Pattern: ".*"}, nil, bson.A{"k"}}}},
				{{Key: "_id", Value: fmt.Sprint("child", i)}, {Key: "up", Value: id}},
				{{Key: "_id", Value: fmt.Sprint("lister", i)}, {Key: "list", Value: bson.A{id, "k"}}},
			})
			if _, err := seed.Run(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		way := ondelete.New(open, ondelete.Spec{Cascade: refs(up), Owns: refs(list), Nullify: refs(list)})
		store := model.NewStore(model.New("open", way), open)
		for i, id := range hostile {
			if i%2 == 0 {
				if _, _, err := store.Delete(id).Run(ctx, db); err != nil {
					t.Errorf("%s: %v", model.Shell(id), err)
				}
			} else if _, err := store.DeleteJob(id).Run(ctx, db, model.JobOptions{BatchSize: 1}); err != nil {
				t.Errorf("%s: %v", model.Shell(id), err)
			}
			lister, err := open.ByID(fmt.Sprint("lister", i)).One(ctx, db)
			if err != nil || model.Shell(lister[1].Value) != "['k']" {
				t.Errorf("%s: %v, %v", model.Shell(id), lister, err)
			}
		}
		if n, err := open.Find(nil).Count(ctx, db); err != nil || n != int64(len(hostile)) {
			t.Errorf("%d left, %v", n, err)
		}
	})
}
