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
// A [Monitor], [Faults], [Clock], [TTL], [Shards] or [Settings] is an Option.
type Option interface{ apply(*config) }

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

// Settings is an Option that sets the engine and the driver. The zero value changes
// nothing. Of two Settings of one client, the later one's fields count, if they are set.
type Settings struct {
	// Version makes the engine answer as MongoDB "5.0", "6.0", "7.0" or "8.0". "" means
	// "8.0". Other versions panic. On a real server it does nothing.
	//
	// Before 8.0, there is no bulkWrite command. In a cluster of [Shards], updateOne and
	// deleteOne then need the shard key or _id, and findAndModify the whole shard key.
	// Other commands answer as on 8.0.
	Version string

	// Standalone makes the engine a standalone server, which has neither transactions nor
	// change streams. Creating a client of a real server with Standalone fails. With
	// [Shards], creating the engine's client panics.
	Standalone bool

	// ChangeLag delays the changes in the engine's change streams, for all clients. As on
	// MongoDB, an empty batch doesn't prove that there are no changes. A negative lag
	// panics. On a real server it does nothing.
	ChangeLag time.Duration

	// Client has options of the driver: timeouts, retries, concerns, BSON options. Hosts,
	// dialers, TLS and compressors panic. Several Settings are joined as
	// options.MergeClientOptions does.
	Client *options.ClientOptions

	// AnyOrder lets [Replay] accept commands in any order, for tests with several
	// goroutines. A command gets the first unused reply that was recorded for an equal
	// command. Recording also needs AnyOrder, if a command is sent before another
	// command's reply.
	AnyOrder bool
}

func (s Settings) apply(c *config) {
	if s.Version != "" {
		major, known := map[string]int{"5.0": 5, "6.0": 6, "7.0": 7, "8.0": 8}[s.Version]
		if !known {
			panic(fmt.Sprintf("mongotest: Settings.Version: %q\n\tremedy: take \"5.0\", \"6.0\", \"7.0\" or \"8.0\"",
				s.Version))
		}
		c.version = major
	}
	if s.ChangeLag < 0 {
		panic("mongotest: Settings.ChangeLag: the time is negative\n\tremedy: give how late changes show")
	}
	if s.ChangeLag > 0 {
		c.lag = s.ChangeLag
	}
	if s.Client != nil {
		checkClientOptions(s.Client)
		c.client = append(c.client, s.Client)
	}
	c.alone = c.alone || s.Standalone
	c.anyOrder = c.anyOrder || s.AnyOrder
}

// checkClientOptions panics for options that decide how a client connects: the engine, or MONGODB_URI, decides this.
func checkClientOptions(o *options.ClientOptions) {
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
}

func refuseOption(name string) {
	panic("mongotest: Settings.Client: the options have " + name + ", which this package sets by itself\n\tremedy: " +
		"leave it out, or connect with mongo.Connect and give it Monitor.CommandMonitor and Faults.Dialer")
}

func newConfig(opts []Option) *config {
	c := &config{}
	for _, o := range opts {
		o.apply(c)
	}
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
