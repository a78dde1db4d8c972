package main

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func (s *Server) register(q *request) error {
	var in struct{ Username, Email, Password string }
	if err := q.read("user", &in); err != nil {
		return err
	}
	if err := notBlank("username", in.Username, "email", in.Email, "password", in.Password); err != nil {
		return err
	}
	hash, err := hashPassword(in.Password, s.rounds)
	if err != nil {
		return err
	}
	u := User{ID: bson.NewObjectID(), Username: in.Username, Email: in.Email, Password: hash}
	if err := s.repo.Register(q.Context(), u); err != nil {
		return err
	}
	return q.answer(http.StatusCreated, "user", s.shownUser(u))
}

func (s *Server) login(q *request) error {
	var in struct{ Email, Password string }
	if err := q.read("user", &in); err != nil {
		return err
	}
	if err := notBlank("email", in.Email, "password", in.Password); err != nil {
		return err
	}
	u, err := s.repo.User(q.Context(), bson.D{{Key: "email", Value: in.Email}})
	if err != nil && !errors.Is(err, ErrNoUser) {
		return err
	}
	if !isPassword(u.Password, in.Password) {
		return problem{http.StatusUnauthorized, "credentials", "invalid"}
	}
	return q.answer(http.StatusOK, "user", s.shownUser(u))
}

func (s *Server) getUser(q *request) error {
	u, err := s.repo.User(q.Context(), bson.D{{Key: "_id", Value: q.viewer}})
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, "user", s.shownUser(u))
}

func (s *Server) putUser(q *request) error {
	var in map[string]*string
	if err := q.read("user", &in); err != nil {
		return err
	}
	var set bson.D
	for _, field := range []string{"username", "email", "password", "bio", "image"} {
		v, given := in[field]
		if v != nil && *v == "" {
			v = nil
		}
		switch {
		case !given:
		case field == "bio" || field == "image":
			set = append(set, bson.E{Key: field, Value: v})
		case v == nil:
			return blank(field)
		case field == "password":
			hash, err := hashPassword(*v, s.rounds)
			if err != nil {
				return err
			}
			set = append(set, bson.E{Key: field, Value: hash})
		default:
			set = append(set, bson.E{Key: field, Value: *v})
		}
	}
	if len(set) == 0 {
		return s.getUser(q)
	}
	u, err := s.repo.UpdateUser(q.Context(), q.viewer, set)
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, "user", s.shownUser(u))
}

func (s *Server) getProfile(q *request) error {
	u, err := s.repo.User(q.Context(), bson.D{{Key: "username", Value: q.PathValue("username")}})
	if err != nil {
		return err
	}
	followed, err := s.followed(q.Context(), q.viewer, u.ID)
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, "profile", shownFollowed(u, followed[u.ID]))
}

func (s *Server) follow(q *request) error {
	u, err := s.repo.Follow(q.Context(), q.viewer, q.PathValue("username"), q.adds())
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, "profile", shownFollowed(u, q.adds()))
}

func (s *Server) listArticles(q *request) error {
	filter := bson.D{}
	ctx, query := q.Context(), q.URL.Query()
	if tag := query.Get("tag"); tag != "" {
		filter = append(filter, bson.E{Key: "tags", Value: tag})
	}
	if name := query.Get("author"); name != "" {
		u, err := s.repo.User(ctx, bson.D{{Key: "username", Value: name}})
		if err != nil && !errors.Is(err, ErrNoUser) {
			return err
		}
		filter = append(filter, bson.E{Key: "author.id", Value: u.ID})
	}
	if name := query.Get("favorited"); name != "" {
		u, err := s.repo.User(ctx, bson.D{{Key: "username", Value: name}})
		if err != nil && !errors.Is(err, ErrNoUser) {
			return err
		}
		ids, err := s.favorites(ctx, u.ID)
		if err != nil {
			return err
		}
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}})
	}
	return s.answerArticles(q, filter)
}

// favorites returns the ids of the articles that a user likes.
func (s *Server) favorites(ctx context.Context, user bson.ObjectID) (ids bson.A, err error) {
	ids = bson.A{}
	if user.IsZero() {
		return ids, nil
	}
	all, err := s.repo.Favorites(ctx, user)
	for _, f := range all {
		ids = append(ids, f.Article)
	}
	return ids, err
}

func (s *Server) feed(q *request) error {
	all, err := s.repo.Follows(q.Context(), q.viewer)
	if err != nil {
		return err
	}
	ids := bson.A{}
	for _, f := range all {
		ids = append(ids, f.Followed)
	}
	return s.answerArticles(q, bson.D{{Key: "author.id", Value: bson.D{{Key: "$in", Value: ids}}}})
}

// answerArticles sends a page of the articles of a filter.
func (s *Server) answerArticles(q *request, filter bson.D) error {
	p, err := q.page()
	if err != nil {
		return err
	}
	all, n, err := s.repo.Articles(q.Context(), filter, p)
	if err != nil {
		return err
	}
	shown, err := s.shownArticles(q, all...)
	if err != nil {
		return err
	}
	return q.send(http.StatusOK, map[string]any{"articles": shown, "articlesCount": n})
}

