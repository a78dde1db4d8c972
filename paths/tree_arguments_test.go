// The whole package: arguments that every kind of tree refuses.

package paths_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
)

// What can't be done is refused, by the name of the argument: no document to insert, a depth below 0, an _id that is
// none.
func TestArgumentsRefused(t *testing.T) {
	for _, k := range pathstest.Kinds {
		node := pathstest.Category{ID: "a", Ancestors: []string{"a"}, Path: "a/", Left: 1, Right: 2}
		for name, err := range map[string]error{
			"document":     k.Tree.Children(nil).Err,
			"depth":        k.Tree.Descendants(&node, -1).Err,
			"document 1: ": k.Tree.Load([]pathstest.Category{node, {}}).Err,
		} {
			var bad *model.ValueError
			if !errors.As(err, &bad) || !strings.HasPrefix(
				err.Error(), "docmodel: ",
			) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %s: %v", k.Name, name, err)
			}
		}
		if err := k.Tree.Descendants(&node, 0).Err; err != nil {
			t.Errorf("%s: all descendants: %v", k.Name, err)
		}
		links := k.Tree.Children(&node).Index
		if got := k.Tree.Roots().Index; got != links || links == "" {
			t.Errorf("%s: the index of roots is %q, of children %q", k.Name, got, links)
		}
	}
}
