package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Listen starts an empty simulated MongoDB server, in memory, at a local TCP address. It
// returns the server's connection string:
//
//	uri, stop, err := mongotest.Listen("127.0.0.1:0") // port 0 means a free one
//	…
//	defer stop()
//	client, err := mongo.Connect(options.Client().ApplyURI(uri))
//
// The address must be loopback, because the server has no password and no TLS.
//
// Options apply to all clients. A [Monitor] and [Settings].Client give an error. Pass
// client options to mongo.Connect.
func Listen(address string, opts ...Option) (uri string, stop func(), err error) {
	c := newConfig(opts)
	if err := c.refuseClient(); err != nil {
		return "", nil, fmt.Errorf("mongotest: Listen: %w", err)
	}
	l, err := listenLoopback(address)
	if err != nil {
		return "", nil, fmt.Errorf("mongotest: Listen: %w", err)
	}
	b, stopEngine := newEngine()
	if err := b.configure(c); err != nil {
		return "", nil, errors.Join(err, l.Close(), stopEngine())
	}
	s := &bridges{dialer: c.faultDialer(b.dialer), conns: map[net.Conn]bool{}}
	s.wait.Add(1)
	go s.accept(l)
	return "mongodb://" + l.Addr().String() + "/", func() {
		l.Close()
		c.reset()
		s.close()
		if err := stopEngine(); err != nil {
			panic("mongotest: " + err.Error())
		}
		s.wait.Wait()
	}, nil
}

// refuseClient returns an error for options of a client.
func (c *config) refuseClient() error {
	const remedy = " is for a client, and Listen makes none\n\tremedy: give the client that connects "
	switch {
	case len(c.monitors) > 0:
		return errors.New("Monitor" + remedy + "the monitor's CommandMonitor")
	case len(c.client) > 0:
		return errors.New("Settings.Client" + remedy + "the options")
	}
	return nil
}

// listenLoopback listens at an address that only this machine can reach.
func listenLoopback(address string) (*net.TCPListener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !a.IP.IsLoopback() {
		return nil,
			fmt.Errorf("the address %q can be reached from other machines\n\tremedy: use 127.0.0.1, [::1] or localhost", address)
	}
	return net.ListenTCP("tcp", a)
}

// bridges connect TCP clients to an engine. The engine notices at once when a client
// closes its connection, and interrupts its command.
type bridges struct {
	dialer options.ContextDialer
	wait   sync.WaitGroup // the goroutines

	mu    sync.Mutex
	over  bool
	conns map[net.Conn]bool // both ends of all bridges
}

// accept runs until the port is closed.
func (s *bridges) accept(l net.Listener) {
	defer s.wait.Done()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := s.dialer.DialContext(context.Background(), "tcp", client.LocalAddr().String())
		if err != nil {
			client.Close()
			continue
		}
		s.join(client, server)
	}
}

// join passes messages both ways until an end is closed, and closes both.
func (s *bridges) join(client, server net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		client.Close()
		server.Close()
		return
	}
	s.conns[client], s.conns[server] = true, true
	turns := newTurns()
	end := func() {
		client.Close()
		server.Close()
		turns.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, client)
		delete(s.conns, server)
	}
	s.wait.Go(func() { defer end(); turns.ask(client, server) })
	s.wait.Go(func() { defer end(); turns.answer(client, server) })
}

// turns orders the messages of a bridge. A request is written after the reply to the one
// before, because faults read from the server while they write. The next request is
// already read meanwhile, to notice the client's end at once.
type turns struct {
	asked, answered chan struct{} // a token in one of them
	over            chan struct{}
	close           func()
}

func newTurns() *turns {
	t := &turns{asked: make(chan struct{}, 1), answered: make(chan struct{}, 1), over: make(chan struct{})}
	t.close = sync.OnceFunc(func() { close(t.over) })
	t.answered <- struct{}{}
	return t
}

// ask passes requests on.
func (t *turns) ask(client, server net.Conn) {
	for {
		request, err := readMessage(client)
		if err != nil {
			return
		}
		select {
		case <-t.answered:
		case <-t.over:
			return
		}
		if _, err := server.Write(request); err != nil {
			return
		}
		if expectsReply(request) {
			t.asked <- struct{}{}
		} else {
			t.answered <- struct{}{}
		}
	}
}

// answer passes replies on.
func (t *turns) answer(client, server net.Conn) {
	for {
		select {
		case <-t.asked:
		case <-t.over:
			return
		}
		reply, err := readMessage(server)
		if err != nil {
			return
		}
		if _, err := client.Write(reply); err != nil {
			return
		}
		t.answered <- struct{}{}
	}
}

// close closes both ends of all bridges, current and later ones.
func (s *bridges) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for c := range s.conns {
		c.Close()
	}
}
