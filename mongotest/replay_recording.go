package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A recording notes the commands on a client's connections, and their replies.
type recording struct {
	t        testing.TB
	plain    *mongo.Client // to inspect and drop databases
	anyOrder bool

	mu         sync.Mutex
	normalizer *normalizer
	session    *session
	databases  map[string]error // why a database can't be recorded
	underWay   int
	overlapped string // the first command that was sent before another's reply
}

func newRecording(t testing.TB, plain *mongo.Client, hello bson.Raw, uri string, anyOrder bool) *recording {
	return &recording{
		t: t, plain: plain, anyOrder: anyOrder,
		normalizer: newNormalizer(hostsOf(hello, uri)),
		session:    &session{server: serverFacts(hello)},
		databases:  map[string]error{"admin": nil, "config": nil, "local": nil},
	}
}

// serverFacts returns the recorded part of the server's hello.
func serverFacts(hello bson.Raw) bson.Raw {
	return rewrite(hello, nil, func(path []string, v bson.RawValue) (bson.RawValue, bool) {
		if path[0] == "setName" {
			return rawValue("replica set"), true
		}
		return v, slices.Contains(helloFacts, path[0]) && path[0] != "ok"
	})
}

// hostsOf returns the server's names that may occur in errors.
func hostsOf(hello bson.Raw, uri string) []string {
	var out []string
	if parsed := options.Client().ApplyURI(uri); parsed.Validate() == nil {
		out = append(out, parsed.Hosts...)
	}
	for _, key := range []string{"me", "primary"} {
		if host, ok := hello.Lookup(key).StringValueOK(); ok {
			out = append(out, host)
		}
	}
	each := out
	for _, host := range each {
		if name, _, err := net.SplitHostPort(host); err == nil {
			out = append(out, name)
		}
	}
	return out
}

func (r *recording) faults() *Faults {
	f := NewFaults()
	f.usual = act(r.do)
	return f
}

// do sends a command and notes its outcome.
func (r *recording) do(c *faultConn, m *message) error {
	if err := r.refusal(m.command); err != nil {
		r.t.Errorf("mongotest: Replay: %s can't be recorded: %v", m.command.Name, err)
		return c.answer(m, refused)
	}
	x := r.begin(m)
	err := c.forward(m)
	if m.moreToCome {
		if err == nil { // the next command on another connection must see it done
			_, err = c.ask(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}})
		}
		return err
	}
	var raw []byte
	if err == nil {
		raw, err = c.readReply()
	}
	if err != nil {
		return r.broken(c, x, err)
	}
	reply, err := parseMessage(raw)
	if err != nil {
		return err
	}
	r.replied(x, m.command, bson.Raw(reply.body))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, raw...)
	return nil
}

// refused is the answer to a command that fails the test.
var refused = bson.D{
	{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "mongotest: Replay refuses the command; the test's failure says why"},
	{Key: "code", Value: int32(8)}, {Key: "codeName", Value: "UnknownError"},
}

func (r *recording) begin(m *message) *exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &exchange{database: m.command.Database, command: r.normalizer.command(m.command)}
	r.session.exchanges = append(r.session.exchanges, x)
	if r.underWay > 0 && r.overlapped == "" {
		r.overlapped = m.command.String()
	}
	if m.moreToCome {
		x.end = endUnacknowledged
	} else {
		r.underWay++
	}
	return x
}

func (r *recording) replied(x *exchange, c Command, reply bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.underWay--
	x.reply = r.normalizer.reply(c, reply)
}

// broken notes a command without a reply.
func (r *recording) broken(c *faultConn, x *exchange, err error) error {
	abandoned := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
	select {
	case <-c.closed:
		abandoned = true
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.underWay--
	if x.end = endCut; abandoned {
		x.end = endAbandoned
		return err
	}
	return c.cut()
}

// refusal says why a command can't be recorded.
func (r *recording) refusal(c Command) error {
	if unrecordable[strings.ToLower(c.Name)] {
		return errors.New("it is about the server, its users or its sessions, which a recording doesn't hold")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range databasesOf(c) {
		err, seen := r.databases[name]
		if !seen {
			err = r.empty(name)
			r.databases[name] = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unrecordable are commands, in lower case, that reveal more than the test's data.
var unrecordable = map[string]bool{
	"authenticate": true, "buildinfo": true, "connectionstatus": true, "connpoolstats": true,
	"currentop": true, "getcmdlineopts": true, "getlog": true, "getparameter": true, "hostinfo": true,
	"killallsessions": true, "killallsessionsbypattern": true, "killop": true, "killsessions": true, "listdatabases": true,
	"refreshsessions": true, "replsetgetconfig": true, "replsetgetstatus": true, "serverstatus": true,
	"setparameter": true, "startsession": true, "top": true, "whatsmyuri": true, "createuser": true, "updateuser": true,
	"dropuser": true, "usersinfo": true, "rolesinfo": true, "createrole": true, "listshards": true, "getshardmap": true,
	"listcommands": true, "shutdown": true,
}

// databasesOf returns the databases that a command names.
func databasesOf(c Command) []string {
	out := []string{c.Database}
	add := func(v bson.RawValue) {
		if ns, ok := v.StringValueOK(); ok {
			name, _, _ := strings.Cut(ns, ".")
			out = append(out, name)
		}
	}
	switch c.Name {
	case "bulkWrite":
		list, _ := c.Body.Lookup("nsInfo").ArrayOK()
		values, _ := list.Values()
		for _, v := range values {
			add(v.Document().Lookup("ns"))
		}
	case "renameCollection":
		add(c.Body.Lookup("renameCollection"))
		add(c.Body.Lookup("to"))
	case "aggregate":
		list, _ := c.Body.Lookup("pipeline").ArrayOK()
		values, _ := list.Values()
		if len(values) > 0 {
			last, _ := values[len(values)-1].DocumentOK()
			add(last.Lookup("$out", "db"))
			add(last.Lookup("$merge", "into", "db"))
		}
	}
	return out
}

// empty returns an error unless the database has no collection.
func (r *recording) empty(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	names, err := r.plain.Database(name).ListCollectionNames(ctx, bson.D{})
	if err == nil && len(names) > 0 {
		return fmt.Errorf("the server has a database %q with collections; a recording begins without one\n\tremedy: drop the "+
			"database, or record on another server", name)
	}
	return err
}

// dropAll drops the recorded databases.
func (r *recording) dropAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for name, problem := range r.databases {
		if problem != nil || name == "admin" || name == "config" || name == "local" {
			continue
		}
		if err := r.plain.Database(name).Drop(ctx); err != nil {
			r.t.Errorf("mongotest: Replay: drop the recorded database %s: %v", name, err)
		}
	}
}
