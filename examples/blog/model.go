package main

import (
	"time"

	"github.com/docmodel/docmodel/denorm/approximate"
	"github.com/docmodel/docmodel/denorm/indextable"
	"github.com/docmodel/docmodel/denorm/subset"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Post contains its newest comments, so that its page reads one document.
type Post struct {
	ID      bson.ObjectID `bson:"_id"`
	Slug    string        `bson:"slug"` // name in the address, unique
	Title   string        `bson:"title"`
	Text    string        `bson:"text"`
	At      time.Time     `bson:"at"`
	Authors []string      `bson:"authors,omitempty"`
	Recent  []Recent      `bson:"recent,omitempty"`
	Views   int64         `bson:"views"` // approximate
}

// A Recent is the copy of a comment in its post.
type Recent struct {
	ID   bson.ObjectID `bson:"_id"`
	At   time.Time     `bson:"at"`
	By   string        `bson:"by"`
	Text string        `bson:"text"`
}

// An Author lists its posts, a few hundred at most.
type Author struct {
	ID    string          `bson:"_id"`
	Name  string          `bson:"name"`
	Posts []bson.ObjectID `bson:"posts,omitempty"`
}

// A Comment is a document, because a post has any number of comments and each comment is
// changed and deleted by itself. A bucket.Bucket doesn't fit this. The replies to a
// comment are shown together and bounded, so they are a tree in its document.
type Comment struct {
	ID      bson.ObjectID `bson:"_id"`
	Post    bson.ObjectID `bson:"post"`
	At      time.Time     `bson:"at"`
	By      string        `bson:"by"`
	Text    string        `bson:"text"`
	Replies []Reply       `bson:"replies,omitempty"`
}

// A Reply answers its comment or another reply.
type Reply struct {
	ID     bson.ObjectID  `bson:"id"`
	Parent *bson.ObjectID `bson:"parent"` // nil answers the comment
	By     string         `bson:"by"`
	Text   string         `bson:"text"`
}

const (
	shown    = 3   // comments in their post
	paged    = 20  // comments on a page
	answered = 200 // replies to a comment
	counted  = 100 // one view in 100 is written, as 100 views
)

var (
	posts    = model.NewCollection[Post, bson.ObjectID]("posts")
	authors  = model.NewCollection[Author, string]("authors")
	comments = model.NewCollection[Comment, bson.ObjectID]("comments")

	// On one server a unique index would be enough. The table also works if posts are
	// sharded by _id.
	slugs   = indextable.New(posts, "slug", "postBySlug", indextable.Spec{Unique: true})
	written = twosided.NewManyToMany(posts, "authors", authors, "posts", twosided.ManyToManySpec{})
	ofPost  = parentref.New(comments, "post", posts, parentref.Spec{By: "at"})
	recent  = subset.New(comments, "post", posts, "recent", subset.Spec{Max: shown, By: bson.D{{Key: "at", Value: -1}}, Fields: []string{"by", "text"}})
	replies = paths.NewDocumentTree[Reply, bson.ObjectID](comments, "replies", paths.DocumentTreeSpec{Max: answered})
	views   = approximate.New(posts, "views", counted)

	// Deleting a post deletes its comments and removes it from its authors. An author
	// with posts can't be deleted.
	withdrawal = ondelete.New(posts, ondelete.Spec{Cascade: []relate.Referrer{ofPost}, Nullify: []relate.Referrer{written.Right}})
	leaving    = ondelete.New(authors, ondelete.Spec{Restrict: []relate.Referrer{written.Left}})

	everything   = model.New("blog", slugs, written, ofPost, recent, replies, views, withdrawal, leaving)
	postStore    = model.NewStore(everything, posts)
	authorStore  = model.NewStore(everything, authors)
	commentStore = model.NewStore(everything, comments)
)
