package engine

// This file has the commands that end transactions and sessions. A transaction has no command to begin: its first
// command has startTransaction: true (request_session.go). The fields of a transaction's commands:
//
//	{insert: "things", documents: […], lsid: {id: UUID}, txnNumber: 3, startTransaction: true, autocommit: false}
//	{commitTransaction: 1, lsid: {id: UUID}, txnNumber: 3, autocommit: false, $db: "admin"}

import (
	"crypto/rand"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
)

var sessionCommands = []*command{
	{
		name: "commitTransaction", txn: true, admin: true, fields: []string{"recoveryToken"}, run: commitTransaction,
	},
	{name: "abortTransaction", txn: true, admin: true, fields: []string{"recoveryToken"}, run: abortTransaction},
	{name: "startSession", run: startSession},
	{name: "refreshSessions", run: refreshSessions},
	{name: "endSessions", run: endSessions},
	{name: "killSessions", run: endSessions},
	{name: "killAllSessions", run: killAllSessions},
}

// commitTransaction commits the session's transaction. It can be sent again after it has succeeded, because a driver
// may lose the reply.
func commitTransaction(r *request) (reply, error) {
	if r.session == nil || !r.autocommit {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "commitTransaction must be run within a transaction")
	}
	if r.session.IsCommitted() {
		return nil, nil
	}
	if err := r.txn.Commit(r.ctx); err != nil {
		return nil, err
	}
	r.session.SetCommitted()
	return nil, nil
}

// abortTransaction aborts the session's transaction.
func abortTransaction(r *request) (reply, error) {
	if r.session == nil || !r.autocommit {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "abortTransaction must be run within a transaction")
	}
	r.session.Abort()
	return nil, nil
}

// endSessions forgets the sessions that the command lists. killSessions also interrupts their commands.
func endSessions(r *request) (reply, error) {
	return nil, r.eachSession(func(lsid string) {
		if r.name == "killSessions" {
			r.engine.killCommands(func(x *request) bool { return x != r && x.lsid == lsid })
		}
		r.engine.endSession(lsid)
	})
}

// eachSession calls do with the id of each session that the command lists: {endSessions: [{id: UUID}]}. It returns an
// error at an id that isn't one.
func (r *request) eachSession(do func(lsid string)) error {
	ids, ok := r.body[0].Value.(bson.A)
	if !ok {
		return mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' must be an array", r.name, r.name)
	}
	for _, v := range ids {
		a := r.args()
		id, _ := v.(bson.D)
		lsid := readSessionID(a, id)
		if a.Err != nil {
			return a.Err
		}
		do(lsid)
	}
	return nil
}

// killCommands interrupts the running commands for which the function returns true. It returns before they have ended.
func (e *Engine) killCommands(which func(*request) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.kill(interrupt.Killed, which)
	}
}

// killAllSessions forgets all sessions but its own, interrupts their commands and closes their cursors. It takes no
// list of users, because the engine has no users.
func killAllSessions(r *request) (reply, error) {
	if users, ok := r.body[0].Value.(bson.A); !ok || len(users) > 0 {
		return nil, mongoerr.New(mongoerr.NotImplemented, "killAllSessions is supported with an empty array only")
	}
	r.engine.killCommands(func(x *request) bool { return x != r && x.lsid != "" && x.lsid != r.lsid })
	for _, id := range r.engine.sessions.IDs() {
		if id != r.lsid {
			r.engine.endSession(id)
		}
	}
	r.engine.cursors.Kill(func(c *cursor.Cursor) bool { return c.Session != "" && c.Session != r.lsid })
	return nil, nil
}

// startSession makes a session, and returns its id. Drivers make ids themselves, mongosh calls this command.
func startSession(r *request) (reply, error) {
	var id [16]byte
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID
	r.engine.sessions.NoteUse(string(id[:]), r.engine.now())
	return reply{
		{Key: "id", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: id[:]}}}},
		{Key: "timeoutMinutes", Value: int32(session.Lifetime / time.Minute)},
	}, nil
}

// refreshSessions notes that the sessions that the command lists are used, so that they don't time out.
func refreshSessions(r *request) (reply, error) {
	return nil, r.eachSession(func(lsid string) { r.engine.sessions.NoteUse(lsid, r.engine.now()) })
}
