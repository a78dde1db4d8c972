package mongotest

import (
	"context"
	"sync"

	"github.com/docmodel/docmodel/internal/testserver"
)

// A Gate makes commands wait, by the action [Hold]. It is safe for concurrent use.
type Gate struct {
	open    chan struct{}
	opening sync.Once

	mu      sync.Mutex
	waiting []Command
	changed chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{}), changed: make(chan struct{})} }

// Open releases all waiting commands, and lets later ones pass. It may be called
// repeatedly.
func (g *Gate) Open() { g.opening.Do(func() { close(g.open) }) }

// Wait waits for a command at the gate, and returns it. Each call returns another
// command. If ctx ends first, Wait returns ctx's error.
func (g *Gate) Wait(ctx context.Context) (Command, error) {
	for {
		g.mu.Lock()
		if len(g.waiting) > 0 {
			c := g.waiting[0]
			g.waiting = g.waiting[1:]
			g.mu.Unlock()
			return c, nil
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Command{}, ctx.Err()
		}
	}
}

func (g *Gate) arrive(c Command) {
	c.Body = testserver.Clip(c.Body)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, c)
	close(g.changed)
	g.changed = make(chan struct{})
}
