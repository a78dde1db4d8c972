package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// byHand is a [Repository] that uses only the driver, for a server with transactions. It
// gives the same guarantees as repository. Where a document relies on another one, such as
// a comment on its article, the transaction increments the field "lock" of the other
// document. So it conflicts with a concurrent deletion, or with a change of the author's
// name. One findAndModify command finds and changes a document.
type byHand struct{ db *mongo.Database }

func (h byHand) Prepare(ctx context.Context) error {
	type index struct {
		collection string
		keys       bson.D
		unique     bool
	}
	for _, x := range []index{
		{"users", bson.D{{Key: "username", Value: 1}}, true},
		{"users", bson.D{{Key: "email", Value: 1}}, true},
		{"articles", bson.D{{Key: "slug", Value: 1}}, true},
		{"articles", bson.D{{Key: "author.id", Value: 1}, {Key: "_id", Value: -1}}, false},
		{"articles", bson.D{{Key: "tags", Value: 1}, {Key: "_id", Value: -1}}, false},
		{"comments", bson.D{{Key: "article", Value: 1}, {Key: "createdAt", Value: -1}, {Key: "_id", Value: -1}}, false},
		{"comments", bson.D{{Key: "author.id", Value: 1}}, false},
		{"favorites", bson.D{{Key: "article", Value: 1}}, false},
	} {
		m := mongo.IndexModel{Keys: x.keys, Options: options.Index().SetUnique(x.unique)}
		if _, err := h.db.Collection(x.collection).Indexes().CreateOne(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (h byHand) Register(ctx context.Context, u User) error {
	_, err := h.db.Collection("users").InsertOne(ctx, u)
	return explainByHand(err, ErrNoUser)
}

// UpdateUser also writes the copies of the fields that articles and comments show.
func (h byHand) UpdateUser(ctx context.Context, id bson.ObjectID, set bson.D) (u User, err error) {
	update := bson.D{{Key: "$set", Value: set}}
	copied := func(e bson.E) bool { return e.Key == "username" || e.Key == "bio" || e.Key == "image" }
	if !slices.ContainsFunc(set, copied) {
		u, err = change[User](ctx, h, "users", bson.D{{Key: "_id", Value: id}}, update)
		return u, explainByHand(err, ErrNoUser)
	}
	err = h.tx(ctx, func(ctx context.Context) error {
		if u, err = change[User](ctx, h, "users", bson.D{{Key: "_id", Value: id}}, update); err != nil {
			return err
		}
		copies := bson.D{{Key: "$set", Value: bson.D{{Key: "author", Value: authorOf(u)}}}}
		for _, name := range []string{"articles", "comments"} {
			_, err := h.db.Collection(name).UpdateMany(ctx, bson.D{{Key: "author.id", Value: id}}, copies)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return u, explainByHand(err, ErrNoUser)
}

func (h byHand) User(ctx context.Context, filter bson.D) (u User, err error) {
	err = h.db.Collection("users").FindOne(ctx, filter).Decode(&u)
	return u, explainByHand(err, ErrNoUser)
}

func (h byHand) Post(ctx context.Context, a Article) (Article, error) {
	err := h.tx(ctx, func(ctx context.Context) error {
		u, err := change[User](ctx, h, "users", bson.D{{Key: "_id", Value: a.Author.ID}}, lock())
		if err != nil {
			return err
		}
		a.Author = authorOf(u)
		_, err = h.db.Collection("articles").InsertOne(ctx, a)
		return err
	})
	return a, explainByHand(err, ErrNoUser)
}

func (h byHand) EditArticle(ctx context.Context, viewer bson.ObjectID, slug string, set bson.D) (Article, error) {
	own := bson.D{{Key: "slug", Value: slug}, {Key: "author.id", Value: viewer}}
	a, err := change[Article](ctx, h, "articles", own, bson.D{{Key: "$set", Value: set}})
	if errors.Is(err, mongo.ErrNoDocuments) {
		return a, h.refuse(ctx, slug)
	}
	return a, explainByHand(err, ErrNoArticle)
}

func (h byHand) DeleteArticle(ctx context.Context, viewer bson.ObjectID, slug string) error {
	own := bson.D{{Key: "slug", Value: slug}, {Key: "author.id", Value: viewer}}
	err := h.tx(ctx, func(ctx context.Context) error {
		var a Article
		if err := h.db.Collection("articles").FindOneAndDelete(ctx, own).Decode(&a); err != nil {
			return err
		}
		for _, name := range []string{"comments", "favorites"} {
			if _, err := h.db.Collection(name).DeleteMany(ctx, bson.D{{Key: "article", Value: a.ID}}); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, mongo.ErrNoDocuments) {
		return h.refuse(ctx, slug)
	}
	return err
}

// refuse returns why the viewer has no article of this slug.
func (h byHand) refuse(ctx context.Context, slug string) error {
	if _, err := h.Article(ctx, slug); err != nil {
		return err
	}
	return ErrForbidden
}

func (h byHand) Article(ctx context.Context, slug string) (a Article, err error) {
	err = h.db.Collection("articles").FindOne(ctx, bson.D{{Key: "slug", Value: slug}}).Decode(&a)
	return a, explainByHand(err, ErrNoArticle)
}

func (h byHand) Articles(ctx context.Context, filter bson.D, p Page) ([]Article, int64, error) {
	n, err := h.db.Collection("articles").CountDocuments(ctx, filter)
	if err != nil {
		return nil, 0, err
	}
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetSkip(p.Offset).SetLimit(p.Limit)
	all, err := find[Article](ctx, h, "articles", filter, o.SetProjection(bson.D{{Key: "body", Value: 0}}))
	return all, n, err
}

func (h byHand) Tags(ctx context.Context) (out []string, err error) {
	err = h.db.Collection("articles").Distinct(ctx, "tags", bson.D{}).Decode(&out)
	return out, err
}

func (h byHand) AddComment(ctx context.Context, slug string, c Comment) (Comment, error) {
	err := h.tx(ctx, func(ctx context.Context) error {
		a, err := change[Article](ctx, h, "articles", bson.D{{Key: "slug", Value: slug}}, lock())
		if err != nil {
			return err
		}
		u, err := change[User](ctx, h, "users", bson.D{{Key: "_id", Value: c.Author.ID}}, lock())
		if err != nil {
			return err
		}
		c.Article, c.Author = a.ID, authorOf(u)
		_, err = h.db.Collection("comments").InsertOne(ctx, c)
		return err
	})
	return c, explainByHand(err, ErrNoArticle)
}

func (h byHand) DeleteComment(ctx context.Context, viewer bson.ObjectID, slug string, id int64) error {
	a, err := h.Article(ctx, slug)
	if err != nil {
		return err
	}
	filter := bson.D{{Key: "_id", Value: id}, {Key: "article", Value: a.ID}}
	own := append(slices.Clip(filter), bson.E{Key: "author.id", Value: viewer})
	r, err := h.db.Collection("comments").DeleteOne(ctx, own)
	if err != nil || r.DeletedCount == 1 {
		return err
	}
	if err := h.db.Collection("comments").FindOne(ctx, filter).Err(); err != nil {
		return explainByHand(err, ErrNoComment)
	}
	return ErrForbidden
}

func (h byHand) Comments(ctx context.Context, slug string) ([]Comment, error) {
	a, err := h.Article(ctx, slug)
	if err != nil {
		return nil, err
	}
	newestFirst := options.Find().SetSort(bson.D{{Key: "createdAt", Value: -1}, {Key: "_id", Value: -1}})
	return find[Comment](ctx, h, "comments", bson.D{{Key: "article", Value: a.ID}}, newestFirst)
}

// Follow counts the follower first, so that this command also finds the user.
func (h byHand) Follow(ctx context.Context, viewer bson.ObjectID, username string, on bool) (u User, err error) {
	filter := bson.D{{Key: "username", Value: username}}
	err = h.tx(ctx, func(ctx context.Context) error {
		if u, err = change[User](ctx, h, "users", filter, count("followers", on)); err != nil {
			return err
		}
		f := Follow{ID: pairOf(viewer, u.ID), Follower: viewer, Followed: u.ID}
		return h.link(ctx, "follows", f, f.ID, on)
	})
	if errors.Is(err, errSame) {
		return h.User(ctx, filter)
	}
	return u, explainByHand(err, ErrNoUser)
}

// Favorite counts the favorite first, so that this command also finds the article.
func (h byHand) Favorite(ctx context.Context, viewer bson.ObjectID, slug string, on bool) (a Article, err error) {
	filter := bson.D{{Key: "slug", Value: slug}}
	err = h.tx(ctx, func(ctx context.Context) error {
		if a, err = change[Article](ctx, h, "articles", filter, count("favorites", on)); err != nil {
			return err
		}
		f := Favorite{ID: pairOf(viewer, a.ID), User: viewer, Article: a.ID}
		return h.link(ctx, "favorites", f, f.ID, on)
	})
	if errors.Is(err, errSame) {
		return h.Article(ctx, slug)
	}
	return a, explainByHand(err, ErrNoArticle)
}

// errSame aborts a transaction that would change nothing else than a count.
var errSame = errors.New("conduit: there is nothing to change")

// link stores or deletes a join document.
func (h byHand) link(ctx context.Context, collection string, doc any, id string, on bool) error {
	if on {
		_, err := h.db.Collection(collection).InsertOne(ctx, doc)
		if mongo.IsDuplicateKeyError(err) {
			return errSame
		}
		return err
	}
	r, err := h.db.Collection(collection).DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
	if err == nil && r.DeletedCount == 0 {
		return errSame
	}
	return err
}

func (h byHand) Follows(ctx context.Context, user bson.ObjectID) ([]Follow, error) {
	return find[Follow](ctx, h, "follows", pairsOf(user))
}

func (h byHand) FollowsOf(ctx context.Context, user bson.ObjectID, followed []bson.ObjectID) ([]Follow, error) {
	return find[Follow](ctx, h, "follows", pairsWith(user, followed))
}

func (h byHand) Favorites(ctx context.Context, user bson.ObjectID) ([]Favorite, error) {
	return find[Favorite](ctx, h, "favorites", pairsOf(user))
}

func (h byHand) FavoritesOf(ctx context.Context, user bson.ObjectID, articles []bson.ObjectID) ([]Favorite, error) {
	return find[Favorite](ctx, h, "favorites", pairsWith(user, articles))
}

// tx runs f in a transaction, and again after a conflict.
func (h byHand) tx(ctx context.Context, f func(ctx context.Context) error) error {
	session, err := h.db.Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, f(ctx) })
	return err
}

// change updates the first document of a filter and returns the new document.
func change[T any](ctx context.Context, h byHand, collection string, filter, update bson.D) (out T, err error) {
	o := options.FindOneAndUpdate().SetReturnDocument(options.After)
	err = h.db.Collection(collection).FindOneAndUpdate(ctx, filter, update, o).Decode(&out)
	return out, err
}

func find[T any](
	ctx context.Context, h byHand, collection string, filter bson.D, o ...options.Lister[options.FindOptions],
) (out []T, err error) {
	cursor, err := h.db.Collection(collection).Find(ctx, filter, o...)
	if err == nil {
		err = cursor.All(ctx, &out)
	}
	return out, err
}

// lock returns the update that makes a transaction conflict with others that rely on the
// document or change it.
func lock() bson.D { return bson.D{{Key: "$inc", Value: bson.D{{Key: "lock", Value: 1}}}} }

// count returns the update that counts a join document, or its deletion.
func count(path string, on bool) bson.D {
	n := 1
	if !on {
		n = -1
	}
	return bson.D{{Key: "$inc", Value: bson.D{{Key: path, Value: n}}}}
}

func authorOf(u User) Author {
	return Author{ID: u.ID, Username: u.Username, Bio: u.Bio, Image: u.Image}
}

// pairOf returns the _id of a join document. The pairs of a user begin with the user's id.
func pairOf(user, other bson.ObjectID) string { return user.Hex() + ":" + other.Hex() }

func pairsOf(user bson.ObjectID) bson.D {
	return bson.D{{Key: "_id", Value: bson.Regex{Pattern: "^" + user.Hex() + ":"}}}
}

func pairsWith(user bson.ObjectID, others []bson.ObjectID) bson.D {
	in := bson.A{}
	for _, id := range others {
		in = append(in, pairOf(user, id))
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: in}}}}
}

// explainByHand returns the error of a missing document or of a taken value.
func explainByHand(err, missing error) error {
	if mongo.IsDuplicateKeyError(err) {
		for _, field := range []string{"username", "email", "slug"} {
			if strings.Contains(err.Error(), "index: "+field+"_1") {
				return &TakenError{field}
			}
		}
	}
	if errors.Is(err, mongo.ErrNoDocuments) {
		return missing
	}
	return err
}
