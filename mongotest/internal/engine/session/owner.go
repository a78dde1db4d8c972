package session

import "time"

// Owner is a connection, as transactions know it. A transaction belongs to the owner that sent its last command. One
// goroutine calls an owner's methods.
type Owner struct{ sessions map[*Session]bool }

// add makes the owner the session's.
func (o *Owner) add(s *Session) {
	if o.sessions == nil {
		o.sessions = map[*Session]bool{}
	}
	o.sessions[s] = true
	s.owner.Store(o)
}

// orphaned is how long a transaction stays open without its owner: long enough for a driver to connect anew. MongoDB
// leaves it open for its whole lifetime.
const orphaned = 5 * time.Second

// Leave aborts the owner's transactions after a while, unless they have another owner by then. It is called when the
// connection has ended.
func (o *Owner) Leave() {
	for s := range o.sessions {
		t := s.txn.Load()
		if t == nil || s.owner.Load() != o {
			continue
		}
		time.AfterFunc(orphaned, func() { // real time: a driver connects anew meanwhile
			if s.owner.Load() == o {
				t.Abort()
			}
		})
	}
}
