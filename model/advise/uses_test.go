package advise_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// post and comment are documents that have what every one of the advised types needs.
type post struct {
	ID       string    `bson:"_id"`
	Comments []string  `bson:"comments,omitempty"`
	Embedded []comment `bson:"embedded,omitempty"`
	Listed   []comment `bson:"listed,omitempty"`
	Detail   *comment  `bson:"detail,omitempty"`
	Newest   []comment `bson:"newest,omitempty"`
	Name     string    `bson:"name"`
	Count    int64     `bson:"commentsCount"`
	Rough    int64     `bson:"rough"`
	More     bool      `bson:"more"`

	Version int64                            `bson:"version"`
	Revised *history.Revised                 `bson:"revised,omitempty"`
	Outbox  outbox.Outgoing[struct{ N int }] `bson:"outbox,omitempty"`
}

type postRef struct {
	ID   string `bson:"_id"`
	Name string `bson:"name"`
}

type comment struct {
	ID     string       `bson:"_id"`
	Post   string       `bson:"post"`
	Posts  []string     `bson:"posts,omitempty"`
	Of     postRef      `bson:"of"`
	Name   string       `bson:"name"`
	At     time.Time    `bson:"at"`
	Mark   *rollup.Mark `bson:"mark,omitempty"`
	Spread string       `bson:"spread,omitempty"`
}

type link struct {
	ID      string `bson:"_id"`
	Post    string `bson:"post"`
	Comment string `bson:"comment"`
}

type node struct {
	ID        string   `bson:"_id"`
	Parent    *string  `bson:"parent"`
	Order     string   `bson:"order"`
	Change    int64    `bson:"change"`
	Path      string   `bson:"path"`
	Name      string   `bson:"name"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Children  []string `bson:"children,omitempty"`
	Left      int64    `bson:"left"`
	Right     int64    `bson:"right"`
	Depth     int64    `bson:"depth"`
}

var (
	posts    = model.NewCollection[post, string]("posts")
	comments = model.NewCollection[comment, string]("comments")
	links    = model.NewCollection[link, string]("commentsPosts")
	pages    = model.NewCollection[bucket.Doc[string, comment], string]("comments")
	overflow = model.NewCollection[bucket.Doc[string, comment], string]("overflow")
	counts   = model.NewCollection[slots.Doc[string], string]("commentsCount")
	seen     = model.NewCollection[uniquecount.Doc[string, string], string]("commentsSeen")
	nodes    = model.NewCollection[node, string]("nodes")
)

// The indexes of an advised type are those that it really asks for, and its operations send as many commands as the
// advice says.
func TestUses(t *testing.T) {
	m := mongotest.NewMonitor()
	client := mongotest.NewClient(t, m)
	for i, u := range declared() {
		t.Run(u.use.Type, func(t *testing.T) {
			db := client.Database(fmt.Sprint("uses", i))
			tx, err := model.WithTransactions(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := model.Concat(posts.InsertMany([]post{{ID: "p", Comments: []string{"c"}, Name: "n"}, {ID: "q"}}),
				comments.InsertMany([]comment{{ID: "c", Post: "p", Posts: []string{"p"}, Of: postRef{"p", "n"}, Name: "n"}})).
				Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := slots.New(counts, slots.Spec{}).Add("p", 1, bson.NewObjectID()).
				Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if u.indexes != nil {
				var want []string
				for _, x := range u.indexes() {
					keys, err := bson.MarshalExtJSON(x.Keys, false, false)
					if err != nil {
						t.Fatal(err)
					}
					s := x.Collection + " " + strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(string(keys))
					switch {
					case x.Unique:
						s += " unique"
					case x.ExpireAfter != 0:
						s += " expireAfterSeconds"
					case x.Partial != nil:
						s += " partial"
					}
					want = append(want, s)
				}
				got := slices.Clone(u.use.Indexes)
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("indexes: %q, want %q", got, want)
				}
			}
			for _, c := range u.use.Commands {
				run, ok := u.run[c.Operation]
				if !ok {
					t.Errorf("nothing runs %q", c.Operation)
					continue
				}
				if cost, err := modeltest.Measure(m, func() error {
					return run(t.Context(), ways{db, tx})
				}); err != nil || cost.Commands != c.N {
					t.Errorf("%s: %d commands, want %d; %v", c.Operation, cost.Commands, c.N, err)
				}
			}
		})
	}
}

// declaredUse is an advised type, and one that is declared as advised.
type declaredUse struct {
	use     advise.Use
	indexes func() []model.Index
	run     operations
}

// ways are a database, and the same with transactions, in which stores write.
type ways struct{ plain, tx model.DB }

type (
	operation  = func(ctx context.Context, db ways) error
	operations map[string]operation
)

type runner interface {
	Run(context.Context, model.DB) (model.Result, error)
}

func runs(ops ...runner) operation {
	return func(ctx context.Context, db ways) error {
		for _, op := range ops {
			if _, err := op.Run(ctx, db.plain); err != nil {
				return err
			}
		}
		return nil
	}
}

func changes(op model.Action) operation {
	return func(ctx context.Context, db ways) error {
		_, err := op.Change().Run(ctx, db.plain)
		return err
	}
}

// stores runs a store's change.
func stores[D any](op model.ChangeOf[model.Stored[D]]) operation {
	return func(ctx context.Context, db ways) error {
		_, _, err := op.Run(ctx, db.tx)
		return err
	}
}

func storeOf[D, K any](t model.Technique, docs *model.Collection[D, K]) *model.Store[D, K] {
	return model.NewStore(model.New("test", t), docs)
}

type reader[T any] interface {
	All(context.Context, model.DB) ([]T, error)
}

func reads[T any](op reader[T]) operation {
	return func(ctx context.Context, db ways) error {
		_, err := op.All(ctx, db.plain)
		return err
	}
}

func both(a, b operation) operation {
	return func(ctx context.Context, db ways) error {
		if err := a(ctx, db); err != nil {
			return err
		}
		return b(ctx, db)
	}
}

// usesOf are the uses of an advice.
func usesOf(r rel) []advise.Use { return advise.Choose(r).Uses }

func named(has count) rel {
	return rel{Parent: end{Name: "posts", Has: has}, Child: end{Name: "comments"}}
}

func with(r rel, change func(r *rel)) rel {
	change(&r)
	return r
}

// declared are the advised types, declared as they were advised.
func declared() []declaredUse {
	return slices.Concat(declaredReferences(), declaredParts(), declaredNumbers(), declaredTrees())
}
