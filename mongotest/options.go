package mongotest

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An Option changes the client or engine of [NewClient], [Start], [Each] and [Listen].
// [Options] combines several. A [Monitor], [Faults], [Clock], [TTL] or [Shards] is an
// Option.
type Option interface{ apply(*config) }

// option is an Option without a type of its own.
type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	monitors []*Monitor
	layers   []testserver.Layer // Faults
	client   []*options.ClientOptions
	lag      time.Duration // of the engine's change streams
	ttl      *TTL
	clock    *Clock
	shards   *Shards
	alone    bool // the engine is a standalone server
	version  int  // of MongoDB, as which the engine answers; 0 means the newest
	anyOrder bool // of a recording's commands
}

// Options returns an option that applies all of opts.
func Options(opts ...Option) Option {
	return option(func(c *config) {
		for _, o := range opts {
			o.apply(c)
		}
	})
}

// WithChangeLag delays the changes in the engine's change streams, for all clients. The
// delay is the value of lag. As on MongoDB, an empty batch doesn't prove that there are
// no changes. On a real server the option does nothing.
func WithChangeLag(lag time.Duration) Option {
	if lag < 0 {
		panic("mongotest: WithChangeLag: the time is negative\n\tremedy: give how late changes show")
	}
	return option(func(c *config) { c.lag = lag })
}

// WithoutTransactions makes the engine a standalone server, which has neither
// transactions nor change streams. Creating a client of a real server with this option
// fails. With [Shards], creating the engine's client panics.
func WithoutTransactions() Option { return option(func(c *config) { c.alone = true }) }

// WithVersion makes the engine answer as MongoDB "5.0", "6.0", "7.0" or "8.0" (the
// default). WithVersion panics for other versions. On a real server the option does
// nothing.
//
// Before 8.0, there is no bulkWrite command. In a cluster of [Shards], updateOne and
// deleteOne then need the shard key or _id, and findAndModify the whole shard key. Other
// commands answer as on 8.0.
func WithVersion(version string) Option {
	major, known := map[string]int{"5.0": 5, "6.0": 6, "7.0": 7, "8.0": 8}[version]
	if !known {
		panic(fmt.Sprintf("mongotest: WithVersion: %q\n\tremedy: take \"5.0\", \"6.0\", \"7.0\" or \"8.0\"", version))
	}
	return option(func(c *config) { c.version = major })
}

// WithClientOptions sets options of the driver: timeouts, retries, concerns, BSON
// options. The last value of an option is used. WithClientOptions panics for hosts,
// dialers, TLS, compressors and nil.
func WithClientOptions(o *options.ClientOptions) Option {
	if o == nil {
		panic("mongotest: WithClientOptions: the options are nil\n\tremedy: leave the option out")
	}
	switch {
	case len(o.Hosts) > 0:
		refuseOption("hosts or a URI")
	case o.Dialer != nil:
		refuseOption("a dialer")
	case o.TLSConfig != nil:
		refuseOption("TLS")
	case len(o.Compressors) > 0:
		refuseOption("compressors")
	}
	return option(func(c *config) { c.client = append(c.client, o) })
}

func refuseOption(what string) {
	panic("mongotest: WithClientOptions: the options have " + what + ", which this package sets by itself\n\tremedy: " +
		"leave it out, or connect with mongo.Connect and give it Monitor.CommandMonitor and Faults.Dialer")
}

func newConfig(opts []Option) *config {
	c := &config{}
	Options(opts...).apply(c)
	return c
}

// clientOptions returns the driver's options for a server at uri. A nil dialer means TCP.
func (c *config) clientOptions(uri string, dialer options.ContextDialer) *options.ClientOptions {
	merged := options.MergeClientOptions(append([]*options.ClientOptions{options.Client().ApplyURI(uri)}, c.client...)...)
	if len(c.monitors) > 0 {
		monitors := make([]*event.CommandMonitor, 0, len(c.monitors)+1)
		if merged.Monitor != nil {
			monitors = append(monitors, merged.Monitor)
		}
		for _, m := range c.monitors {
			monitors = append(monitors, m.CommandMonitor())
		}
		merged.SetMonitor(joinMonitors(monitors))
	}
	if dialer = c.faultDialer(dialer); dialer != nil {
		merged.SetDialer(dialer)
	}
	return merged
}

// faultDialer puts the faults before a dialer.
func (c *config) faultDialer(dialer options.ContextDialer) options.ContextDialer {
	for i := len(c.layers) - 1; i >= 0; i-- {
		dialer = c.layers[i].Dialer(dialer)
	}
	return dialer
}

// reset releases waiting commands, so that a client can be closed.
func (c *config) reset() {
	for _, f := range c.layers {
		f.Reset()
	}
}

func joinMonitors(monitors []*event.CommandMonitor) *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			for _, m := range monitors {
				if m.Started != nil {
					m.Started(ctx, e)
				}
			}
		},
		Succeeded: func(ctx context.Context, e *event.CommandSucceededEvent) {
			for _, m := range monitors {
				if m.Succeeded != nil {
					m.Succeeded(ctx, e)
				}
			}
		},
		Failed: func(ctx context.Context, e *event.CommandFailedEvent) {
			for _, m := range monitors {
				if m.Failed != nil {
					m.Failed(ctx, e)
				}
			}
		},
	}
}
