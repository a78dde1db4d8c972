package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An exchange is a request and what its answer must contain: see testdata/requests.txt.
type exchange struct {
	as, method, path, body string
	status                 int
	want                   []string // path=value
	save, at               string   // the name of a saved value, and its path in the answer
}

var requestLine = regexp.MustCompile(`^(?:([a-z]+) )?([A-Z]+) (\S+) ?(.*)$`)

// exchanges reads testdata/requests.txt.
func exchanges(t *testing.T) (all []exchange) {
	t.Helper()
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
		if !indented {
			if m := requestLine.FindStringSubmatch(line); m != nil {
				all = append(all, exchange{as: m[1], method: m[2], path: m[3], body: m[4]})
			}
			continue
		}
		x := &all[len(all)-1]
		if status, err := strconv.Atoi(line[:min(3, len(line))]); x.status == 0 && err == nil {
			x.status, line = status, line[3:]
		}
		switch word := strings.Fields(line); {
		case x.status == 0:
			x.body = line
		case len(word) == 3 && word[0] == "save":
			x.save, x.at = word[1], word[2]
		default:
			for want := range strings.SplitSeq(line, ";") {
				if want = strings.TrimSpace(want); want != "" {
					x.want = append(x.want, want)
				}
			}
		}
	}
	return all
}

// A player sends exchanges to a server.
type player struct {
	handler http.Handler
	saved   map[string]string
	checked int // assertions
}

func (p *player) play(t *testing.T, x exchange) {
	t.Helper()
	for name, value := range p.saved {
		x.path = strings.ReplaceAll(x.path, "{"+name+"}", value)
	}
	r := httptest.NewRequest(x.method, "/api"+x.path, strings.NewReader(x.body))
	if x.as != "" {
		r.Header.Set("Authorization", "Token "+p.saved[x.as])
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	called := fmt.Sprintf("%s %s %s as %q", x.method, x.path, x.body, x.as)
	if p.checked++; w.Code != x.status {
		t.Errorf("%s: status %d, want %d: %s", called, w.Code, x.status, w.Body)
		return
	}
	var answer any
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v: %s", called, err, w.Body)
		}
	}
	for _, want := range x.want {
		path, value, _ := strings.Cut(want, "=")
		if name := strings.Trim(value, "{}"); name != value {
			value = p.saved[name]
		}
		if got := textAt(answer, path); got != value {
			t.Errorf("%s: %s is %s, want %s", called, path, got, value)
		}
		p.checked++
	}
	if x.save != "" {
		p.saved[x.save] = textAt(answer, x.at)
	}
}

// textAt returns a value of a JSON document as text, or the length of a list.
func textAt(v any, path string) string {
	path, length := strings.CutPrefix(path, "#")
	for _, key := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[key]; !ok {
				return "missing"
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return "missing"
			}
			v = in[i]
		default:
			return "missing"
		}
	}
	if list, ok := v.([]any); ok && length {
		return strconv.Itoa(len(list))
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, fmt.Sprint(e))
		}
		return strings.Join(all, ",")
	}
	return fmt.Sprint(v)
}

// newTestServer returns a server with cheap passwords, and a clock that advances by a
// second with each look.
func newTestServer(repo Repository) *Server {
	s := NewServer(repo, []byte("key"))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s.rounds, s.now = 1, func() time.Time { now = now.Add(time.Second); return now }
	return s
}

// ways returns the repositories that the requests run on.
func ways(t *testing.T, db *mongo.Database) map[string]func() Repository {
	return map[string]func() Repository{
		"stores": func() Repository { return repository{conduit.On(db)} },
		"stores in transactions": func() Repository {
			tx, err := model.WithTransactions(t.Context(), conduit.On(db))
			if err != nil {
				mongotest.Need(t, db, mongotest.Transactions)
				t.Fatal(err)
			}
			return repository{tx}
		},
		"by hand": func() Repository {
			mongotest.Need(t, db, mongotest.Transactions)
			return byHand{db}
		},
	}
}

// The requests have the same answers on each repository, and leave nothing that the audit
// finds.
func TestRequests(t *testing.T) {
	for _, way := range []string{"stores", "stores in transactions", "by hand"} {
		t.Run(way, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Feature{
					Name: "the duplicate key error of a findAndModify", Probe: tellsTaken,
				})
				repo := ways(t, db)[way]()
				if err := repo.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
				p := player{newTestServer(repo).Handler(), map[string]string{"nobody": "x.1.y"}, 0}
				for _, x := range exchanges(t) {
					p.play(t, x)
				}
				t.Logf("%d assertions", p.checked)
				wantSound(t, db)
			})
		})
	}
}

// tellsTaken tries whether a findAndModify that takes a unique value gives a duplicate key error.
func tellsTaken(ctx context.Context, db *mongo.Database) error {
	c := db.Collection("needtaken")
	unique := mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}, Options: options.Index().SetUnique(true)}
	_, errIndex := c.Indexes().CreateOne(ctx, unique)
	_, errInsert := c.InsertMany(ctx, []bson.D{{{Key: "_id", Value: 1}, {Key: "a", Value: 1}}, {{Key: "_id", Value: 2}, {Key: "a", Value: 2}}})
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}}
	taken := c.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: 2}}, set).Err()
	err := errors.Join(errIndex, errInsert, c.Drop(ctx))
	if err == nil && !mongo.IsDuplicateKeyError(taken) {
		err = fmt.Errorf("got %v", taken)
	}
	return err
}

// wantSound fails the test if the audit finds anything.
func wantSound(t testing.TB, db *mongo.Database) {
	t.Helper()
	for f, err := range conduit.Audit().Each(t.Context(), conduit.On(db)) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("the audit finds %v", f)
	}
}
