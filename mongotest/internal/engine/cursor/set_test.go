package cursor_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
)

func TestSetLendsACursorToOneCommand(t *testing.T) {
	var set cursor.Set
	c := &cursor.Cursor{Source: cursor.NewDocuments(nil)}
	set.Keep(c)
	if c.ID == 0 || set.Len() != 1 {
		t.Fatalf("the id is %d of %d cursors", c.ID, set.Len())
	}
	killed := false
	if got, err := set.Take(c.ID, func() { killed = true }); got != c || err != nil {
		t.Fatalf("Take gave %v, %v", got, err)
	}
	if _, err := set.Take(c.ID, nil); mongoerr.CodeOf(err) != mongoerr.CursorInUse {
		t.Errorf("a second Take gave %v", err)
	}
	if n := set.Kill(func(x *cursor.Cursor) bool { return x == c }); n != 1 || !killed {
		t.Errorf("Kill gave %d; the command was killed: %v", n, killed)
	}
	set.Keep(c)
	if _, err := set.Take(c.ID, nil); mongoerr.CodeOf(err) != mongoerr.CursorNotFound || set.Len() != 0 {
		t.Errorf("Take after Kill gave %v; %d cursors are left", err, set.Len())
	}
}

func TestSetDrop(t *testing.T) {
	var set cursor.Set
	c := &cursor.Cursor{Source: cursor.NewDocuments(nil)}
	set.Keep(c)
	if _, err := set.Take(c.ID, nil); err != nil {
		t.Fatal(err)
	}
	set.Drop(c)
	if n := set.Len(); n != 0 {
		t.Errorf("%d cursors are left", n)
	}
}

func TestClosedSetKeepsNothing(t *testing.T) {
	var set cursor.Set
	set.Keep(&cursor.Cursor{Source: cursor.NewDocuments(nil)})
	set.Close()
	set.Keep(&cursor.Cursor{Source: cursor.NewDocuments(nil)})
	if n := set.Len(); n != 0 {
		t.Errorf("%d cursors are left", n)
	}
}
