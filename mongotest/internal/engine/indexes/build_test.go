package indexes_test

import (
	"context"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var things = store.Namespace{DB: "db", Coll: "things"}

// build builds one index in a write of its own, and returns how many indexes there were before and after.
func build(t *testing.T, s *store.Store, spec string) (before, after int, err error) {
	t.Helper()
	x, err := read(spec)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Write(context.Background(), func(w *store.Writer) (err error) {
		before, after, err = indexes.BuildAll(w, things, []*store.IndexSpec{x})
		return err
	})
	return before, after, err
}

func TestBuildAll(t *testing.T) {
	s := store.New()
	for _, c := range []struct {
		why, spec     string
		before, after int
		code          int32
	}{
		{"the first", "{key: {a: 1}}", 1, 2, 0},
		{"the same", "{key: {a: 1.0}}", 2, 2, 0},
		{
			"the name with other options", "{key: {a: 1}, name: 'a_1', sparse: true}", 0, 0,
			mongoerr.IndexKeySpecsConflict,
		},
		{"the name with another key", "{key: {b: 1}, name: 'a_1'}", 0, 0, mongoerr.IndexKeySpecsConflict},
		{"the key with another name", "{key: {a: 1}, name: 'other'}", 0, 0, mongoerr.IndexOptionsConflict},
		{"another key", "{key: {b: 1}}", 2, 3, 0},
	} {
		before, after, err := build(t, s, c.spec)
		if mongoerr.CodeOf(err) != c.code || err == nil && (before != c.before || after != c.after) {
			t.Errorf("%s: %d indexes became %d, %v", c.why, before, after, err)
		}
	}
}

func TestFindNames(t *testing.T) {
	s := store.New()
	for _, spec := range []string{"{key: {a: 1}}", "{key: {b: 1}}"} {
		if _, _, err := build(t, s, spec); err != nil {
			t.Fatal(err)
		}
	}
	c := s.Snapshot().Collection(things)
	for which, want := range map[string][]string{
		"'*'": {"a_1", "b_1"}, "'b_1'": {"b_1"}, "{a: 1.0}": {"a_1"}, "['a_1', 'b_1']": {"a_1", "b_1"},
	} {
		if got, err := indexes.FindNames(c, valuetest.Value(which)); !slices.Equal(got, want) || err != nil {
			t.Errorf("%s names %v, %v; want %v", which, got, err, want)
		}
	}
	for which, code := range map[string]int32{
		"'c_1'": mongoerr.IndexNotFound, "{c: 1}": mongoerr.IndexNotFound, "'_id_'": mongoerr.InvalidOptions,
		"1": mongoerr.TypeMismatch,
	} {
		if got, err := indexes.FindNames(c, valuetest.Value(which)); mongoerr.CodeOf(err) != code {
			t.Errorf("%s names %v, %v; want code %d", which, got, err, code)
		}
	}
}
