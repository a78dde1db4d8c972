package main

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// An action is one write of a repository, with fixed arguments.
type action struct {
	name string
	run  func(ctx context.Context, r Repository) (any, error)
	want error // for errors.Is, or a *TakenError of the same field
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// id returns the id of a test's document.
func id(n byte) bson.ObjectID { return bson.ObjectID{0: 0x65, 11: n} }

// The users and articles of the actions.
var (
	ann, bob, cid = id(1), id(2), id(3)
	intro, guide  = id(11), id(12) // by Ann
)

func person(id bson.ObjectID, name string) User {
	return User{ID: id, Username: name, Email: name + "@x.org", Password: "-"}
}

func draft(id, author bson.ObjectID, slug string) Article {
	return Article{
		ID: id, Slug: slug, Title: slug, Body: "text", Tags: []string{"go"}, CreatedAt: noon, UpdatedAt: noon,
		Author: Author{ID: author},
	}
}

func remark(id int64, author bson.ObjectID, at time.Time) Comment {
	return Comment{ID: id, Body: "well", CreatedAt: at, Author: Author{ID: author}}
}

// fill stores two users, and an article with comments and favorites of both, and another.
func fill(ctx context.Context, r Repository) error {
	err := errors.Join(r.Prepare(ctx), r.Register(ctx, person(ann, "ann")), r.Register(ctx, person(bob, "bob")))
	for _, a := range []Article{draft(intro, ann, "intro"), draft(guide, ann, "guide")} {
		_, failed := r.Post(ctx, a)
		err = errors.Join(err, failed)
	}
	for i, user := range []bson.ObjectID{ann, bob} {
		_, failed := r.AddComment(ctx, "intro", remark(int64(1+i), user, noon.Add(time.Duration(i)*time.Minute)))
		_, failedToo := r.Favorite(ctx, user, "intro", true)
		err = errors.Join(err, failed, failedToo)
	}
	return err
}

// actions returns the actions in their order.
func actions() (all []action) {
	add := func(name string, want error, run func(ctx context.Context, r Repository) (any, error)) {
		all = append(all, action{name, run, want})
	}
	userActions(add)
	articleActions(add)
	linkActions(add)
	commentActions(add)
	deletions(add)
	return all
}

type adding func(name string, want error, run func(ctx context.Context, r Repository) (any, error))

func userActions(add adding) {
	register := func(name string, want error, u User) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) { return nil, r.Register(ctx, u) })
	}
	update := func(name string, want error, user bson.ObjectID, pairs ...any) {
		var set bson.D
		for i := 0; i < len(pairs); i += 2 {
			set = append(set, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		add(name, want, func(ctx context.Context, r Repository) (any, error) { return r.UpdateUser(ctx, user, set) })
	}
	register("register", nil, person(cid, "cid"))
	register("register, name taken", &TakenError{"username"}, User{ID: id(4), Username: "ann", Email: "new@x.org"})
	register("register, email taken", &TakenError{"email"}, User{ID: id(4), Username: "new", Email: "ann@x.org"})
	update("change email", nil, ann, "email", "ann@y.org")
	update("change email, taken", &TakenError{"email"}, ann, "email", "bob@x.org")
	update("change email of no user", ErrNoUser, id(9), "email", "no@x.org")
	update("change bio of a user without articles", nil, cid, "bio", "writes")
	update("rename, with copies", nil, ann, "username", "anna", "bio", "writes")
	update("rename, unchanged", nil, ann, "username", "anna", "bio", "writes")
	update("rename, taken", &TakenError{"username"}, ann, "username", "bob")
	update("rename no user", ErrNoUser, id(9), "username", "no")
}

func articleActions(add adding) {
	post := func(name string, want error, a Article) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) { return r.Post(ctx, a) })
	}
	edit := func(name string, want error, user bson.ObjectID, slug, field, value string) {
		set := bson.D{{Key: field, Value: value}}
		if field == "title" {
			set = append(set, bson.E{Key: "slug", Value: value})
		}
		add(name, want, func(ctx context.Context, r Repository) (any, error) {
			return r.EditArticle(ctx, user, slug, set)
		})
	}
	post("post article", nil, draft(id(13), bob, "news"))
	post("post article, slug taken", &TakenError{"slug"}, draft(id(14), bob, "intro"))
	post("post article of no user", ErrNoUser, draft(id(15), id(9), "nothing"))
	edit("edit title", nil, ann, "guide", "title", "manual")
	edit("edit title, slug taken", &TakenError{"slug"}, ann, "manual", "title", "intro")
	edit("edit text", nil, ann, "manual", "body", "more text")
	edit("edit another's article", ErrForbidden, bob, "manual", "body", "no text")
	edit("edit no article", ErrNoArticle, ann, "none", "body", "no text")
}

func linkActions(add adding) {
	favorite := func(name string, want error, user bson.ObjectID, slug string, on bool) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) { return r.Favorite(ctx, user, slug, on) })
	}
	follow := func(name string, want error, user bson.ObjectID, username string, on bool) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) {
			return r.Follow(ctx, user, username, on)
		})
	}
	favorite("favorite", nil, cid, "intro", true)
	favorite("favorite again", nil, cid, "intro", true)
	favorite("favorite no article", ErrNoArticle, cid, "none", true)
	favorite("unfavorite", nil, cid, "intro", false)
	favorite("unfavorite again", nil, cid, "intro", false)
	favorite("unfavorite no article", ErrNoArticle, cid, "none", false)
	follow("follow", nil, cid, "anna", true)
	follow("follow again", nil, cid, "anna", true)
	follow("follow no user", ErrNoUser, cid, "none", true)
	follow("unfollow", nil, cid, "anna", false)
	follow("unfollow again", nil, cid, "anna", false)
	follow("unfollow no user", ErrNoUser, cid, "none", false)
}

func commentActions(add adding) {
	comment := func(name string, want error, slug string, c Comment) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) { return r.AddComment(ctx, slug, c) })
	}
	drop := func(name string, want error, user bson.ObjectID, slug string, id int64) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) {
			return nil, r.DeleteComment(ctx, user, slug, id)
		})
	}
	comment("comment", nil, "intro", remark(3, cid, noon.Add(time.Hour)))
	comment("comment on no article", ErrNoArticle, "none", remark(4, cid, noon))
	drop("delete comment", nil, cid, "intro", 3)
	drop("delete another's comment", ErrForbidden, cid, "intro", 1)
	drop("delete no comment", ErrNoComment, cid, "intro", 9)
}

func deletions(add adding) {
	drop := func(name string, want error, user bson.ObjectID, slug string) {
		add(name, want, func(ctx context.Context, r Repository) (any, error) {
			return nil, r.DeleteArticle(ctx, user, slug)
		})
	}
	drop("delete another's article", ErrForbidden, bob, "intro")
	drop("delete article, with comments and favorites", nil, ann, "intro")
	drop("delete article", nil, ann, "manual")
	drop("delete no article", ErrNoArticle, ann, "none")
}
