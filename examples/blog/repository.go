package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/relate"
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

// Blog is the repository. Actions need no transaction. After a crash, run the action
// again with the same arguments: it has effect once.
type Blog struct {
	db   *mongo.Database
	draw func() float64 // decides which views are written
}

// New returns a blog in a database.
func New(db *mongo.Database) Blog { return Blog{db, rand.Float64} }

// Prepare creates missing indexes.
func (b Blog) Prepare(ctx context.Context) error {
	return everything.Indexes().Ensure(ctx, b.db)
}

// Publish stores a post and adds it to its authors. A retry must use the same ID
// (bson.NewObjectID()).
func (b Blog) Publish(ctx context.Context, p Post) error {
	stored, err := posts.ByID(p.ID).One(ctx, b.db)
	switch {
	case err == nil:
		p = stored // an interrupted first try stored it; now it can have comments, and a different post would be another post
	case !errors.Is(err, model.ErrNotFound):
		return err
	default:
		known, err := authors.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: append([]string{}, p.Authors...)}}}}).Count(ctx, b.db)
		if err != nil {
			return err
		}
		if int(known) < len(p.Authors) {
			return fmt.Errorf("%w: of %q", ErrNoAuthor, p.Authors)
		}
	}
	_, err = publish(p).Run(ctx, b.db)
	return said(err, model.ErrTaken, ErrSlugTaken, model.ErrNotFound, ErrNoAuthor, model.ErrStale, ErrNoAuthor)
}

func publish(p Post) model.Plan {
	all := []model.Plan{slugs.Insert(p, p.ID)}
	for _, author := range p.Authors {
		link := written.Link(&p, author, bson.NilObjectID)
		link.Steps = link.Steps[1:] // the post names its authors already; only the author's list is missing
		all = append(all, link)
	}
	plan := model.Concat(all...)
	plan.Leaves = "a post that an author doesn't list"
	return plan
}

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
	return written.Right().Others(author).Sorted(bson.D{{Key: "at", Value: -1}})
}

// Rename changes the title and slug of a post as it was read. op is bson.NewObjectID(),
// the same for a retry.
func (b Blog) Rename(ctx context.Context, p Post, title, slug string, op bson.ObjectID) error {
	_, err := slugs.Set(&p, bson.D{{Key: "title", Value: title}, {Key: "slug", Value: slug}}, op).Run(ctx, b.db)
	return said(err, model.ErrTaken, ErrSlugTaken, model.ErrNotFound, ErrChanged, model.ErrStale, ErrChanged)
}

// Withdraw deletes a post with its comments, then frees its slug. A missing post is not
// an error.
func (b Blog) Withdraw(ctx context.Context, slug string) error {
	entry, err := slugs.Lookup(slug).One(ctx, b.db)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	reached, _, err := withdrawal.Delete(entry.ID).Run(ctx, b.db)
	if err != nil {
		return err
	}
	if _, _, err := withdrawal.Sweep(reached).Run(ctx, b.db); err != nil { // new comments
		return err
	}
	_, err = slugs.Delete(&Post{ID: entry.ID, Slug: slug}).Run(ctx, b.db) // last: a second try finds the rest by the slug
	return err
}

// Comment stores a comment and shows it in its post. A retry must use the same ID
// (bson.NewObjectID()).
func (b Blog) Comment(ctx context.Context, c Comment) error {
	_, err := comment(c).Run(ctx, b.db)
	return said(err, model.ErrNotFound, ErrNoPost)
}

func comment(c Comment) model.Plan {
	plan := recent.Insert(c)
	plan.IfStale = []model.Step{comments.Delete(c.ID)} // the post is missing
	plan.Leaves = "a comment that its post doesn't show yet"
	return plan
}

// Edit changes a comment's text, also in its post.
func (b Blog) Edit(ctx context.Context, comment bson.ObjectID, text string) error {
	_, _, err := recent.Set(comment, bson.D{{Key: "text", Value: text}}).Run(ctx, b.db)
	return said(err, model.ErrNotFound, ErrNoComment)
}

// Remove deletes a comment with its replies. The post then shows the next comment.
func (b Blog) Remove(ctx context.Context, comment bson.ObjectID) error {
	_, _, err := recent.Delete(comment).Run(ctx, b.db)
	return err
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
	_, _, err := leaving.Delete(author).Run(ctx, b.db)
	if restricted := (*relate.RestrictError)(nil); errors.As(err, &restricted) {
		return fmt.Errorf("%w: %w", ErrHasPosts, err)
	}
	return err
}

// Mend completes actions that crashed before a time. action is the longest time that an
// action takes. It returns the number of repairs.
func (b Blog) Mend(ctx context.Context, before time.Time, action time.Duration) (int, error) {
	n := 0
	for _, check := range written.Checks() {
		check.Age = action
		done, err := check.Job().Run(ctx, b.db, model.JobOptions{})
		if err != nil {
			return n, err
		}
		n += int(done.Writes)
	}
	held, surplus := recent.Checks()[0], slugs.Checks()[0]
	shows, err := held.All(ctx, b.db)
	if err != nil {
		return 0, err
	}
	entries, err := surplus.All(ctx, b.db)
	if err != nil {
		return 0, err
	}
	entries = slices.DeleteFunc(entries, func(f model.Finding) bool { return !f.Since.Before(before) })
	_, err = model.Concat(held.Mend(shows), surplus.Mend(entries)).Run(ctx, b.db)
	return n + len(shows) + len(entries), err
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