func (s *Server) postArticle(q *request) error {
	var in struct {
		Title, Description, Body string
		TagList                  []string
	}
	if err := q.read("article", &in); err != nil {
		return err
	}
	if err := notBlank("title", in.Title, "description", in.Description, "body", in.Body); err != nil {
		return err
	}
	a := Article{
		ID: bson.NewObjectID(), Title: in.Title, Description: in.Description, Body: in.Body,
		Tags: append([]string{}, in.TagList...), CreatedAt: s.now(), Author: Author{ID: q.viewer},
	}
	a.UpdatedAt = a.CreatedAt
	var err error
	if a.Slug, err = slugOf(in.Title); err != nil {
		return err
	}
	if a, err = s.repo.Post(q.Context(), a); err != nil {
		return err
	}
	return s.answerArticle(q, http.StatusCreated, a)
}

func (s *Server) getArticle(q *request) error {
	a, err := s.repo.Article(q.Context(), q.PathValue("slug"))
	if err != nil {
		return err
	}
	return s.answerArticle(q, http.StatusOK, a)
}

func (s *Server) putArticle(q *request) error {
	var in struct {
		Title, Description, Body *string
		TagList                  []string
	}
	if err := q.read("article", &in); err != nil {
		return err
	}
	set := bson.D{{Key: "updatedAt", Value: s.now()}}
	for _, f := range []struct {
		name  string
		value *string
	}{{"title", in.Title}, {"description", in.Description}, {"body", in.Body}} {
		if f.value == nil {
			continue
		}
		if *f.value == "" {
			return blank(f.name)
		}
		set = append(set, bson.E{Key: f.name, Value: *f.value})
	}
	if in.Title != nil {
		slug, err := slugOf(*in.Title)
		if err != nil {
			return err
		}
		set = append(set, bson.E{Key: "slug", Value: slug})
	}
	if in.TagList != nil {
		set = append(set, bson.E{Key: "tags", Value: in.TagList})
	}
	a, err := s.repo.EditArticle(q.Context(), q.viewer, q.PathValue("slug"), set)
	if err != nil {
		return err
	}
	return s.answerArticle(q, http.StatusOK, a)
}

func (s *Server) deleteArticle(q *request) error {
	if err := s.repo.DeleteArticle(q.Context(), q.viewer, q.PathValue("slug")); err != nil {
		return err
	}
	return q.noContent()
}

func (s *Server) favorite(q *request) error {
	a, err := s.repo.Favorite(q.Context(), q.viewer, q.PathValue("slug"), q.adds())
	if err != nil {
		return err
	}
	return s.answerArticle(q, http.StatusOK, a)
}

func (s *Server) tags(q *request) error {
	tags, err := s.repo.Tags(q.Context())
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, "tags", append([]string{}, tags...))
}

func (s *Server) listComments(q *request) error {
	all, err := s.repo.Comments(q.Context(), q.PathValue("slug"))
	if err != nil {
		return err
	}
	var authors []bson.ObjectID
	for _, c := range all {
		authors = append(authors, c.Author.ID)
	}
	followed, err := s.followed(q.Context(), q.viewer, authors...)
	if err != nil {
		return err
	}
	shown := []shownComment{}
	for _, c := range all {
		shown = append(shown, showComment(c, followed))
	}
	return q.answer(http.StatusOK, "comments", shown)
}

func (s *Server) postComment(q *request) error {
	var in struct{ Body string }
	if err := q.read("comment", &in); err != nil {
		return err
	}
	if err := notBlank("body", in.Body); err != nil {
		return err
	}
	// Clients compute with the id as a float64, which has 53 bits.
	c := Comment{ID: 1 + rand.Int64N(1<<53-1), Body: in.Body, CreatedAt: s.now(), Author: Author{ID: q.viewer}}
	c, err := s.repo.AddComment(q.Context(), q.PathValue("slug"), c)
	if err != nil {
		return err
	}
	return q.answer(http.StatusCreated, "comment", showComment(c, nil))
}

func (s *Server) deleteComment(q *request) error {
	id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil {
		return ErrNoComment
	}
	if err := s.repo.DeleteComment(q.Context(), q.viewer, q.PathValue("slug"), id); err != nil {
		return err
	}
	return q.noContent()
}

// followed returns which of the users the viewer follows.
func (s *Server) followed(
	ctx context.Context, viewer bson.ObjectID, users ...bson.ObjectID,
) (map[bson.ObjectID]bool, error) {
	out := map[bson.ObjectID]bool{}
	for _, id := range users {
		out[id] = false
	}
	if viewer.IsZero() || len(out) == 0 {
		return out, nil
	}
	all, err := s.repo.FollowsOf(ctx, viewer, slices.Collect(maps.Keys(out)))
	for _, f := range all {
		out[f.Followed] = true
	}
	return out, err
}

// notBlank returns an error for the first empty text. The pairs are names and texts.
func notBlank(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return blank(pairs[i])
		}
	}
	return nil
}

func blank(field string) error {
	return problem{http.StatusUnprocessableEntity, field, "can't be blank"}
}

var notInSlug = regexp.MustCompile(`[^\p{L}\p{N}]+`)

// slugOf returns a title as a part of an address: "How to Go?" gives "how-to-go".
func slugOf(title string) (string, error) {
	slug := strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
	if slug == "" || slug == "feed" {
		return "", problem{http.StatusUnprocessableEntity, "title", "is invalid"}
	}
	return slug, nil
}

// tokenAge is how long a token is valid.
const tokenAge = 14 * 24 * time.Hour
