package engine

import (
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sessionUse is when a command last came in each session. A session that is older than its lifetime is forgotten.
type sessionUse struct {
	mu    sync.Mutex
	last  map[string]time.Time
	sweep int // how many sessions make the next one look for old ones
}

func (u *sessionUse) note(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last, u.sweep = map[string]time.Time{}, 1000
	}
	u.last[id] = now
	if len(u.last) > u.sweep {
		u.expire(now)
		u.sweep = 2*len(u.last) + 1000
	}
}

func (u *sessionUse) expire(now time.Time) {
	maps.DeleteFunc(u.last, func(_ string, at time.Time) bool { return now.Sub(at) > sessionLifetime*time.Minute })
}

func (u *sessionUse) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.last, id)
}

// list returns what $listLocalSessions tells of each session, in the order of their ids.
func (u *sessionUse) list(now time.Time) (out []bson.D) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.expire(now)
	for _, id := range slices.Sorted(maps.Keys(u.last)) {
		out = append(out, bson.D{
			{Key: "_id", Value: sessionDocument(id)},
			{Key: "lastUse", Value: bson.NewDateTimeFromTime(u.last[id])},
		})
	}
	return out
}

func (e *environment) Sessions() []bson.D { return e.request.engine.used.list(e.now) }

// sessionDocument names a session as the server does: with its owner.
func sessionDocument(id string) bson.D {
	return bson.D{
		{Key: "id", Value: bson.Binary{Subtype: 4, Data: []byte(id)}},
		{Key: "uid", Value: bson.Binary{Data: nobody[:]}},
	}
}

func init() {
	register(
		&command{name: "startSession", run: startSession},
		&command{name: "refreshSessions", run: refreshSessions},
	)
}

// startSession gives out a session.
func startSession(r *request) (reply, error) {
	var id [16]byte
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID
	r.engine.used.note(string(id[:]), r.engine.now())
	return reply{
		{Key: "id", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: id[:]}}}},
		{Key: "timeoutMinutes", Value: int32(sessionLifetime)},
	}, nil
}

// refreshSessions notes that sessions are used.
func refreshSessions(r *request) (reply, error) {
	return nil, r.eachSession(func(lsid string) { r.engine.used.note(lsid, r.engine.now()) })
}
