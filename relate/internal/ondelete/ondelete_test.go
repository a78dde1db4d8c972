package ondelete_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A node refers to others of its collection in every way: its parent, those that it lists, that its elements name.
type node struct {
	ID     string               `bson:"_id"`
	Parent string               `bson:"parent,omitempty"`
	List   []string             `bson:"list,omitempty"`
	Lines  []line               `bson:"lines,omitempty"`
	Owner  *relate.Link[string] `bson:"owner,omitempty"`
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
	ofParent = relate.NewDangling(nodes, "parent", nodes, relate.DanglingSpec{Repair: relate.DeleteReferrers})
	inList   = relate.NewDangling(nodes, "list", nodes, relate.DanglingSpec{Repair: relate.DetachIDs})
	inLines  = relate.NewDangling(nodes, "lines.tag", nodes, relate.DanglingSpec{})
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
	if err := (model.IndexSet{Needed: relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent, inList, inLines)}).Indexes()}).Ensure(ctx, db); err != nil {
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

// reached is how many documents are to be deleted.
func reached(r relate.Reach) (n int) {
	for _, level := range r.Levels {
		n += len(level.IDs)
	}
	return n
}

func refs(from ...relate.Referrer) []relate.Referrer { return from }

var onDeleteCases = []struct {
	reason, nodes string
	spec          relate.OnDeleteSpec
	delete        []string
	left          string
	forbidden     string // by whom
	levels        int
	reads, writes int // commands, with any number of ids in one
}{
	{"no rule: the document alone", "a b<a", relate.OnDeleteSpec{}, []string{"a"}, "b<a", "", 1, 0, 1},
	{"a document that isn't there", "b", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a"}, "b", "", 1, 1, 1},
	{"what refers to one that isn't there goes: a second run after a cut", "b<a c<b", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a"}, "", "", 3, 3, 1},
	{"several levels", "a b<a c<b d<c e<b f", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a"}, "f", "", 4, 4, 1},
	{"two at once, one below the other", "a b<a c<b d", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a", "b"}, "d", "", 2, 2, 1},
	{"a circle is gone through once", "a<c b<a c<b d", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a"}, "d", "", 3, 3, 1},
	{"its own parent", "a<a b", relate.OnDeleteSpec{Cascade: refs(ofParent)}, []string{"a"}, "b", "", 1, 1, 1},
	{"lists are pulled from", "a b<a c:a,d,b d", relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)}, []string{"a"}, "c:d d", "", 2, 2, 4},
	{"elements are pulled", "a b.a c.b", relate.OnDeleteSpec{Nullify: refs(inLines)}, []string{"a"}, "b c.b", "", 1, 0, 2},
	{"single ids are unset", "a b<a c<b", relate.OnDeleteSpec{Nullify: refs(ofParent)}, []string{"a"}, "b c<b", "", 1, 0, 2},
	{"forbidden by one that stays", "a b:a", relate.OnDeleteSpec{Restrict: refs(inList)}, []string{"a"}, "a b:a", "nodes 'b': list → 'a'", 1, 1, 0},
	{"forbidden two levels down", "a b<a c<b d:x,c", relate.OnDeleteSpec{Cascade: refs(ofParent), Restrict: refs(inList)}, []string{"a"}, "a b<a c<b d:x,c", "nodes 'd': list → 'c'", 3, 6, 0},
	{"not forbidden by one that goes too", "a b:a c", relate.OnDeleteSpec{Restrict: refs(inList)}, []string{"a", "b"}, "c", "", 1, 1, 1},
	{"forbidden by several", "a b:a c:a", relate.OnDeleteSpec{Restrict: refs(inList)}, []string{"a"}, "a b:a c:a", "nodes 'b': list → 'a' and 1 more", 1, 1, 0},
	{"what it owns goes", "a:b,c b c:d d e", relate.OnDeleteSpec{Owns: refs(inList)}, []string{"a"}, "e", "", 3, 3, 1},
	{"what it owns goes out of others' lists", "a:b b c:b,d d", relate.OnDeleteSpec{Owns: refs(inList), Nullify: refs(inList)}, []string{"a"}, "c:d d", "", 2, 2, 4},
	{"what it owns is owned by others too", "a:b b c:b", relate.OnDeleteSpec{Owns: refs(inList), Restrict: refs(inList)}, []string{"a"}, "a:b b c:b", "nodes 'c': list → 'b'", 2, 4, 0},
	{"reached in two ways", "a b<a c:a,b", relate.OnDeleteSpec{Cascade: refs(ofParent, inList)}, []string{"a"}, "", "", 2, 4, 1},
}

func TestOnDelete(t *testing.T) {
	tenancy.Differs(t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	testkit.Parallel(t)
	for _, c := range onDeleteCases {
		for _, chunk := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s/chunk %d", c.reason, chunk), func(t *testing.T) {
				m := modeltest.NewMonitor()
				modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
					ctx := testkit.MustSeed(t, db, func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, c.nodes) })
					spec := c.spec
					spec.ChunkIDs = chunk
					way := relate.NewOnDelete(nodes, spec)
					var err error
					var reach relate.Reach
					cost, _ := modeltest.Measure(m, func() error { reach, _, err = way.Delete(c.delete...).Run(ctx, db); return nil })
					var forbidden *relate.RestrictError
					switch {
					case errors.As(err, &forbidden):
						if got := strings.TrimPrefix(err.Error(), "docmodel: the deletion is forbidden by "); got != c.forbidden {
							t.Errorf("forbidden by %s, want %s", got, c.forbidden)
						}
					case err != nil || c.forbidden != "":
						t.Errorf("error %v", err)
					}
					if got := nodesLeft(t, db); got != c.left {
						t.Errorf("left %s, want %s", got, c.left)
					}
					if len(reach.Levels) != c.levels {
						t.Errorf("%d levels, want %d: %v", len(reach.Levels), c.levels, reach)
					}
					if chunk == 0 && (reach.Queries != c.reads || cost.Commands != c.reads+c.writes) {
						t.Errorf("%d queries, want %d; %d commands in all, want %d", reach.Queries, c.reads, cost.Commands, c.reads+c.writes)
					}
				}, modeltest.WithMonitor(m))
			})
		}
	}
}

