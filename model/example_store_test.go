package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A blog counts each author's posts and stores the author's name in each post.
func ExampleStore() {
	type Author struct {
		ID    string `bson:"_id"`
		Name  string `bson:"name"`
		Posts int64  `bson:"posts"`
	}
	type Post struct {
		ID     string `bson:"_id"`
		Author string `bson:"author"`
		By     string `bson:"by"`
		Title  string `bson:"title"`
	}
	authors := model.NewCollection[Author, string]("authors")
	posts := model.NewCollection[Post, string]("posts")
	blog := model.New("blog",
		counter.New(posts, "author", authors, counter.Spec{Count: "posts"}),
		copies.New(authors, posts, copies.Spec{KeyPath: "author", Fields: []copies.Field{{From: "name", To: "by"}}}))
	writers, written := model.NewStore(blog, authors), model.NewStore(blog, posts)

	ctx := context.Background()
	client, stop := mongotest.Start()
	defer stop()
	db, err := model.WithTransactions(ctx, blog.On(client.Database("blog")))
	fmt.Println(err)

	_, _, err = writers.Insert(Author{ID: "ann", Name: "Ann"}).Run(ctx, db)
	fmt.Println(err)
	s, _, err := written.Insert(Post{ID: "p1", Author: "ann", Title: "Hello"}).Run(ctx, db)
	fmt.Println(s.Doc.By, err)

	_, _, err = writers.Edit("ann", func(a *Author) error { a.Name = "Anna"; return nil }).Run(ctx, db)
	fmt.Println(err)
	fmt.Println(posts.ByID("p1").One(ctx, db))
	fmt.Println(authors.ByID("ann").One(ctx, db))

	_, _, err = written.Insert(Post{ID: "p2", Author: "bob"}).Run(ctx, db)
	fmt.Println(errors.Is(err, model.ErrNotFound))
	_, _, err = written.Set("p1", bson.D{{Key: "by", Value: "Bob"}}).Run(ctx, db)
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// Ann <nil>
	// <nil>
	// {p1 ann Anna Hello} <nil>
	// {ann Anna 1} <nil>
	// true
	// docmodel: posts: by: can't be written: a technique of the model writes it
}

// A rule of your own: the slug of a page is made of its title, in each write.
func ExampleParts_WithReactions() {
	type Page struct {
		ID    int64  `bson:"_id"`
		Title string `bson:"title"`
		Slug  string `bson:"slug"`
	}
	pages := model.NewCollection[Page, int64]("pages")
	slugs := model.NewParts(nil, nil, nil, func() []model.Footprint { return model.Owns.In("pages", "slug") }).
		WithReactions(func() []model.Reaction {
			return []model.Reaction{{
				Collection: "pages", Paths: []string{"title"},
				Amend: func(w model.StoreWrite) (bson.D, error) {
					title, _ := w.After.Lookup("title").StringValueOK()
					slug := strings.ReplaceAll(strings.ToLower(title), " ", "-")
					return bson.D{{Key: "slug", Value: slug}}, nil
				},
			}}
		})
	store := model.NewStore(model.New("site", slugs), pages)

	ctx := context.Background()
	client, stop := mongotest.Start()
	defer stop()
	db := client.Database("site")
	s, _, err := store.Insert(Page{ID: 1, Title: "About us"}).Run(ctx, db)
	fmt.Println(s.Doc, err)
	s, _, err = store.Set(1, bson.D{{Key: "title", Value: "Who we are"}}).Run(ctx, db)
	fmt.Println(s.Doc, err)
	// Output:
	// {1 About us about-us} <nil>
	// {1 Who we are who-we-are} <nil>
}
