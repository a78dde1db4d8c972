package bounded_test

import (
	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What the tests are about: boards that keep a few posts, and in a subdocument a few scores.
type (
	post struct {
		ID string `bson:"id"`
		N  int    `bson:"n"`
	}
	board struct {
		ID    string  `bson:"_id"`
		Name  string  `bson:"name,omitempty"`
		Posts []post  `bson:"posts,omitempty"`
		Stats *scores `bson:"stats,omitempty"`
	}
	scores struct {
		Tops []int64 `bson:"tops,omitempty"`
	}
)

var (
	boards = model.NewCollection[board, string]("boards")

	byN    = bson.D{{Key: "n", Value: 1}, {Key: "id", Value: 1}}
	byNTop = bson.D{{Key: "n", Value: -1}, {Key: "id", Value: 1}}

	last     = newBounded(bounded.Spec{Max: 3})
	creating = newBounded(bounded.Spec{Max: 3, Create: true})
	first    = newBounded(bounded.Spec{Max: 3, First: true})
	newest   = newBounded(bounded.Spec{Max: 3, By: byN})
	topmost  = newBounded(bounded.Spec{Max: 3, By: byNTop, First: true})
	lastKey  = newBounded(bounded.Spec{Max: 3, Key: "id"})
	firstKey = newBounded(bounded.Spec{Max: 3, Key: "id", First: true})
	newKey   = newBounded(bounded.Spec{Max: 3, Key: "id", By: byN})
	topKey   = newBounded(bounded.Spec{Max: 3, Key: "id", By: byNTop, First: true})
	tops     = bounded.New(boards, "stats.tops", bounded.Spec{
		Max: 2, First: true, By: bson.D{{Key: "", Value: -1}},
	})
)

func newBounded(spec bounded.Spec) *bounded.Bounded[board, string] {
	return bounded.New(boards, "posts", spec)
}

// posts writes "a3 b1" for the posts a with n 3 and b with n 1.
func posts(notation ...string) []post {
	list := make([]post, len(notation))
	for i, s := range notation {
		list[i] = post{ID: s[:1], N: int(s[1] - '0')}
	}
	return list
}

// makeBoard is the board b with posts.
func makeBoard(notation ...string) testkit.Docs {
	return testkit.Docs{"boards": {board{ID: "b", Posts: posts(notation...)}}}
}

// elements are the posts as Push takes them.
func elements(notation ...string) []any {
	var out []any
	for _, p := range posts(notation...) {
		out = append(out, p)
	}
	return out
}
