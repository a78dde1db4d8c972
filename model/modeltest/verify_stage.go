package modeltest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// A stage is where operations run: a database that is restored to the way's image before
// each run, and its clients.
type stage struct {
	*way
	t    *testing.T
	ctx  context.Context
	b    *backend
	db   *mongo.Database
	cast *cast // nil until two operations run at the same time
}

// fresh runs f with a database that has the image: on a new engine with its own clock, or
// on the server.
func (w *way) fresh(t *testing.T, f func(ctx context.Context, s *stage)) {
	t.Helper()
	if w.backend.plain != nil {
		w.onServer(t, f)
		return
	}
	w.onEngine(t, f)
}

func (w *way) onEngine(t *testing.T, f func(ctx context.Context, s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background()) // a deadline would appear in each command
		defer cancel()
		b, client := newEngine(t, false)
		s := &stage{way: w, t: t, ctx: ctx, b: b, db: client.Database("verified")}
		s.again()
		f(ctx, s)
	})
}

// onServer runs f with the way's database on the server.
func (w *way) onServer(t *testing.T, f func(ctx context.Context, s *stage)) {
	ctx, cancel := context.WithTimeout(context.Background(), rowTimeout)
	defer cancel()
	if w.server == nil {
		w.server = w.backend.plain.Database(w.backend.server.NewName(w.t))
	}
	s := &stage{way: w, t: t, ctx: ctx, b: w.backend, db: w.server}
	s.again()
	f(ctx, s)
}

// again restores the database to the image.
func (s *stage) again() {
	s.t.Helper()
	switch {
	case s.image == nil:
	case s.base != nil && s.b.plain == nil:
		s.b.server.Restore(s.base)
	default:
		s.become(s.image)
	}
}

// become restores the database to image i.
func (s *stage) become(i image) {
	s.t.Helper()
	if err := i.restore(s.ctx, s.db); err != nil {
		s.t.Fatalf("%s: what was seeded%s can't be stored: %v", s.way.name, s.besides, err)
	}
}

// now returns the image of the database.
func (s *stage) now() (image, error) {
	if s.b.plain != nil || tenancy.On { // then each read must be seen as a tenant's
		return s.image.now(s.ctx, s.db)
	}
	var out image
	for name, doc := range s.b.server.Documents(s.db.Name()) {
		if len(out) == 0 || out[len(out)-1].name != name {
			one := imageCollection{name: name}
			if at := slices.IndexFunc(s.image, func(c imageCollection) bool { return c.name == name }); at >= 0 {
				one = s.image[at]
			}
			one.docs = nil
			out = append(out, one)
		}
		raw, ok := s.encoded[&doc[0]]
		if !ok {
			var err error
			if raw, err = bson.Marshal(doc); err != nil {
				return nil, err
			}
			s.encoded[&doc[0]] = raw
		}
		last := &out[len(out)-1]
		last.docs = append(last.docs, raw)
	}
	return out, nil
}

// play runs two operations at the same time on the image.
func (s *stage) play(c *InterleaveCase, order schedule) schedule {
	s.t.Helper()
	s.again()
	if s.cast == nil {
		k, disconnect, err := s.b.newCast()
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(disconnect)
		s.cast = k
	}
	patience := enginePatience
	if s.b.plain != nil {
		patience = serverPatience
	}
	ctx, cancel := context.WithTimeout(s.ctx, time.Hour)
	defer cancel()
	d, err := s.cast.play(ctx, c, s.db.Name(), order, patience)
	if err != nil {
		s.t.Fatalf("%v%s", err, d.story())
	}
	c.judge(s.t, s.db, d.actors[0].err, d.actors[1].err, d.story)
	return d.taken
}
