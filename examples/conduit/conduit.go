package main

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Repository stores the data of Conduit. A set is a list of fields and their new values.
type Repository interface {
	Prepare(ctx context.Context) error // creates the indexes

	Register(ctx context.Context, u User) error
	UpdateUser(ctx context.Context, id bson.ObjectID, set bson.D) (User, error)
	User(ctx context.Context, filter bson.D) (User, error)

	Post(ctx context.Context, a Article) (Article, error)
	EditArticle(ctx context.Context, viewer bson.ObjectID, slug string, set bson.D) (Article, error)
	DeleteArticle(ctx context.Context, viewer bson.ObjectID, slug string) error
	Article(ctx context.Context, slug string) (Article, error)
	Articles(ctx context.Context, filter bson.D, p Page) (all []Article, n int64, err error)
	Tags(ctx context.Context) ([]string, error)

	AddComment(ctx context.Context, slug string, c Comment) (Comment, error)
	DeleteComment(ctx context.Context, viewer bson.ObjectID, slug string, id int64) error
	Comments(ctx context.Context, slug string) ([]Comment, error)

	// Follow and Favorite store a join document, or delete it if on is false. They return
	// the document that counts it. A repeat changes nothing.
	Follow(ctx context.Context, viewer bson.ObjectID, username string, on bool) (User, error)
	Favorite(ctx context.Context, viewer bson.ObjectID, slug string, on bool) (Article, error)

	// Follows and Favorites return a user's join documents. FollowsOf and FavoritesOf return
	// only the documents of some users or articles.
	Follows(ctx context.Context, user bson.ObjectID) ([]Follow, error)
	FollowsOf(ctx context.Context, user bson.ObjectID, followed []bson.ObjectID) ([]Follow, error)
	Favorites(ctx context.Context, user bson.ObjectID) ([]Favorite, error)
	FavoritesOf(ctx context.Context, user bson.ObjectID, articles []bson.ObjectID) ([]Favorite, error)
}

// A Page is a part of a list of articles, newest first. The articles have no body.
type Page struct{ Offset, Limit int64 }

// Errors of a [Repository], for errors.Is.
var (
	ErrNoUser    = errors.New("conduit: there is no such user")
	ErrNoArticle = errors.New("conduit: there is no such article")
	ErrNoComment = errors.New("conduit: there is no such comment")
	ErrForbidden = errors.New("conduit: it belongs to another user")
)

// A TakenError says that another document has the value of a unique field.
type TakenError struct{ Field string }

func (e *TakenError) Error() string { return "conduit: " + e.Field + " is taken" }
