package commands_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
)

// An error of the argument comes before the query's own.
func TestServeFind(t *testing.T) {
	own, bad := errors.New("own"), errors.New("bad")
	for _, c := range []struct{ own, given, want error }{{nil, nil, nil}, {own, nil, own}, {own, bad, bad}} {
		f := &model.Find[bson.D]{Query: model.Query{Err: c.own}}
		if f = commands.ServeFind(f, "n_1", c.given); f.Err != c.want || f.Index != "n_1" {
			t.Errorf("%v by %q, want %v", f.Err, f.Index, c.want)
		}
	}
}

// A reply takes all documents that are asked for, unless the caller gave its size.
func TestSizeReply(t *testing.T) {
	for _, c := range []struct {
		given int32
		n     int
		want  int32
	}{{0, 100, 0}, {0, 101, 102}, {7, 500, 7}} {
		if got := commands.SizeReply(c.given, c.n); got != c.want {
			t.Errorf("%d documents, %d given: %d, want %d", c.n, c.given, got, c.want)
		}
	}
}

func TestProjectFields(t *testing.T) {
	for want, paths := range map[string][]string{
		"{_id: 1}": {"", "_id"}, "{a: 1, 'b.c': 1}": {"a", "_id", "", "b.c"},
	} {
		if got := model.Shell(commands.ProjectFields(paths...)); got != want {
			t.Errorf("%q: %s, want %s", paths, got, want)
		}
	}
}
