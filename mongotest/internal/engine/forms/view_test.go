package forms_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// putView stores a view in a write of its own.
func putView(s *store.Store, name, on string, stages ...string) error {
	list := bson.A{}
	for _, stage := range stages {
		list = append(list, valuetest.Doc(stage))
	}
	return s.Write(context.Background(), func(w *store.Writer) error {
		return forms.PutView(w, store.Namespace{DB: "db", Coll: name}, &store.View{On: on, Pipeline: list})
	})
}

func TestResolveView(t *testing.T) {
	s := store.New()
	for _, err := range []error{
		putView(s, "a", "things", "{$match: {x: 1}}"), putView(s, "b", "a", "{$limit: 1}"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ns, stages, err := forms.ResolveView(s.Snapshot(), store.Namespace{DB: "db", Coll: "b"})
	want := valuetest.Value("[{$match: {x: 1}}, {$limit: 1}]")
	if err != nil || ns.Coll != "things" || valuetest.Text(stages) != valuetest.Text(want) {
		t.Errorf("b is %s on %s, %v", valuetest.Text(stages), ns, err)
	}
	views := s.Snapshot().Collection(store.Namespace{DB: "db", Coll: forms.SystemViews})
	if n := views.Records.Len(); n != 2 {
		t.Errorf("system.views has %d documents", n)
	}
}

func TestPutViewRefusesCycles(t *testing.T) {
	s := store.New()
	if err := putView(s, "a", "b"); err != nil {
		t.Fatal(err)
	}
	for why, err := range map[string]error{
		"on itself":           putView(s, "c", "c"),
		"on a view on itself": putView(s, "b", "a"),
		"in a stage":          putView(s, "b", "things", "{$lookup: {from: 'a', as: 'x', pipeline: []}}"),
	} {
		if mongoerr.CodeOf(err) != mongoerr.GraphContainsCycle {
			t.Errorf("a view %s gave %v", why, err)
		}
	}
}
