package main

import (
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/dangling"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A User has a unique name and a unique email address.
type User struct {
	ID        bson.ObjectID `bson:"_id"`
	Username  string        `bson:"username"`
	Email     string        `bson:"email"`
	Password  string        `bson:"password"` // see hashPassword
	Bio       *string       `bson:"bio"`
	Image     *string       `bson:"image"`
	Followers int64         `bson:"followers"` // number of Follow documents
}

// An Article has a unique slug, which is made of its title. The newest article has the
// greatest _id.
type Article struct {
	ID          bson.ObjectID `bson:"_id"`
	Slug        string        `bson:"slug"`
	Title       string        `bson:"title"`
	Description string        `bson:"description"`
	Body        string        `bson:"body"`
	Tags        []string      `bson:"tags"`
	CreatedAt   time.Time     `bson:"createdAt"`
	UpdatedAt   time.Time     `bson:"updatedAt"`
	Favorites   int64         `bson:"favorites"` // number of Favorite documents
	Author      Author        `bson:"author"`
}

// A Comment has a random number as _id, because the API has numbers.
type Comment struct {
	ID        int64         `bson:"_id"`
	Article   bson.ObjectID `bson:"article"`
	Body      string        `bson:"body"`
	CreatedAt time.Time     `bson:"createdAt"`
	Author    Author        `bson:"author"`
}

// An Author is a user as articles and comments show it.
type Author struct {
	ID       bson.ObjectID `bson:"id"`
	Username string        `bson:"username"`
	Bio      *string       `bson:"bio"`
	Image    *string       `bson:"image"`
}

// A Favorite says that a user likes an article. Its _id is made of the pair, so the pair
// is unique without another index.
type Favorite struct {
	ID      string        `bson:"_id"`
	User    bson.ObjectID `bson:"user"`
	Article bson.ObjectID `bson:"article"`
}

// A Follow says that a user follows another user.
type Follow struct {
	ID       string        `bson:"_id"`
	Follower bson.ObjectID `bson:"follower"`
	Followed bson.ObjectID `bson:"followed"`
}

var (
	users     = model.NewCollection[User, bson.ObjectID]("users")
	articles  = model.NewCollection[Article, bson.ObjectID]("articles")
	comments  = model.NewCollection[Comment, int64]("comments")
	favorites = model.NewCollection[Favorite, string]("favorites")
	follows   = model.NewCollection[Follow, string]("follows")

	// Articles and comments contain a copy of their author. A page of 20 articles or of all
	// comments shows the authors, and pages are read far more often than a user changes his
	// profile. Without copies each page needs one more query. A change of the profile then
	// writes all articles and comments of the user by two more updates.
	articleAuthor = copies.New(users, articles, copies.Spec{KeyPath: "author.id", Fields: authorFields})
	commentAuthor = copies.New(users, comments, copies.Spec{KeyPath: "author.id", Fields: authorFields})
	authorFields  = []copies.Field{
		{From: "username", To: "author.username"}, {From: "bio", To: "author.bio"}, {From: "image", To: "author.image"},
	}

	ofArticle = parentref.New(comments, "article", articles,
		parentref.Spec{By: "createdAt", MustExist: true})
	favored  = parentref.New(favorites, "article", articles, parentref.Spec{MustExist: true})
	deletion = ondelete.New(articles, ondelete.Spec{Cascade: []relate.Referrer{ofArticle, favored}})

	// Without transactions, a comment or favorite can be stored while its article is deleted.
	// The audit finds and deletes it.
	lostComments   = dangling.New(comments, "article", articles, withoutArticle)
	lostFavorites  = dangling.New(favorites, "article", articles, withoutArticle)
	withoutArticle = dangling.Spec{Repair: dangling.DeleteReferrers}

	favoriteKey = keys.NewComposite(favorites, keys.ID("user"), keys.ID("article"))
	followKey   = keys.NewComposite(follows, keys.ID("follower"), keys.ID("followed"))

	favoriteCount = counter.New(favorites, "article", articles, counter.Spec{Count: "favorites"})
	followerCount = counter.New(follows, "followed", users, counter.Spec{Count: "followers"})

	// With a replica set, a unique index costs no document. An index table would cost one
	// write for each value. Tags and favorites need indexes for lists of articles.
	conduit = model.New("conduit", articleAuthor, commentAuthor, ofArticle, favored, deletion,
		lostComments, lostFavorites, favoriteKey, followKey, favoriteCount, followerCount,
		model.Entity(users, unique("users", "username"), unique("users", "email")),
		model.Entity(articles, unique("articles", "slug"),
			model.NewIndex("articles", bson.D{{Key: "tags", Value: 1}, {Key: "_id", Value: -1}})))

	userStore     = model.NewStore(conduit, users)
	articleStore  = model.NewStore(conduit, articles)
	commentStore  = model.NewStore(conduit, comments)
	favoriteStore = model.NewStore(conduit, favorites)
	followStore   = model.NewStore(conduit, follows)
)

// unique returns a unique index, for a field that two documents can't share.
func unique(collection, path string) model.Index {
	x := model.NewIndex(collection, bson.D{{Key: path, Value: 1}})
	x.Unique = true
	return x
}
