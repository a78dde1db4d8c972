package design_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model/design"
)

// blog shows posts with their newest comments, and users with their newest posts.
var blog = design.Workload{
	Name: "blog", Server: design.Server{Transactions: true}, // a replica set
	Entities: []design.Entity{
		{Name: "users", Count: 50_000, Fields: []design.Field{{Name: "name", Text: 20}, {Name: "about", Text: 500}}},
		{
			Name: "posts", Count: 10_000,
			Fields: []design.Field{{Name: "title", Text: 60}, {Name: "body", Text: 4000}, {Name: "at"}},
		},
		{Name: "comments", Count: 500_000, Fields: []design.Field{{Name: "text", Text: 200}, {Name: "at"}}},
	},
	Relations: []design.Relation{
		{Child: "posts", Field: "author", Parent: "users", List: "posts"},
		{Child: "comments", Field: "post", Parent: "posts", List: "comments"},
		{Child: "comments", Field: "author", Parent: "users", List: "comments"},
	},
	Operations: []design.Operation{
		{Name: "show a post", Rate: 100, Accesses: []design.Access{
			{Of: "posts", By: []string{"_id"}, Fields: []string{"author.name"}},
			{Of: "comments", By: []string{"post"}, Order: "at", Limit: 10},
		}},
		{
			Name: "show a user", Rate: 10,
			Accesses: []design.Access{
				{Of: "users", By: []string{"_id"}},
				{Of: "posts", By: []string{"author"}, Order: "at", Limit: 20},
			},
		},
		{Name: "comment", Rate: 2, Accesses: []design.Access{{Do: design.Insert, Of: "comments"}}},
		{
			Name: "change one's name", Rate: 0.01,
			Accesses: []design.Access{{Do: design.Update, Of: "users", By: []string{"_id"}, Fields: []string{"name"}}},
		},
	},
}

// For a blog the cheapest layout is that of the seeds: the newest comments and the author's name are kept in the post.
func ExampleWorkload_Design() {
	d, err := blog.Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d)
	// Output:
	// blog: 54.8 ms in each unit of time, with references only 143 ms; the best of 26 layouts
	//   posts.author reference with a copy of name and the newest 20 by at in the parent: saves 44.6 ms (show a post 40.6 ms, show a user 4.02 ms)
	//   comments.post reference with the newest 10 by at in the parent: saves 43.5 ms (show a post 44.4 ms, comment -935 µs)
	//   next 1, 56.5 ms, with comments.post paged with the newest 10 by at in the parent and 100 to a document
	//   next 2, 58.8 ms, with posts.author reference with a copy of name; better only if change one's name came more than 1000 times as often
	//   next 3, 60.5 ms, with posts.author reference with a copy of name; comments.post paged with the newest 10 by at in the parent and 100 to a document; better only if change one's name came more than 1000 times as often
	//
	//           operation  rate  commands  read  written  index entries    KB     time
	//         show a post   100         1     1        0              0  6.90   487 µs
	//         show a user    10         1     1        0              0  1.37   421 µs
	//             comment     2         2     0        2              2     0   925 µs
	//   change one's name  0.01         3     1     1.20              0  0.55  1.27 ms
	//
	// users: 50000 documents of 1407 bytes, the largest 4727
	// posts: 10000 documents of 7063 bytes, the largest 7063; indexes author._id_1_at_-1__id_-1, author._id_1__id_-1
	// comments: 500000 documents of 283 bytes, the largest 283; indexes post_1_at_-1__id_-1
}
