package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Server answers the requests of the RealWorld API.
type Server struct {
	repo   Repository
	signer signer
	rounds int              // of password hashes
	now    func() time.Time // to the millisecond, as the database stores times
}

// NewServer returns a server whose tokens are signed by a key.
func NewServer(repo Repository, key []byte) *Server {
	return &Server{repo, key, rounds, func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }}
}

// access says whether a request needs a token.
type access bool

const (
	public  access = false
	private access = true
)

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		pattern string
		access  access
		handle  func(*request) error
	}{
		{"POST /api/users", public, s.register},
		{"POST /api/users/login", public, s.login},
		{"GET /api/user", private, s.getUser},
		{"PUT /api/user", private, s.putUser},
		{"GET /api/profiles/{username}", public, s.getProfile},
		{"POST /api/profiles/{username}/follow", private, s.follow},
		{"DELETE /api/profiles/{username}/follow", private, s.follow},
		{"GET /api/articles", public, s.listArticles},
		{"GET /api/articles/feed", private, s.feed},
		{"POST /api/articles", private, s.postArticle},
		{"GET /api/articles/{slug}", public, s.getArticle},
		{"PUT /api/articles/{slug}", private, s.putArticle},
		{"DELETE /api/articles/{slug}", private, s.deleteArticle},
		{"POST /api/articles/{slug}/favorite", private, s.favorite},
		{"DELETE /api/articles/{slug}/favorite", private, s.favorite},
		{"GET /api/articles/{slug}/comments", public, s.listComments},
		{"POST /api/articles/{slug}/comments", private, s.postComment},
		{"DELETE /api/articles/{slug}/comments/{id}", private, s.deleteComment},
		{"GET /api/tags", public, s.tags},
	} {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) {
			q := &request{Request: r, w: w}
			err := s.authorize(q, route.access)
			if err == nil {
				err = route.handle(q)
			}
			if err != nil {
				q.fail(err)
			}
		})
	}
	return mux
}

// authorize reads the token of a request.
func (s *Server) authorize(q *request, needed access) error {
	header := q.Header.Get("Authorization")
	token, ok := strings.CutPrefix(header, "Token ")
	if ok {
		q.viewer, ok = s.signer.user(token, s.now())
	}
	switch {
	case ok, header == "" && needed == public:
		return nil
	case header == "":
		return problem{http.StatusUnauthorized, "token", "is missing"}
	}
	return problem{http.StatusUnauthorized, "token", "is invalid"}
}

// A request is a request with its answer and its user.
type request struct {
	*http.Request
	w      http.ResponseWriter
	viewer bson.ObjectID // zero without a token
}

// read decodes the object of a name in the request's body.
func (q *request) read(name string, into any) error {
	var body map[string]json.RawMessage
	err := json.NewDecoder(http.MaxBytesReader(q.w, q.Body, 1<<20)).Decode(&body)
	if err == nil && body[name] == nil {
		return problem{http.StatusUnprocessableEntity, name, "can't be blank"}
	}
	if err == nil {
		err = json.Unmarshal(body[name], into)
	}
	if err != nil {
		return problem{http.StatusUnprocessableEntity, "body", "is invalid"}
	}
	return nil
}

// answer sends a status and a value under a name.
func (q *request) answer(status int, name string, value any) error {
	return q.send(status, map[string]any{name: value})
}

func (q *request) send(status int, body any) error {
	q.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	q.w.WriteHeader(status)
	return json.NewEncoder(q.w).Encode(body)
}

// noContent answers a deletion.
func (q *request) noContent() error {
	q.w.WriteHeader(http.StatusNoContent)
	return nil
}

// adds reports whether the request adds a follow or a favorite, and doesn't delete it.
func (q *request) adds() bool { return q.Method == http.MethodPost }

// page returns the part of a list that a request asks for.
func (q *request) page() (p Page, err error) {
	if p.Offset, err = q.number("offset", 0); err == nil {
		p.Limit, err = q.number("limit", 20)
	}
	p.Limit = min(p.Limit, 100)
	return p, err
}

func (q *request) number(name string, missing int64) (int64, error) {
	text := q.URL.Query().Get(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || name == "limit" && n == 0 {
		return 0, problem{http.StatusUnprocessableEntity, name, "is invalid"}
	}
	return n, nil
}

// A problem is an error that the client sees.
type problem struct {
	status       int
	field, cause string
}

func (p problem) Error() string { return p.field + " " + p.cause }

// fail answers an error.
func (q *request) fail(err error) {
	p := problem{http.StatusInternalServerError, "server", "has failed"}
	var taken *TakenError
	switch {
	case errors.As(err, &p):
	case errors.As(err, &taken):
		p = problem{http.StatusConflict, taken.Field, "has already been taken"}
	case errors.Is(err, ErrForbidden) && q.PathValue("id") != "":
		p = problem{http.StatusForbidden, "comment", "forbidden"}
	case errors.Is(err, ErrForbidden):
		p = problem{http.StatusForbidden, "article", "forbidden"}
	case errors.Is(err, ErrNoArticle):
		p = problem{http.StatusNotFound, "article", "not found"}
	case errors.Is(err, ErrNoComment):
		p = problem{http.StatusNotFound, "comment", "not found"}
	case errors.Is(err, ErrNoUser):
		p = problem{http.StatusNotFound, "profile", "not found"}
	default:
		log.Printf("%s %s: %v", q.Method, q.URL.Path, err)
	}
	_ = q.send(p.status, map[string]any{"errors": map[string][]string{p.field: {p.cause}}})
}
