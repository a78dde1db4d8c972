package advise_test

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// A blog's post holds its comments. Nothing ends their number.
type blogComment struct {
	ID      int64  `bson:"id"`
	Author  string `bson:"author"`
	Comment string `bson:"comment"`
}

type blogPost struct {
	ID       string        `bson:"_id"`
	Name     string        `bson:"name"`
	Summary  string        `bson:"summary"`
	Tags     []string      `bson:"tags,omitempty"`
	Comments []blogComment `bson:"comments"`
}

var (
	blogPosts  = model.NewCollection[blogPost, string]("posts")
	postBounds = []advise.Bound{
		{Path: "_id", Bytes: 24}, {Path: "name", Bytes: 200}, {Path: "summary", Bytes: 2000},
		{Path: "tags", Items: 10, Bytes: 30}, {Path: "comments.author", Bytes: 60}, {Path: "comments.comment", Bytes: 1000},
	}
)

// How large does a post get? Without a bound on its comments nobody knows; with the newest three it is known to the
// byte.
func ExampleBudget() {
	unbounded := advise.NewBudget(blogPosts, postBounds...)
	fmt.Print(unbounded.Worst())
	fmt.Printf("at 300 comments a day, the longest there are, it is full in %.0f days\n\n",
		unbounded.Days("comments", 0, 300))

	recent := advise.NewBudget(blogPosts, append(postBounds, advise.Bound{Path: "comments", Items: 3})...)
	fmt.Print(recent.Worst())
	fmt.Println(recent.Worst().Fits)

	post := blogPost{ID: "1", Name: "What's new in the coolest Cloud", Comments: []blogComment{
		{1, "anon", "something useful, I'm sure"}, {2, "bob", "wisdom from the interwebs"}, {3, "jane", "....."},
		{4, "anon", "more goodness"},
	}}
	size, err := recent.Size(post)
	fmt.Println("this post has", size, "bytes", err)
	fmt.Println(recent.Breaches(post))
	// Output:
	// posts: at most 2.6 kB of 16 MB, and what has no bound; 3 of 100 levels
	//   _id: 34 B
	//   name: 211 B
	//   summary: 2.0 kB
	//   tags: 391 B
	//   comments: 15 B
	//   comments has no bound: an array without Items; 16 MB at 15,108
	// at 300 comments a day, the longest there are, it is full in 50 days
	//
	// posts: at most 5.9 kB of 16 MB; 3 of 100 levels
	//   _id: 34 B
	//   name: 211 B
	//   summary: 2.0 kB
	//   tags: 391 B
	//   comments: 3.3 kB
	// true
	// this post has 359 bytes <nil>
	// [{comments Items 3 4}] <nil>
}
