package main

import (
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Post shows its newest comments, so that its page is one document.
type Post struct {
	ID      bson.ObjectID `bson:"_id"`
	Slug    string        `bson:"slug"` // its name in the address: no two have the same
	Title   string        `bson:"title"`
	Text    string        `bson:"text"`
	At      time.Time     `bson:"at"`
	Authors []string      `bson:"authors,omitempty"`
	Recent  []Recent      `bson:"recent,omitempty"`
	Views   int64         `bson:"views"` // about
}

// A Recent is a comment as its post shows it.
type Recent struct {
	ID   bson.ObjectID `bson:"_id"`
	At   time.Time     `bson:"at"`
	By   string        `bson:"by"`
	Text string        `bson:"text"`
}

// An Author lists the posts that name him: a few hundred in a lifetime.
type Author struct {
	ID    string          `bson:"_id"`
	Name  string          `bson:"name"`
	Posts []bson.ObjectID `bson:"posts,omitempty"`
}

// A Comment is a document: there is no bound on those of a post, and each is written, changed and deleted by itself, which
// is why they are not by the hundred in a denorm.Bucket. What is replied to one comment is a discussion that is shown whole,
// and has an end: a tree in its document.
type Comment struct {
	ID      bson.ObjectID `bson:"_id"`
	Post    bson.ObjectID `bson:"post"`
	At      time.Time     `bson:"at"`
	By      string        `bson:"by"`
	Text    string        `bson:"text"`
	Replies []Reply       `bson:"replies,omitempty"`
}

// A Reply answers the comment that it is in, or another reply to it.
type Reply struct {
	ID     bson.ObjectID  `bson:"id"`
	Parent *bson.ObjectID `bson:"parent"` // nil answers the comment
	By     string         `bson:"by"`
	Text   string         `bson:"text"`
}

const (
	shown    = 3   // comments within their post
	paged    = 20  // comments on a page
	answered = 200 // replies to a comment
	counted  = 100 // one view in so many is written, as so many
)

var (
	posts    = model.NewCollection[Post, bson.ObjectID]("posts")
	authors  = model.NewCollection[Author, string]("authors")
	comments = model.NewCollection[Comment, bson.ObjectID]("comments")

	// On one server a unique index would do; this holds too when posts are divided among several, by their _id.
	slugs   = denorm.NewIndexTable(posts, "slug", "postBySlug", denorm.IndexTableSpec{Unique: true})
	written = relate.NewManyToMany(posts, "authors", authors, "posts", relate.ManyToManySpec{})
	ofPost  = relate.NewParentRef(comments, "post", posts, relate.ParentRefSpec{By: "at"})
	recent  = denorm.NewSubset(comments, "post", posts, "recent", denorm.SubsetSpec{Max: shown, By: bson.D{{Key: "at", Value: -1}}, Fields: []string{"by", "text"}})
	replies = paths.NewDocumentTree[Reply, bson.ObjectID](comments, "replies", paths.DocumentTreeSpec{Max: answered})
	views   = denorm.NewApproximate(posts, "views", counted)

	// The comments go with their post, and its authors list it no longer. An author who has posts stays.
	withdrawal = relate.NewOnDelete(posts, relate.OnDeleteSpec{Cascade: []relate.Referrer{ofPost}, Nullify: []relate.Referrer{written.Right()}})
	leaving    = relate.NewOnDelete(authors, relate.OnDeleteSpec{Restrict: []relate.Referrer{written.Left()}})

	everything = model.New("blog", slugs, written, ofPost, recent, replies, views, withdrawal, leaving)
)
