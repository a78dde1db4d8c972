package mongotest

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// NewClient returns a client of a new, empty engine (a MongoDB in memory), and closes
// both when the test ends. Wrong options fail the test.
func NewClient(t testing.TB, opts ...Option) *mongo.Client {
	t.Helper()
	client, stop, err := start(opts)
	if err != nil {
		t.Fatalf("mongotest: %v", err)
	}
	cleanUp(t, stop)
	return client
}

// Start is [NewClient] for examples and programs, without a testing.TB. The function stop
// interrupts running commands, and closes client and engine. Start panics if the options
// are wrong.
//
//	client, stop := mongotest.Start()
//	defer stop()
func Start(opts ...Option) (client *mongo.Client, stop func()) {
	client, end, err := start(opts)
	if err != nil {
		panic("mongotest: " + err.Error())
	}
	return client, func() {
		if err := end(); err != nil {
			panic("mongotest: " + err.Error())
		}
	}
}

func start(opts []Option) (*mongo.Client, func() error, error) {
	b, stopEngine := newEngine()
	client, disconnect, err := b.connect(newConfig(opts))
	if err != nil {
		return nil, nil, errors.Join(err, stopEngine())
	}
	return client, func() error {
		disconnect()
		return stopEngine()
	}, nil
}

// disconnectTimeout bounds the wait for running operations when a client is closed.
const disconnectTimeout = 5 * time.Second

// connect returns a client of the backend. It sends nothing yet.
func (b *backend) connect(c *config) (*mongo.Client, func(), error) {
	if c.anyOrder {
		return nil, nil, errAnyOrder
	}
	if err := b.configure(c); err != nil {
		return nil, nil, err
	}
	dialer, interrupt := b.dialer, func() {}
	if dialer != nil {
		d := &interrupter{inner: dialer}
		dialer, interrupt = b.accompany(d), d.interrupt
	}
	client, err := mongo.Connect(c.clientOptions(b.uri, dialer))
	if err != nil {
		return nil, nil, err
	}
	forget := b.register(client, c.monitors)
	return client, func() {
		forget()
		c.reset()
		interrupt()
		ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // an error only means that it was closed before
	}, nil
}

// configure applies the options for the server.
func (b *backend) configure(c *config) error {
	if c.lag > 0 && b.engine != nil {
		b.engine.DelayChanges(c.lag)
	}
	if c.clock != nil {
		if b.engine == nil {
			return errServerClock
		}
		c.clock.drive(b.engine)
	}
	if c.alone {
		if b.engine == nil {
			return errServerAlone
		}
		if c.shards != nil {
			panic("mongotest: Settings.Standalone: a sharded cluster has transactions\n\tremedy: " +
				"leave out the Shards, or this setting")
		}
		b.engine.SetStandalone()
	}
	if c.shards != nil {
		if b.engine == nil {
			return errServerShards
		}
		b.engine.SetRouter(c.shards.router)
	}
	if c.version > 0 && b.engine != nil {
		b.engine.SetVersion(c.version)
	}
	if c.ttl != nil {
		if b.engine == nil {
			return errServerTTL
		}
		c.ttl.drive(b.engine)
	}
	return nil
}

// mustConnect is connect for a test, which closes the client at its end.
func (b *backend) mustConnect(t testing.TB, opts ...Option) *mongo.Client {
	t.Helper()
	client, disconnect, err := b.connect(newConfig(opts))
	if err != nil {
		t.Fatalf("mongotest: %v", err)
	}
	t.Cleanup(disconnect)
	return client
}
