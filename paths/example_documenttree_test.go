package paths_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A post is shown with its tree of comments, which comes out of the database in one read: a document for the post, and
// one list in it for all comments, each with its parent's id.
type (
	blogPost struct {
		ID       string        `bson:"_id"`
		Title    string        `bson:"title"`
		Comments []blogComment `bson:"comments,omitempty"`
	}
	blogComment struct {
		ID     string `bson:"id"`
		Parent string `bson:"parent,omitempty"`
		By     string `bson:"by"`
		Text   string `bson:"text"`
	}
)

var (
	blogPosts    = model.NewCollection[blogPost, string]("posts")
	blogComments = paths.NewDocumentTree[blogComment, string](blogPosts, "comments", paths.DocumentTreeSpec{Max: 1000})
)

func ExampleDocumentTree() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("blog")
	run := func(w model.Write) {
		if _, err := w.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	change := func(c model.Change) {
		if _, err := c.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}

	run(blogPosts.Insert(blogPost{ID: "p1", Title: "Seventeen techniques"}))
	run(blogComments.Push("p1", blogComment{ID: "c1", By: "Ann", Text: "Which one for trees?"}, paths.LastRoot[string]()))

	// A reply is one update, which nothing has to be read for: the comment that it answers must be there, and its own id
	// must not.
	reply := blogComments.Push("p1", blogComment{ID: "c2", By: "Bob", Text: "Several."}, paths.LastChild("c1"))
	fmt.Println(reply)
	fmt.Println(reply.Cost())
	run(reply)
	run(blogComments.Push("p1", blogComment{ID: "c3", By: "Cat", Text: "It depends."}, paths.LastChild("c1")))
	run(blogComments.Push("p1", blogComment{ID: "c4", By: "Ann", Text: "On what?"}, paths.LastChild("c3")))
	run(blogComments.Push("p1", blogComment{ID: "c5", By: "Dan", Text: "To nobody"}, paths.LastChild("c9")))

	// One is edited where it is. Another is moved by a change that reads the list, and writes it if it is as it was read.
	edit := blogComments.Patch("p1", "c4", bson.D{{Key: "text", Value: "On what, please?"}})
	fmt.Println(edit)
	run(edit)
	change(blogComments.Move("p1", "c3", paths.FirstChild("c1")))
	change(blogComments.Move("p1", "c1", paths.LastChild("c4")))

	// The post is read as any other, and its comments put in order in memory.
	show := func() {
		post, err := blogPosts.ByID("p1").One(ctx, db)
		if err != nil {
			fmt.Println(err)
		}
		for c, err := range blogComments.Arrange(post.Comments) {
			if err != nil {
				fmt.Println(err)
			}
			fmt.Printf("%s%s: %s\n", strings.Repeat("  ", c.Depth), c.Doc.By, c.Doc.Text)
		}
	}
	show()

	// A comment that has replies is deleted in one of four ways: here its replies take its place.
	change(blogComments.Delete("p1", "c1", paths.Restrict))
	change(blogComments.Delete("p1", "c1", paths.Promote))
	show()

	// Code that doesn't know of the tree takes a comment away from over its reply. The check finds it, and the repair
	// mends it.
	_, err := blogPosts.Of(db).
		UpdateByID(ctx, "p1", bson.D{{
			Key:   "$pull",
			Value: bson.D{{Key: "comments", Value: bson.D{{Key: "id", Value: "c3"}}}},
		}})
	check := blogComments.Checks()[0]
	found, errCheck := check.All(ctx, db)
	fmt.Println(found, err, errCheck)
	_, err = check.Job().Run(ctx, db, model.JobOptions{})
	fmt.Println(err)
	show()
	// Output:
	// db.posts.updateOne({_id: 'p1', 'comments.id': {$eq: 'c1', $ne: 'c2'}, 'comments.999': {$exists: false}, $expr: {$lte: [{$bsonSize: '$$ROOT'}, 15728570]}}, {$push: {comments: {id: 'c2', by: 'Bob', text: 'Several.', parent: 'c1'}}})
	// 1 command, 1 document written, by _id_
	// docmodel: step 1: posts {_id: 'p1'}: not found: mongo: no documents in result: no node 'c9' in comments of posts
	// db.posts.updateOne({_id: 'p1', 'comments.id': 'c4', $expr: {$lte: [{$bsonSize: '$$ROOT'}, 15728613]}}, {$set: {'comments.$[n].text': 'On what, please?'}}, {arrayFilters: [{'n.id': 'c4'}]})
	// docmodel: a node can't be moved under itself or a descendant: 'c1' in comments of posts
	// Ann: Which one for trees?
	//   Cat: It depends.
	//     Ann: On what, please?
	//   Bob: Several.
	// docmodel: the node has children: 'c1' in comments of posts
	// Cat: It depends.
	//   Ann: On what, please?
	// Bob: Several.
	// [posts 'p1': comments.1 'c4' has a missing parent] <nil> <nil>
	// <nil>
	// Bob: Several.
	// Ann: On what, please?
}
