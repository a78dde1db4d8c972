package design_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/design"
)

func valid() design.Workload {
	return design.Workload{
		Name: "blog",
		Entities: []design.Entity{
			{Name: "posts", Count: 100, Fields: []design.Field{{Name: "title", Text: 20}, {Name: "at"}}},
			{Name: "comments", Count: 1000, Fields: []design.Field{{Name: "text", Text: 80}, {Name: "at"}}},
		},
		Relations: []design.Relation{{Child: "comments", Field: "post", Parent: "posts", List: "comments"}},
		Operations: []design.Operation{
			{
				Name: "show", Rate: 10,
				Accesses: []design.Access{
					{Of: "posts", By: []string{"_id"}, Fields: []string{"count(comments)"}},
					{Of: "comments", By: []string{"post"}, Order: "at", Limit: 5},
				},
			},
			{Name: "comment", Rate: 1, Accesses: []design.Access{{Do: design.Insert, Of: "comments"}}},
		},
	}
}

// A workload that contradicts itself is refused, with the place and the value.
func TestRefuseWorkload(t *testing.T) {
	tests := []struct {
		name, field string
		change      func(w *design.Workload)
	}{
		{"no entities", "Entities", func(w *design.Workload) { w.Entities = nil }},
		{"an entity without a name", "Entities[0].Name", func(w *design.Workload) { w.Entities[0].Name = "" }},
		{"a name with a dot", "Entities[0].Name", func(w *design.Workload) { w.Entities[0].Name = "a.b" }},
		{"one name twice", "Entities[1].Name", func(w *design.Workload) { w.Entities[1].Name = "posts" }},
		{"no documents", "Entities[0].Count", func(w *design.Workload) { w.Entities[0].Count = 0 }},
		{"too many documents", "Entities[0].Count", func(w *design.Workload) { w.Entities[0].Count = 1 << 40 }},
		{
			name: "a field without a name", field: "Entities[0].Fields[0].Name",
			change: func(w *design.Workload) { w.Entities[0].Fields[0].Name = "" },
		},
		{"a field _id", "Entities[0].Fields[0].Name", func(w *design.Workload) { w.Entities[0].Fields[0].Name = "_id" }},
		{"a field twice", "Entities[0].Fields[1].Name", func(w *design.Workload) { w.Entities[0].Fields[1].Name = "title" }},
		{"negative text", "Entities[0].Fields[0].Text", func(w *design.Workload) { w.Entities[0].Fields[0].Text = -1 }},
		{"negative values", "Entities[0].Fields[0].Values", func(w *design.Workload) { w.Entities[0].Fields[0].Values = -1 }},
		{
			name: "a text too short for its values", field: "Entities[1].Fields[0].Text",
			change: func(w *design.Workload) { w.Entities[1].Fields[0].Text = 1 },
		},
		{"an unknown child", "Relations[0].Child", func(w *design.Workload) { w.Relations[0].Child = "x" }},
		{"an unknown parent", "Relations[0].Parent", func(w *design.Workload) { w.Relations[0].Parent = "x" }},
		{"a relation by a field's name", "Relations[0].Field", func(w *design.Workload) { w.Relations[0].Field = "text" }},
		{"a list by a field's name", "Relations[0].List", func(w *design.Workload) { w.Relations[0].List = "title" }},
		{"a maximum below the average", "Relations[0].Max", func(w *design.Workload) { w.Relations[0].Max = 3 }},
		{"more parents than there are", "Relations[0].Each", func(w *design.Workload) { w.Relations[0].Each = 101 }},
		{
			name: "several parents in order", field: "Relations[0].Ordered",
			change: func(w *design.Workload) { w.Relations[0].Each, w.Relations[0].Ordered = 2, true },
		},
		{"an order by several parents", "Operations[0].Accesses[1].Order", func(w *design.Workload) {
			w.Relations[0].Each, w.Operations[0].Accesses[1].Order = 2, "post.at"
		}},
		{"fixed without a maximum", "Relations[0].Fixed", func(w *design.Workload) { w.Relations[0].Fixed = true }},
		{"no operations", "Operations", func(w *design.Workload) { w.Operations = nil }},
		{"an operation without a name", "Operations[0].Name", func(w *design.Workload) { w.Operations[0].Name = "" }},
		{"one operation twice", "Operations[1].Name", func(w *design.Workload) { w.Operations[1].Name = "show" }},
		{"no rate", "Operations[0].Rate", func(w *design.Workload) { w.Operations[0].Rate = 0 }},
		{"no accesses", "Operations[0].Accesses", func(w *design.Workload) { w.Operations[0].Accesses = nil }},
		{"a negative limit of time", "Operations[0].Within", func(w *design.Workload) { w.Operations[0].Within = -1 }},
		{
			name: "an unknown entity", field: "Operations[0].Accesses[0].Of",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Of = "x" },
		},
		{
			name: "an unknown action", field: "Operations[0].Accesses[0].Do",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Do = 9 },
		},
		{
			name: "an unknown path", field: "Operations[0].Accesses[0].By[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].By = []string{"x"} },
		},
		{
			name: "an unknown relation", field: "Operations[0].Accesses[0].By[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].By = []string{"x.y"} },
		},
		{
			name: "a name for a field", field: "Operations[0].Accesses[0].By[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].By = []string{"title=a"} },
		},
		{
			name: "_id and more", field: "Operations[0].Accesses[0].By",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].By = []string{"_id", "title"} },
		},
		{
			name: "all of many", field: "Operations[0].Accesses[0].By",
			change: func(w *design.Workload) { w.Entities[0].Count, w.Operations[0].Accesses[0].By = 5000, nil },
		},
		{
			name: "found by all fields", field: "Operations[0].Accesses[1].By",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].By = []string{"post.*"} },
		},
		{
			name: "an insertion by a field", field: "Operations[1].Accesses[0].By",
			change: func(w *design.Workload) { w.Operations[1].Accesses[0].By = []string{"text"} },
		},
		{
			name: "an insertion with a limit", field: "Operations[1].Accesses[0].Do",
			change: func(w *design.Workload) { w.Operations[1].Accesses[0].Limit = 1 },
		},
		{"an update by a field", "Operations[1].Accesses[0].By", func(w *design.Workload) {
			w.Operations[1].Accesses[0] = design.Access{
				Do: design.Update, Of: "posts", By: []string{"title"}, Fields: []string{"at"},
			}
		}},
		{"an update of nothing", "Operations[1].Accesses[0].Fields", func(w *design.Workload) {
			w.Operations[1].Accesses[0] = design.Access{Do: design.Update, Of: "posts", By: []string{"_id"}}
		}},
		{"an update of a relation", "Operations[1].Accesses[0].Fields[0]", func(w *design.Workload) {
			w.Operations[1].Accesses[0] = design.Access{
				Do: design.Update, Of: "comments", By: []string{"_id"}, Fields: []string{"post"},
			}
		}},
		{
			name: "a range without a share", field: "Operations[0].Accesses[1].Share",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].Since = "at" },
		},
		{
			name: "a share without a range", field: "Operations[0].Accesses[1].Share",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].Share = 0.5 },
		},
		{"another order than the range's", "Operations[0].Accesses[1].Order", func(w *design.Workload) {
			w.Operations[0].Accesses[1].Since, w.Operations[0].Accesses[1].Share, w.Operations[0].Accesses[1].Order = "at", 0.5,
				"text"
		}},
		{
			name: "an order by a relation", field: "Operations[0].Accesses[1].Order",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].Order = "post" },
		},
		{
			name: "a negative limit", field: "Operations[0].Accesses[1].Limit",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].Limit = -1 },
		},
		{
			name: "an unknown field shown", field: "Operations[0].Accesses[1].Fields[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[1].Fields = []string{"post.x"} },
		},
		{
			name: "an unknown count", field: "Operations[0].Accesses[0].Fields[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Fields = []string{"count(x)"} },
		},
		{
			name: "a sum of texts", field: "Operations[0].Accesses[0].Fields[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Fields = []string{"sum(comments.text)"} },
		},
		{
			name: "a count of a field", field: "Operations[0].Accesses[0].Fields[0]",
			change: func(w *design.Workload) { w.Operations[0].Accesses[0].Fields = []string{"count(comments.at)"} },
		},
		{"negative shards", "Server.Shards", func(w *design.Workload) { w.Server.Shards = -1 }},
		{"negative memory", "Server.Memory", func(w *design.Workload) { w.Server.Memory = -1 }},
		{"negative costs", "Server.Costs.Read", func(w *design.Workload) { w.Server.Costs.Read = -1 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := valid()
			test.change(&w)
			_, err := w.Price(design.Layout{})
			var bad *model.ValueError
			if !errors.As(err, &bad) || bad.Field != test.field {
				t.Errorf("got %v, want a *model.ValueError for %s", err, test.field)
			}
			if _, other := w.Design(); (other == nil) || other.Error() != err.Error() {
				t.Errorf("Design says %v, Price says %v", other, err)
			}
		})
	}
	if _, err := valid().Design(); err != nil {
		t.Error(err)
	}
}
