package design_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/design"
)

// A layout that the workload can't be stored in is refused.
func TestRefuseLayout(t *testing.T) {
	tests := []struct {
		name, relation string
		storage        design.Storage
		change         func(w *design.Workload)
		want           string
	}{
		{"an unknown relation", "x.y", design.Storage{}, nil, "no relation"},
		{"an unknown structure", "comments.post", design.Storage{As: 9}, nil, "must be"},
		{"a copy of nothing", "comments.post", design.Storage{Copy: []string{"x"}}, nil, "no field"},
		{
			name: "a copy in an embedded child", relation: "comments.post",
			storage: design.Storage{As: design.Embedded, Copy: []string{"title"}},
			change:  nil, want: "Copy needs",
		},
		{"a subset without an order", "comments.post", design.Storage{Newest: 3}, nil, "set together"},
		{"a subset by nothing", "comments.post", design.Storage{Newest: 3, By: "x"}, nil, "no field"},
		{
			name: "totals that nobody shows", relation: "comments.post", storage: design.Storage{Totals: true},
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Fields = nil },
			want:   "no operation shows",
		},
		{"a smallest value that leaves", "comments.post", design.Storage{Totals: true}, func(w *design.Workload) {
			w.Operations[0].Accesses[0].Fields = []string{"min(comments.at)"}
			w.Operations[1].Accesses = []design.Access{{Do: design.Delete, Of: "comments", By: []string{"_id"}}}
		}, "min or max"},
		{
			name: "a subset of embedded children", relation: "comments.post",
			storage: design.Storage{As: design.Embedded, Newest: 3, By: "at"},
			change:  nil, want: "in collections of their own",
		},
		{"a subset and totals", "comments.post", design.Storage{Newest: 3, By: "at", Totals: true}, nil, "can be priced"},
		{"a subset of children that change", "comments.post", design.Storage{Newest: 3, By: "at"}, func(w *design.Workload) {
			w.Operations[1].Accesses = []design.Access{{Do: design.Delete, Of: "comments", By: []string{"_id"}}}
		}, "updates or deletes"},
		{
			name: "many-to-many, embedded", relation: "comments.post", storage: design.Storage{As: design.Embedded},
			change: func(w *design.Workload) { w.Relations[0].Each = 2 },
			want:   "must be a Reference",
		},
		{"a document beyond 16 MB", "comments.post", design.Storage{As: design.Embedded}, func(w *design.Workload) {
			w.Relations[0].Max = 1 << 20
		}, "16 MB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := valid()
			if test.change != nil {
				test.change(&w)
			}
			_, err := w.Price(design.Layout{Stored: map[string]design.Storage{test.relation: test.storage}})
			var bad *model.ValueError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a *model.ValueError about %q", err, test.want)
			}
		})
	}
}
