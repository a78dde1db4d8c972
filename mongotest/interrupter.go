package mongotest

import (
	"context"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An interrupter is a client's dialer to an engine. It interrupts the client's commands,
// so that closing the client doesn't wait for them.
type interrupter struct {
	inner options.ContextDialer

	mu    sync.Mutex
	over  bool
	conns map[*interruptedConn]bool
}

// An engineConn is the client's end of a connection to an engine.
type engineConn interface {
	net.Conn
	Interrupt()
}

type interruptedConn struct {
	engineConn
	owner *interrupter
}

func (i *interrupter) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := i.inner.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &interruptedConn{engineConn: conn.(engineConn), owner: i}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		c.Interrupt()
	}
	if i.conns == nil {
		i.conns = map[*interruptedConn]bool{}
	}
	i.conns[c] = true
	return c, nil
}

func (c *interruptedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.engineConn.Close()
}

// interrupt interrupts current and later commands.
func (i *interrupter) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	for c := range i.conns {
		c.Interrupt()
	}
}
