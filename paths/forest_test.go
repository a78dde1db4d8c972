package paths_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
)

// A mode that is none deletes nothing: a node without its parent's list would be lost.
func TestForestDeleteRefuses(t *testing.T) {
	f := pathstest.Parse("a(b)")
	before := pathstest.LinksOf(f)
	var bad *model.ValueError
	if err := f.Delete("a", paths.Rootify+1); !errors.As(err, &bad) || bad.Field != "mode" {
		t.Error(err)
	}
	if after := pathstest.LinksOf(f); !reflect.DeepEqual(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}