// A versioned link is ended, and counts on.
func TestOnDeleteLink(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		owned := relate.NewDangling(nodes, "owner.id", nodes, relate.DanglingSpec{})
		op := bson.ObjectID{7}
		seed := nodes.InsertMany([]node{{ID: "a"}, {ID: "b", Owner: &relate.Link[string]{ID: "a", V: 3, Op: op}}, {ID: "c", Owner: &relate.Link[string]{ID: "b", V: 1, Op: op}}})
		if _, err := seed.Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Nullify: refs(owned)}).Delete("a").Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		b, err := db.Collection("nodes").FindOne(ctx, bson.D{{Key: "_id", Value: "b"}}).Raw()
		if got, want := model.Shell(b.Lookup("owner")), "{id: null, v: Long('4'), op: ObjectId('070000000000000000000000'), ended: true}"; got != want || err != nil {
			t.Errorf("owner is %s, %v, want %s", got, err, want)
		}
	})
}

func TestOnDeleteManyForbid(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		text := "a"
		for r := 'b'; r <= 'z'; r++ {
			text += " " + string(r) + ":a"
		}
		ctx := testkit.MustSeed(t, db, func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, text) })
		reach, err := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Restrict: refs(inList)}).Delete("a").Read(ctx, db)
		if err != nil || len(reach.Blocked) != 10 || !reach.More {
			t.Fatalf("%d, %v, %v", len(reach.Blocked), reach.More, err)
		}
		_, err = relate.NewOnDelete(nodes, relate.OnDeleteSpec{}).Delete("a").Decide(reach)
		if err == nil || !strings.HasSuffix(err.Error(), "and more than 9 others") {
			t.Error(err)
		}
	})
}

