package cursor

import (
	"math/rand/v2"
	"sync"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Set is the open cursors of an engine. Several commands use it at the same time.
type Set struct {
	mu     sync.Mutex
	closed bool // with the engine
	open   map[int64]*Cursor
	busy   map[int64]*Cursor // that a getMore has taken
}

// Keep stores a cursor, and gives a new one an id. A cursor that was killed while a command had taken it is closed.
func (c *Set) Keep(x *Cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.ID != 0 && c.busy[x.ID] == nil || c.closed {
		x.Source.Close()
		return // it was killed meanwhile
	}
	for x.ID == 0 || c.open[x.ID] != nil {
		x.ID = rand.Int64()
	}
	if c.open == nil {
		c.open, c.busy = map[int64]*Cursor{}, map[int64]*Cursor{}
	}
	delete(c.busy, x.ID)
	c.open[x.ID] = x
}

// Take takes a cursor out for one command, which must call Keep or Drop. kill interrupts this command. A second command
// is refused with CursorInUse meanwhile.
func (c *Set) Take(id int64, kill func()) (*Cursor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[id] != nil {
		return nil, mongoerr.New(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	}
	x := c.open[id]
	if x == nil {
		return nil, mongoerr.New(mongoerr.CursorNotFound, "cursor id %d not found", id)
	}
	delete(c.open, id)
	c.busy[id], x.kill = x, kill
	return x, nil
}

// Drop closes a cursor that Take returned.
func (c *Set) Drop(x *Cursor) {
	x.Source.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, x.ID)
}

// Kill removes the cursors for which the function returns true, and interrupts commands that have taken some of them.
// It returns the number of these cursors. The function is called under the set's lock.
func (c *Set) Kill(which func(*Cursor) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, x := range c.open {
		if which(x) {
			delete(c.open, id)
			x.Source.Close()
			n++
		}
	}
	for id, x := range c.busy {
		if which(x) {
			delete(c.busy, id)
			x.kill()
			n++
		}
	}
	return n
}

// Close kills all cursors, and those that are kept later.
func (c *Set) Close() {
	c.mu.Lock()
	c.closed = true // before the cursors are killed: none is kept between
	c.mu.Unlock()
	c.Kill(func(*Cursor) bool { return true })
}

// Len returns the number of cursors, with those that commands have taken.
func (c *Set) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) + len(c.busy)
}
