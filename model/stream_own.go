package model

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// streamOwn are the sessions in which a run updates watched documents by pipelines.
//
// MongoDB reports such an update as a replacement if its difference isn't smaller than
// the document. The event then has only the new document, in which a later change by
// somebody else leaves the mark as it is. But the event of a transaction names the
// transaction's session. So these updates run in transactions, and their marks end with
// the session's id. An event is the stream's own if both are the same.
//
// This also holds after a crash, because no session is used for anything else: its id is
// new, and it is never given back to the driver.
type streamOwn struct {
	mu       sync.Mutex
	db       DB // with transactions; nil before the first plan
	sessions []*mongo.Session
}

// take returns a session for one plan, and the database to run the plan on.
func (o *streamOwn) take(ctx context.Context, r *streamRun) (*mongo.Session, DB, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.db == nil {
		db, err := WithTransactions(ctx, r.db)
		if err != nil {
			return nil, nil, err
		}
		o.db = db
	}
	if n := len(o.sessions); n > 0 {
		s := o.sessions[n-1]
		o.sessions = o.sessions[:n-1]
		return s, o.db, nil
	}
	s, err := r.db.Client().StartSession()
	return s, o.db, err
}

// put makes a session free for the next plan.
func (o *streamOwn) put(s *mongo.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sessions = append(o.sessions, s)
}

// runMarked runs a plan with the mark in each update of the watched collection.
func (r *streamRun) runMarked(ctx context.Context, plan Plan, mark string) error {
	own, err := r.stream.ownUpdates(plan)
	if err != nil {
		return err
	}
	if own != byPipeline || r.mode == Polling {
		if plan, err = r.stream.marked(plan, mark); err == nil {
			_, err = plan.Run(ctx, r.db)
		}
		return err
	}
	session, db, err := r.own.take(ctx, r)
	if err != nil {
		return err
	}
	defer r.own.put(session)
	if plan, err = r.stream.marked(plan, mark+sessionMark(session.ID())); err == nil {
		_, err = plan.RunTx(mongo.NewSessionContext(ctx, session), db)
	}
	return err
}

// sessionMark returns the end of a mark that names a session.
func sessionMark(session bson.Raw) string {
	_, id, _ := session.Lookup("id").BinaryOK()
	return " in " + hex.EncodeToString(id)
}

// isOwn reports whether an event of a replacement is an update by this stream.
func (s Stream) isOwn(e Event, raw bson.Raw) bool {
	session, inTx := raw.Lookup("lsid").DocumentOK()
	if s.Mark == "" || e.Kind != Replaced || !inTx {
		return false
	}
	mark, ok := e.Document.Lookup(s.Mark).StringValueOK()
	return ok && strings.HasSuffix(mark, sessionMark(session))
}