// Random graphs, in lockstep with a plain model in memory.
func TestOnDeleteAgrees(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if err := (model.IndexSet{Needed: relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)}).Indexes()}).Ensure(ctx, db); err != nil {
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
			way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList), ChunkIDs: 1 + r.IntN(4)})
			reach, _, err := way.Delete(root).Run(ctx, db)
			if got := nodesLeft(t, db); got != strings.Join(want, " ") || err != nil || reached(reach) != len(gone) {
				t.Fatalf("seed %d: left %s\nwant %s; %d of %d, %v", seed, got, strings.Join(want, " "), reached(reach), len(gone), err)
			}
			if _, err := db.Collection("nodes").DeleteMany(ctx, bson.D{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOnDeleteDeclared(t *testing.T) {
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	for _, c := range []struct {
		reason, want string
		declare      func()
	}{
		{"two rules of one reference", "two rules: cascade and nullify", func() {
			relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(ofParent)})
		}},
		{"one rule twice", "two rules: owns and owns", func() { relate.NewOnDelete(nodes, relate.OnDeleteSpec{Owns: refs(inList, inList)}) }},
		{"one array whose elements are taken and followed", "nullifying twos.b removes whole elements, and with them twos.a", func() {
			relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(relate.NewDangling(nodes, "twos.a", nodes, relate.DanglingSpec{})), Nullify: refs(relate.NewDangling(nodes, "twos.b", nodes, relate.DanglingSpec{}))})
		}},
		{"the zero reference", "the Reference is empty", func() {
			relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(relate.Side[node, string, node, string]{})})
		}},
		{"no referrer", "a Referrer is nil", func() { relate.NewOnDelete(nodes, relate.OnDeleteSpec{Owns: refs(nil)}) }},
		{"a negative bound", "ChunkIDs is -1", func() { relate.NewOnDelete(nodes, relate.OnDeleteSpec{ChunkIDs: -1}) }},
		{"a path of which nothing is known", "the type doesn't tell whether open.a holds a list", func() {
			relate.NewOnDelete(nodes, relate.OnDeleteSpec{Nullify: refs(relate.NewDangling(open, "a", open, relate.DanglingSpec{}))})
		}},
		{"the zero collection", "zero Collection", func() { relate.NewOnDelete(&model.Collection[node, string]{}, relate.OnDeleteSpec{}) }},
	} {
		testkit.WantPanic(t, c.reason, c.want, c.declare)
	}
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Owns: refs(inList), Nullify: refs(inLines), Restrict: refs(inList)})
	var labels []string
	for _, r := range way.Relations() {
		labels = append(labels, r.Label+" "+r.FromPath)
	}
	testkit.WantList(t, labels, []string{"on delete: cascade parent", "on delete: owns list", "on delete: nullify lines.tag", "on delete: restrict list"})
	if got := len(way.Indexes()); got != 3 || len(way.Relations()) != 4 {
		t.Errorf("%d indexes, %d relations", got, len(way.Relations()))
	}
	if err := way.Delete().Err; err == nil {
		t.Error("no id is taken")
	}
	if err := way.Delete("a", "").Err; err == nil {
		t.Error("an empty id is taken")
	}
}

