package main

import (
	"context"
	"errors"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// repository is a [Repository] that writes by the stores of the model. It runs with and
// without transactions.
type repository struct{ db model.DB }

func (r repository) Prepare(ctx context.Context) error { return conduit.Indexes().Ensure(ctx, r.db) }

func (r repository) Register(ctx context.Context, u User) error {
	_, err := run(ctx, r, userStore.Insert(u), ErrNoUser)
	return err
}

func (r repository) UpdateUser(ctx context.Context, id bson.ObjectID, set bson.D) (User, error) {
	return run(ctx, r, userStore.Set(id, set), ErrNoUser)
}

func (r repository) User(ctx context.Context, filter bson.D) (User, error) {
	u, err := users.Find(filter).One(ctx, r.db)
	return u, explain(err, ErrNoUser)
}

func (r repository) Post(ctx context.Context, a Article) (Article, error) {
	return run(ctx, r, articleStore.Insert(a), ErrNoUser)
}

func (r repository) EditArticle(ctx context.Context, viewer bson.ObjectID, slug string, set bson.D) (Article, error) {
	return run(ctx, r, articleStore.Where(ownedBy(viewer), ErrForbidden).SetOne(bySlug(slug), set), ErrNoArticle)
}

func (r repository) DeleteArticle(ctx context.Context, viewer bson.ObjectID, slug string) error {
	_, err := run(ctx, r, articleStore.Where(ownedBy(viewer), ErrForbidden).DeleteOne(bySlug(slug)), ErrNoArticle)
	var many *model.ValueError
	if errors.As(err, &many) { // it has more than 1,000 comments or favorites
		var a Article
		if a, err = r.Article(ctx, slug); err == nil {
			_, err = articleStore.DeleteJob(a.ID).Run(ctx, r.db, model.JobOptions{})
		}
	}
	return err
}

// ownedBy returns the condition of a document that the viewer may change.
func ownedBy(viewer bson.ObjectID) bson.D { return bson.D{{Key: "author.id", Value: viewer}} }

func bySlug(slug string) bson.D { return bson.D{{Key: "slug", Value: slug}} }

func (r repository) Article(ctx context.Context, slug string) (Article, error) {
	a, err := articles.Find(bySlug(slug)).One(ctx, r.db)
	return a, explain(err, ErrNoArticle)
}

func (r repository) Articles(ctx context.Context, filter bson.D, p Page) ([]Article, int64, error) {
	find := articles.Find(filter).Sorted(bson.D{{Key: "_id", Value: -1}})
	n, err := find.Count(ctx, r.db)
	if err != nil {
		return nil, 0, err
	}
	find.Skip, find.Limit, find.Projection = p.Offset, p.Limit, bson.D{{Key: "body", Value: 0}}
	all, err := find.All(ctx, r.db)
	return all, n, err
}

func (r repository) Tags(ctx context.Context) (out []string, err error) {
	err = articles.Find(nil).Distinct(ctx, r.db, "tags", &out)
	return out, err
}

func (r repository) AddComment(ctx context.Context, slug string, c Comment) (Comment, error) {
	return run(ctx, r, commentStore.Referring("article", bySlug(slug)).Insert(c), ErrNoUser)
}

func (r repository) DeleteComment(ctx context.Context, viewer bson.ObjectID, slug string, id int64) error {
	ofArticle := commentStore.Referring("article", bySlug(slug))
	_, err := run(ctx, r, ofArticle.Where(ownedBy(viewer), ErrForbidden).Delete(id), ErrNoComment)
	return err
}

func (r repository) Comments(ctx context.Context, slug string) ([]Comment, error) {
	a, err := r.Article(ctx, slug)
	if err != nil {
		return nil, err
	}
	return ofArticle.Children(a.ID).All(ctx, r.db)
}

func (r repository) Follow(ctx context.Context, viewer bson.ObjectID, username string, on bool) (User, error) {
	store := followStore.Referring("followed", bson.D{{Key: "username", Value: username}})
	if on {
		return link[User](ctx, r, store.Ensure(Follow{Follower: viewer}), "followed")
	}
	return link[User](ctx, r, store.DeleteOne(bson.D{{Key: "follower", Value: viewer}}), "followed")
}

func (r repository) Favorite(ctx context.Context, viewer bson.ObjectID, slug string, on bool) (Article, error) {
	store := favoriteStore.Referring("article", bySlug(slug))
	if on {
		return link[Article](ctx, r, store.Ensure(Favorite{User: viewer}), "article")
	}
	return link[Article](ctx, r, store.DeleteOne(bson.D{{Key: "user", Value: viewer}}), "article")
}

// link stores or deletes a join document. It returns the document that counts it.
func link[R, D any](ctx context.Context, r repository, c model.ChangeOf[model.Stored[D]], path string) (out R, err error) {
	s, _, err := c.Run(ctx, r.db)
	if err = explain(err, nil); err == nil {
		err = s.Referenced(path, &out)
	}
	return out, err
}

func (r repository) Follows(ctx context.Context, user bson.ObjectID) ([]Follow, error) {
	return followKey.Prefix(user).All(ctx, r.db)
}

func (r repository) FollowsOf(ctx context.Context, user bson.ObjectID, followed []bson.ObjectID) ([]Follow, error) {
	return followKey.Prefix(user).Where(anyOf("followed", followed)).All(ctx, r.db)
}

func (r repository) Favorites(ctx context.Context, user bson.ObjectID) ([]Favorite, error) {
	return favoriteKey.Prefix(user).All(ctx, r.db)
}

func (r repository) FavoritesOf(ctx context.Context, user bson.ObjectID, articles []bson.ObjectID) ([]Favorite, error) {
	return favoriteKey.Prefix(user).Where(anyOf("article", articles)).All(ctx, r.db)
}

func anyOf(path string, ids []bson.ObjectID) bson.D {
	return bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}}
}

// run runs a store's change, and returns the written document.
func run[D any](ctx context.Context, r repository, c model.ChangeOf[model.Stored[D]], missing error) (D, error) {
	s, _, err := c.Run(ctx, r.db)
	return s.Doc, explain(err, missing)
}

// missing are the errors of references to missing documents, by collection.
var missing = map[string]error{"users": ErrNoUser, "articles": ErrNoArticle}

// explain returns the error of a taken value, of a reference to a missing document, or of
// the missing document itself.
func explain(err, own error) error {
	var reference *model.ReferenceError
	field, taken := strings.CutSuffix(model.DuplicateIndex(err), "_1")
	switch {
	case taken:
		return &TakenError{field}
	case errors.As(err, &reference):
		return missing[reference.To]
	case errors.Is(err, model.ErrNotFound):
		return own
	}
	return err
}
