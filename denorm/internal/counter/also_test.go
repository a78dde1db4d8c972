package counter_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A reply counts in a forum and for an author.
type (
	reply struct {
		ID     int64                  `bson:"_id"`
		Forum  string                 `bson:"forum"`
		Author string                 `bson:"author"`
		Words  int64                  `bson:"words"`
		Mark   *denorm.CounterPending `bson:"mark,omitempty"`
	}
	tally struct {
		ID      string          `bson:"_id"`
		Replies int64           `bson:"replies"`
		Words   int64           `bson:"words"`
		Most    int64           `bson:"most,omitempty"`
		Ops     []bson.ObjectID `bson:"ops,omitempty"`
	}
)

// byTwo are counters of the same replies. One with tokens has a field for its mark, which
// a second can't share.
type byTwo struct {
	forum, author *denorm.Counter[reply, int64, tally, string]
}

func countersByTwo(tokens bool) byTwo {
	replies := model.NewCollection[reply, int64]("replies")
	spec := denorm.CounterSpec{Count: "replies", Sums: []denorm.Field{{From: "words", To: "words"}}, Maxs: []denorm.Field{{From: "words", To: "most"}}}
	plain := spec
	if tokens {
		spec.Tokens, spec.Pending = "ops", "mark"
	}
	return byTwo{
		denorm.NewCounter(replies, "forum", model.NewCollection[tally, string]("forums"), spec),
		denorm.NewCounter(replies, "author", model.NewCollection[tally, string]("authors"), plain),
	}
}

func (b byTwo) random(rng *rand.Rand, op bson.ObjectID) model.Change[any] {
	id, forum, author := rng.Int64N(40), fmt.Sprint("f", rng.IntN(3)), fmt.Sprint("a", rng.IntN(3))
	switch rng.IntN(4) {
	case 0:
		r := reply{ID: id, Forum: forum, Author: author, Words: rng.Int64N(100)}
		return b.forum.Insert(r, op).Also(b.author.Insert(r, op))
	case 1:
		return b.author.Delete(id, op).Also(b.forum.Delete(id, op))
	case 2:
		fields := bson.D{e("forum", forum), e("author", author)}
		return b.forum.Set(id, fields, op).Also(b.author.Set(id, fields, op))
	}
	words := bson.D{e("words", rng.Int64N(100))}
	return b.author.Set(id, words, op).Also(b.forum.Set(id, words, op))
}

// Two counters count the same documents, however their operations meet.
func TestCounterAlsoCounter(t *testing.T) {
	for _, tokens := range []bool{false, true} {
		t.Run(fmt.Sprintf("tokens %t", tokens), func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				modeltest.NeedTransactions(t, db)
				both := countersByTwo(tokens)
				for _, coll := range []string{"forums", "authors"} {
					for i := range 3 {
						if _, err := db.Collection(coll).InsertOne(t.Context(), tally{ID: fmt.Sprint(coll[:1], i)}); err != nil {
							t.Fatal(err)
						}
					}
				}
				var wg sync.WaitGroup
				for worker := range 3 {
					wg.Go(func() {
						rng := rand.New(rand.NewPCG(uint64(worker), 5))
						for range 40 {
							_, _, _ = both.random(rng, bson.NewObjectID()).Run(t.Context(), db) // many find no reply, or one with the _id
						}
					})
				}
				wg.Wait()
				n, err := db.Collection("replies").CountDocuments(t.Context(), bson.D{})
				if err != nil || n == 0 {
					t.Fatalf("%d replies, %v", n, err)
				}
				for name, c := range map[string]*denorm.Counter[reply, int64, tally, string]{"forums": both.forum, "authors": both.author} {
					for _, check := range c.Checks() {
						found, err := check.Find().All(t.Context(), db)
						if err != nil || len(found) > 0 {
							t.Errorf("%s: %v %v", name, found, err)
						}
					}
				}
			})
		})
	}
}

// A retry finds the token of one counter, so the other, which has none, doesn't count
// again. The child is stored once, in one command with both parents' numbers.
func TestCounterAlsoAgain(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		both := countersByTwo(true)
		store := func(coll, id string) {
			if _, err := db.Collection(coll).InsertOne(t.Context(), tally{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		store("forums", "f")
		store("authors", "a")
		r := reply{ID: 1, Forum: "f", Author: "a", Words: 3}
		run := func(change model.Change[any]) model.Result {
			t.Helper()
			_, result, err := change.Run(t.Context(), db)
			if err != nil {
				t.Error(err)
			}
			return result
		}
		is := func(want string) {
			t.Helper()
			got := ""
			for _, coll := range []string{"forums", "authors"} {
				raw, err := db.Collection(coll).FindOne(t.Context(), bson.D{}).Raw()
				if err != nil {
					t.Fatal(err)
				}
				got += fmt.Sprint(raw.Lookup("replies").AsInt64(), "/", raw.Lookup("words").AsInt64(), " ")
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		insert, set, remove := bson.NewObjectID(), bson.NewObjectID(), bson.NewObjectID()
		five := bson.D{e("words", int64(5))}
		if result := run(both.forum.Insert(r, insert).Also(both.author.Insert(r, insert))); len(result.Steps) != 3 {
			t.Errorf("an insert and two parents: %v", result)
		}
		run(both.forum.Insert(r, insert).Also(both.author.Insert(r, insert)))
		is("1/3 1/3 ")
		for range 2 {
			run(both.forum.Set(int64(1), five, set).Also(both.author.Set(int64(1), five, set)))
			is("1/5 1/5 ")
		}
		for range 2 {
			run(both.author.Delete(int64(1), remove).Also(both.forum.Delete(int64(1), remove)))
			is("0/0 0/0 ")
		}
	})
}