// Ids that look like commands stay data; what no _id can be, in a list, is not followed.
func TestOnDeleteHostile(t *testing.T) {
	testkit.Parallel(t)
	open := model.NewCollection[bson.D, any]("open")
	list := relate.NewDangling(open, "list", open, relate.DanglingSpec{List: "list"})
	up := relate.NewParentRef(open, "up", open, relate.ParentRefSpec{})
	hostile := []any{"$_id", "a.b", "^.*", "é\x00", int32(0), 1.5, bson.D{{Key: "a", Value: "$x"}}}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
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
		way := relate.NewOnDelete(open, relate.OnDeleteSpec{Cascade: refs(up), Owns: refs(list), Nullify: refs(list)})
		for i, id := range hostile {
			reach, _, err := way.Delete(id).Run(ctx, db)
			if err != nil || reached(reach) != 2 {
				t.Errorf("%s: %d reached, %v", model.Shell(id), reached(reach), err)
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
	for _, id := range []any{bson.Regex{Pattern: ".*"}, bson.A{1}, nil, bson.D{{Key: "$gt", Value: 1}}} {
		if relate.NewOnDelete(open, relate.OnDeleteSpec{}).Delete(id).Err == nil {
			t.Errorf("%s is taken for an id", model.Shell(id))
		}
	}
}

// A plan from what was reached, without a server.
func TestOnDeletePlan(t *testing.T) {
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Owns: refs(inList), Nullify: refs(inLines, inList), ChunkIDs: 2})
	ids := func(text string) (out []bson.RawValue) {
		for id := range strings.FieldsSeq(text) {
			out = append(out, testkit.Raw(id))
		}
		return out
	}
	reach := relate.Reach{Levels: []relate.ReachLevel{
		{Collection: "nodes", IDs: ids("a")},
		{Depth: 1, Collection: "nodes", IDs: ids("b c d"), Via: []relate.ReachVia{
			{From: "nodes", Path: "parent", To: "nodes", IDs: ids("b c"), Sources: ids("a")},
			{From: "nodes", Path: "list", To: "nodes", Owned: true, IDs: ids("c d"), Sources: ids("a")},
		}},
	}}
	plan, err := way.Delete("a").Decide(reach)
	want := `db.nodes.updateMany({'lines.tag': {$in: ['b', 'c']}}, {$pull: {lines: {tag: {$in: ['b', 'c']}}}})
db.nodes.updateMany({'lines.tag': {$in: ['d']}}, {$pull: {lines: {tag: {$in: ['d']}}}})
db.nodes.updateMany({list: {$in: ['b', 'c']}, _id: {$nin: ['a']}}, {$pullAll: {list: ['b', 'c']}})
db.nodes.updateMany({list: {$in: ['d']}, _id: {$nin: ['a']}}, {$pullAll: {list: ['d']}})
db.nodes.deleteMany({_id: {$in: ['b', 'c']}, parent: {$in: ['a']}})
db.nodes.deleteMany({_id: {$in: ['c', 'd']}})
db.nodes.updateMany({'lines.tag': {$in: ['a']}}, {$pull: {lines: {tag: {$in: ['a']}}}})
db.nodes.updateMany({list: {$in: ['a']}}, {$pullAll: {list: ['a']}})
db.nodes.deleteMany({_id: {$in: ['a']}})`
	if got := plan.String(); got != want || err != nil {
		t.Errorf("%s\nwant %s, %v", got, want, err)
	}
	if plan.Guarantee() != model.Rerunnable || plan.Cost().Commands != 4 || reached(reach) != 4 {
		t.Errorf("%v, %v, %d", plan.Guarantee(), plan.Cost(), reached(reach))
	}
	unknown := relate.Reach{Levels: []relate.ReachLevel{{Collection: "nodes", IDs: ids("b"), Via: []relate.ReachVia{
		{From: "nodes", Path: "$where", To: "nodes", IDs: ids("b"), Sources: ids("a")},
	}}}}
	if p, err := way.Delete("a").Decide(unknown); err == nil && p.Err() == nil {
		t.Errorf("a way that no rule leads along: %s", p)
	}
	for _, level := range reach.Levels {
		for _, id := range level.IDs {
			clear(id.Value)
		}
	}
	clear(reach.Levels[1].Via)
	if plan.String() != want {
		t.Errorf("the plan changes with the reach: %s", plan)
	}
}
