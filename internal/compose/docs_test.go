package compose

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// All techniques are declared over posts, the comments on them, and the users who write both. Each has fields of its own there, so
// that techniques that don't concern each other meet in a document, and those that do meet in a field.
type (
	user struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`

		Handle string   `bson:"handle"`          // keys.Composite: the _id is its key
		Liked  []string `bson:"liked,omitempty"` // relate.ManyToMany
		Held   []string `bson:"held,omitempty"`  // relate.TwoWay

		Homes []home `bson:"homes,omitempty"` // relate.NewAbsorb
	}

	post struct {
		ID     string `bson:"_id"`
		Title  string `bson:"title"`
		TitleV int64  `bson:"titleV"` // denorm.Copy
		Author string `bson:"author,omitempty"`

		Comments int64           `bson:"comments"` // denorm.Counter
		Votes    int64           `bson:"votes"`
		Ops      []bson.ObjectID `bson:"ops,omitempty"`

		Version int64           `bson:"version"` // embed.Versioned
		Written []bson.ObjectID `bson:"written,omitempty"`

		Parts []part `bson:"parts,omitempty"` // embed.Embedded
		Extra *part  `bson:"extra,omitempty"` // embed.One

		Views  int64    `bson:"views"`                // denorm.Approximate
		Specs  []spec   `bson:"specs,omitempty"`      // denorm.Attributes
		Last   []line   `bson:"last,omitempty"`       // denorm.Bounded
		Mails  []line   `bson:"mails,omitempty"`      // denorm.Outlier
		More   bool     `bson:"more,omitempty"`       //
		Tags   []string `bson:"tags,omitempty"`       // denorm.IndexTable, denorm.Inverted
		Latest []latest `bson:"latest,omitempty"`     // denorm.Subset
		By     string   `bson:"authorName,omitempty"` // denorm.Copy of users

		Listed  []string `bson:"listed,omitempty"`  // relate.ChildRefs
		LikedBy []string `bson:"likedBy,omitempty"` // relate.ManyToMany
		Turned  []string `bson:"turned,omitempty"`  // relate.NewInvert
		Drafts  []line   `bson:"drafts,omitempty"`  // relate.NewExtract
	}

	part struct {
		ID   string `bson:"id"`
		Note string `bson:"note"`
		Subs []line `bson:"subs,omitempty"` // embed.Nested
	}

	line struct {
		ID string `bson:"id"`
		N  int64  `bson:"n"`
	}

	spec struct {
		K string `bson:"k"`
		V any    `bson:"v"`
	}

	latest struct {
		ID   string    `bson:"_id"`
		At   time.Time `bson:"at"`
		Slug string    `bson:"slug"`
	}

	comment struct {
		ID     string    `bson:"_id"`
		Post   *string   `bson:"post,omitempty"`
		Slug   string    `bson:"slug"` // unique within the post: the index beside
		Author *string   `bson:"author,omitempty"`
		At     time.Time `bson:"at"`

		Votes   int64                  `bson:"votes"` // denorm.Counter
		Pending *denorm.CounterPending `bson:"pending,omitempty"`

		PostTitle  string `bson:"postTitle"` // denorm.Copy
		PostTitleV int64  `bson:"postTitleV"`

		Holder   string `bson:"holder,omitempty"`   // relate.TwoWay
		TurnedTo string `bson:"turnedTo,omitempty"` // relate.NewInvert
	}

	home struct {
		ID     string `bson:"_id"`
		Street string `bson:"street"`
	}
)

var (
	users    = model.NewCollection[user, string]("users")
	posts    = model.NewCollection[post, string]("posts")
	comments = model.NewCollection[comment, string]("comments")

	// beside is a unique index of the application's own.
	beside = model.Index{
		Collection: "comments", Name: "slugs", Unique: true, Keys: bson.D{{Key: "post", Value: 1}, {Key: "slug", Value: 1}},
	}
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// seeded are the documents before techniques derive anything from them: the comments c1 and c2 are on the post p1, c3 on p2, and c3 has
// the slug of c1. In a tree of posts p3 is below p1. What views of the posts store is here too, for all to meet.
func seeded() map[string][]any {
	on := func(id, post, author, slug string, n int) comment {
		return comment{ID: id, Post: &post, Author: &author, Slug: slug, At: noon.Add(time.Duration(n) * time.Minute), Votes: int64(n)}
	}
	p := func(id, title, author, order string, parent any, more ...bson.E) bson.D {
		raw, err := bson.Marshal(post{ID: id, Title: title, TitleV: 1, Author: author, Version: 1, Parts: []part{{ID: "a", Note: "first"}, {ID: "b", Note: "second"}}})
		if err != nil {
			panic(err)
		}
		return append(append(decoded(raw), e("parent", parent), e("order", order), e("change", int64(0)), e("text", "old")), more...)
	}
	return map[string][]any{
		"users": {
			user{ID: "u1", Name: "Ann", Handle: "u1", Liked: []string{"p1"}, Held: []string{"c1"}},
			user{ID: "u2", Name: "Ben", Handle: "u2"},
		},
		"posts": {
			p("p1", "One", "u1", "V", nil, e("tags", bson.A{"red"}), e("likedBy", bson.A{"u1"}), e("listed", bson.A{"c1", "c2"}), e("turned", bson.A{"c1"}),
				e("mails", bson.A{bson.D{e("id", "m1"), e("n", int64(1))}, bson.D{e("id", "m2"), e("n", int64(2))}}),
				e("drafts", bson.A{bson.D{e("id", "d1"), e("n", int64(1))}}), e("follows", bson.A{"p2"}), e("media", bson.D{e("type", "song"), e("length", int32(3))})),
			p("p2", "Two", "u2", "W", nil, e("tags", bson.A{"red", "blue"}), e("until", noon.Add(-time.Hour))),
			p("p3", "Three", "u1", "V", "p1"),
		},
		"comments":  {with(on("c1", "p1", "u1", "x", 1), e("holder", "u1")), on("c2", "p1", "u2", "y", 2), on("c3", "p2", "u1", "x", 3)},
		"addresses": {bson.D{e("_id", "a1"), e("street", "Main"), e("user", "u1")}},
	}
}

func with(doc any, more ...bson.E) bson.D {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return append(decoded(raw), more...)
}

func store(ctx context.Context, db *mongo.Database, docs map[string][]any) error {
	for name, list := range docs {
		if len(list) == 0 {
			continue
		}
		if _, err := db.Collection(name).InsertMany(ctx, list); err != nil {
			return err
		}
	}
	return nil
}
