package session

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Lifetime is how long a session lasts without a command.
const Lifetime = 30 * time.Minute

// use is when the last command of each session came. A session is forgotten after its lifetime.
type use struct {
	mu    sync.Mutex
	last  map[string]time.Time
	limit int // with more sessions than this, note removes old ones
}

// note notes that a session is used.
func (u *use) note(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last, u.limit = map[string]time.Time{}, 1000
	}
	u.last[id] = now
	if len(u.last) > u.limit {
		u.expire(now)
		u.limit = 2*len(u.last) + 1000 // so that each note costs little on average
	}
}

// expire forgets old sessions.
func (u *use) expire(now time.Time) {
	maps.DeleteFunc(u.last, func(_ string, at time.Time) bool { return now.Sub(at) > Lifetime })
}

// forget forgets a session that has ended.
func (u *use) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.last, id)
}

// list returns the sessions as $listLocalSessions shows them, in the order of their ids.
func (u *use) list(now time.Time) (out []bson.D) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.expire(now)
	for _, id := range slices.Sorted(maps.Keys(u.last)) {
		out = append(out, bson.D{
			{Key: "_id", Value: Describe(id)},
			{Key: "lastUse", Value: bson.NewDateTimeFromTime(u.last[id])},
		})
	}
	return out
}

// Describe returns the document by which a server names a session, with its user. Change events and
// $listLocalSessions show it.
func Describe(id string) bson.D {
	return bson.D{
		{Key: "id", Value: bson.Binary{Subtype: 4, Data: []byte(id)}},
		{Key: "uid", Value: bson.Binary{Data: nobody[:]}},
	}
}

// nobody is the hash of a session's user where there are no users.
var nobody = sha256.Sum256(nil)
