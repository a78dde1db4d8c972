package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Errors for errors.Is.
var (
	ErrNoPost    = errors.New("blog: there is no such post")
	ErrNoComment = errors.New("blog: there is no such comment")
	ErrNoAuthor  = errors.New("blog: there is no such author")
	ErrHasPosts  = errors.New("blog: the author has posts")
	ErrSlugTaken = errors.New("blog: another post has this slug")
	ErrFull      = errors.New("blog: the comment takes no more replies")
	ErrChanged   = errors.New("blog: somebody else changed it: look again")
)

// Blog is the repository. Each action is a transaction. An action that runs again with the
// same arguments has effect once.
type Blog struct {
	db   model.DB
	draw func() float64 // decides which views are written
}

// New returns a blog in a database with transactions.
func New(ctx context.Context, db *mongo.Database) (Blog, error) {
	tx, err := model.WithTransactions(ctx, db)
	return Blog{tx, rand.Float64}, err
}

// Prepare creates missing indexes.
func (b Blog) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, b.db)
}

// Publish stores a post and adds it to its authors. A retry must use the same ID
// (bson.NewObjectID()).
func (b Blog) Publish(ctx context.Context, p Post) error {
	_, _, err := publish(p).Run(ctx, b.db)
	if mongo.IsDuplicateKeyError(err) { // of the index table
		return fmt.Errorf("%w: %w", ErrSlugTaken, err)
	}
	return said(err, model.ErrTaken, ErrSlugTaken, model.ErrNotFound, ErrNoAuthor)
}

func publish(p Post) model.ChangeOf[model.Stored[Post]] { return postStore.Ensure(p) }

// Show returns a post with its newest comments and counts the view. Cost: one command,
// and a second for one view in a hundred.
func (b Blog) Show(ctx context.Context, slug string) (Post, error) {
	p, err := slugs.Documents(slug).One(ctx, b.db)
	if err == nil {
		_, err = views.Count(p.ID, 1, b.draw()).Run(ctx, b.db)
	}
	return p, said(err, model.ErrNotFound, ErrNoPost)
}

// By returns an author's posts, newest first.
func (b Blog) By(ctx context.Context, author string) ([]Post, error) {
	return by(author).All(ctx, b.db)
}

func by(author string) *model.Find[Post] {
	return written.Right.Others(author).Sorted(bson.D{{Key: "at", Value: -1}})
}

// Rename changes the title and slug of a post. If it isn't as it was read, the error is
// ErrChanged.
func (b Blog) Rename(ctx context.Context, p Post, title, slug string) error {
	_, _, err := postStore.Edit(p.ID, func(stored *Post) error {
		switch {
		case stored.Title == title && stored.Slug == slug: // an earlier run
			return nil
		case stored.Title != p.Title || stored.Slug != p.Slug:
			return ErrChanged
		}
		stored.Title, stored.Slug = title, slug
		return nil
	}).Run(ctx, b.db)
	if mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("%w: %w", ErrSlugTaken, err)
	}
	return said(err, model.ErrTaken, ErrSlugTaken, model.ErrNotFound, ErrNoPost)
}

// Withdraw deletes a post with its comments, removes it from its authors, and frees its
// slug. A missing post is not an error. A post with more than 1,000 comments gives a
// *model.ValueError.
func (b Blog) Withdraw(ctx context.Context, slug string) error {
	entry, err := slugs.Lookup(slug).One(ctx, b.db)
	if err == nil {
		_, _, err = postStore.Delete(entry.ID).Run(ctx, b.db)
	}
	return ignoreMissing(err)
}

// ignoreMissing returns nil for a missing document.
func ignoreMissing(err error) error {
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// Comment stores a comment and shows it in its post. A retry must use the same ID
// (bson.NewObjectID()).
func (b Blog) Comment(ctx context.Context, c Comment) error {
	_, _, err := comment(c).Run(ctx, b.db)
	if mongo.IsDuplicateKeyError(err) { // a retry
		return nil
	}
	return said(err, model.ErrNotFound, ErrNoPost)
}

func comment(c Comment) model.ChangeOf[model.Stored[Comment]] { return commentStore.Insert(c) }

// Edit changes a comment's text, also in its post.
func (b Blog) Edit(ctx context.Context, comment bson.ObjectID, text string) error {
	_, _, err := commentStore.Set(comment, bson.D{{Key: "text", Value: text}}).Run(ctx, b.db)
	return said(err, model.ErrNotFound, ErrNoComment)
}

// Remove deletes a comment with its replies. The post then shows the next comment. A
// missing comment is not an error.
func (b Blog) Remove(ctx context.Context, comment bson.ObjectID) error {
	_, _, err := commentStore.Delete(comment).Run(ctx, b.db)
	return ignoreMissing(err)
}

// Comments returns a page of a post's comments. The first page begins after the comments
// in the post as it was read, the next pages after last.
func (b Blog) Comments(ctx context.Context, p Post, last *Comment) ([]Comment, error) {
	return page(p, last).All(ctx, b.db)
}

func page(p Post, last *Comment) *model.Find[Comment] {
	f := recent.Rest(&p)
	if last != nil {
		f = f.After(last.At, last.ID)
	}
	return f.Limited(paged)
}

// Reply answers a comment, or another reply if r has a Parent. A retry must use the same
// ID (bson.NewObjectID()).
func (b Blog) Reply(ctx context.Context, comment bson.ObjectID, r Reply) error {
	_, err := reply(comment, r).Run(ctx, b.db)
	return said(err, model.ErrFull, ErrFull, model.ErrNotFound, ErrNoComment, model.ErrStale, ErrNoComment)
}

func reply(comment bson.ObjectID, r Reply) model.Write {
	at := paths.LastRoot[bson.ObjectID]()
	if r.Parent != nil {
		at = paths.LastChild(*r.Parent)
	}
	return replies.Push(comment, r, at)
}

// Discussion returns the replies to a comment in tree order, with depths. It sends no
// command.
func Discussion(c Comment) iter.Seq2[paths.Visit[Reply], error] { return replies.Arrange(c.Replies) }

// Leave deletes an author without posts.
func (b Blog) Leave(ctx context.Context, author string) error {
	_, _, err := authorStore.Delete(author).Run(ctx, b.db)
	if restricted := (*ondelete.RestrictError)(nil); errors.As(err, &restricted) {
		return fmt.Errorf("%w: %w", ErrHasPosts, err)
	}
	return said(err, model.ErrNotFound, ErrNoAuthor)
}

// Mend repairs what other programs wrote. action is the longest time that an action takes.
// It returns the number of writes.
func (b Blog) Mend(ctx context.Context, action time.Duration) (int, error) {
	audit := everything.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = action
	}
	done, err := audit.Job().Run(ctx, b.db, model.JobOptions{})
	return int(done.Writes), err
}

// said wraps a technique's error in the blog's error. pairs alternate the technique's and
// the blog's errors.
func said(err error, pairs ...error) error {
	for i := 0; i < len(pairs); i += 2 {
		if errors.Is(err, pairs[i]) {
			return fmt.Errorf("%w: %w", pairs[i+1], err)
		}
	}
	return err
}
