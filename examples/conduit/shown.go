package main

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The types of this file are the JSON documents of the API.

type shownUser struct {
	Email    string  `json:"email"`
	Token    string  `json:"token"`
	Username string  `json:"username"`
	Bio      *string `json:"bio"`
	Image    *string `json:"image"`
}

func (s *Server) shownUser(u User) shownUser {
	return shownUser{u.Email, s.signer.token(u.ID, s.now().Add(tokenAge)), u.Username, u.Bio, u.Image}
}

type shownProfile struct {
	Username  string  `json:"username"`
	Bio       *string `json:"bio"`
	Image     *string `json:"image"`
	Following bool    `json:"following"`
	Followers *int64  `json:"followersCount,omitempty"` // only of the profile's own page; the API has no such field
}

func shownFollowed(u User, following bool) shownProfile {
	return shownProfile{u.Username, u.Bio, u.Image, following, &u.Followers}
}

func showAuthor(a Author, followed map[bson.ObjectID]bool) shownProfile {
	return shownProfile{Username: a.Username, Bio: a.Bio, Image: a.Image, Following: followed[a.ID]}
}

type shownArticle struct {
	Slug        string       `json:"slug"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Body        string       `json:"body,omitempty"` // not in lists
	Tags        []string     `json:"tagList"`
	CreatedAt   time.Time    `json:"createdAt"`
	UpdatedAt   time.Time    `json:"updatedAt"`
	Favorited   bool         `json:"favorited"`
	Favorites   int64        `json:"favoritesCount"`
	Author      shownProfile `json:"author"`
}

// shownArticles returns articles as the viewer sees them.
func (s *Server) shownArticles(q *request, all ...Article) ([]shownArticle, error) {
	var ids, authors []bson.ObjectID
	for _, a := range all {
		ids, authors = append(ids, a.ID), append(authors, a.Author.ID)
	}
	followed, err := s.followed(q.Context(), q.viewer, authors...)
	if err != nil {
		return nil, err
	}
	liked := map[bson.ObjectID]bool{}
	if !q.viewer.IsZero() && len(ids) > 0 {
		found, err := s.repo.FavoritesOf(q.Context(), q.viewer, ids)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			liked[f.Article] = true
		}
	}
	out := []shownArticle{}
	for _, a := range all {
		out = append(out, shownArticle{
			Slug: a.Slug, Title: a.Title, Description: a.Description, Body: a.Body, Tags: append([]string{}, a.Tags...),
			CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Favorited: liked[a.ID], Favorites: a.Favorites,
			Author: showAuthor(a.Author, followed),
		})
	}
	return out, nil
}

// answerArticle sends one article.
func (s *Server) answerArticle(q *request, status int, a Article) error {
	shown, err := s.shownArticles(q, a)
	if err != nil {
		return err
	}
	return q.answer(status, "article", shown[0])
}

type shownComment struct {
	ID        int64        `json:"id"`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
	Body      string       `json:"body"`
	Author    shownProfile `json:"author"`
}

func showComment(c Comment, followed map[bson.ObjectID]bool) shownComment {
	return shownComment{c.ID, c.CreatedAt, c.CreatedAt, c.Body, showAuthor(c.Author, followed)}
}
