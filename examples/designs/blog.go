package main

import d "github.com/docmodel/docmodel/model/design"

// blog is the blog of "Data modeling in Azure Cosmos DB": a post with endless comments
// shows the newest three, and the others a hundred at a time. This example chose the
// counts and rates.
func blog() d.Workload {
	return d.Workload{
		Name: "blog",
		Entities: []d.Entity{
			{Name: "posts", Count: 2_000, Fields: []d.Field{{Name: "name", Text: 60}, {Name: "summary", Text: 200}, {Name: "at", Grows: true}}},
			{Name: "comments", Count: 600_000, Fields: []d.Field{{Name: "author", Text: 12, Values: 50_000}, {Name: "text", Text: 150}, {Name: "at", Grows: true}}},
		},
		Relations: []d.Relation{{Child: "comments", Field: "post", Parent: "posts", List: "comments", Max: 20_000}},
		Operations: []d.Operation{
			{Name: "show the newest posts", Rate: 50, Accesses: []d.Access{{Of: "posts", Order: "at", Limit: 20}}},
			{Name: "show a post", Rate: 100, Accesses: []d.Access{
				{Of: "posts", By: []string{"_id"}}, {Of: "comments", By: []string{"post"}, Order: "at", Limit: 3},
			}},
			{Name: "load comments", Rate: 30, Accesses: []d.Access{{Of: "comments", By: []string{"post"}, Order: "at", Limit: 100}}},
			{Name: "comment", Rate: 3, Accesses: []d.Access{{Do: d.Insert, Of: "comments"}}},
			{Name: "publish", Rate: 0.01, Accesses: []d.Access{{Do: d.Insert, Of: "posts"}}},
		},
	}
}

// blogExpert is the text's own layout: three comments in the post, and all comments in
// documents of a hundred.
var blogExpert = d.Layout{Name: "expert", Stored: map[string]d.Storage{
	"comments.post": {As: d.Paged, Page: 100, Newest: 3, By: "at"},
}}
