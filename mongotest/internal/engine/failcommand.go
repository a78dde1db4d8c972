package engine

import (
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// failure is the data of a fail point: of which commands it is, and how they fail. It never changes.
type failure struct {
	commands  []string // names and aliases
	all       bool     // every command but configureFailPoint
	app       string   // "" for each application's
	namespace string   // "" for each

	close   bool
	block   bool
	wait    time.Duration
	hasCode bool
	code    int32
	info    bson.D // of the error, beside its code
	concern bson.D // the writeConcernError of a command that went well
	labels  []string
}

// readFailCommand reads the data of failCommand
// (https://github.com/mongodb/mongo/blob/r8.0.0/src/mongo/db/commands/fail_command_failpoint.idl).
func readFailCommand(a *args.Reader) (f failure) {
	a.Fail(a.CheckKnown([]string{
		"failCommands", "failAllCommands", "appName", "namespace", "threadName", "closeConnection",
		"blockConnection", "blockTimeMS", "errorCode", "errorExtraInfo", "errorLabels", "writeConcernError",
		"failInternalCommands", "failLocalClients",
	}))
	a.Refuse("threadName")
	a.Refuse("failInternalCommands", false, true) // there are none
	a.Refuse("failLocalClients", false, true)
	f.readWhich(a)
	f.all = a.Boolean("failAllCommands", false)
	f.commands = a.Texts("failCommands")
	f.close = a.Boolean("closeConnection", false)
	f.readBlock(a)
	f.readCode(a, "errorCode")
	if a.Has("errorExtraInfo") {
		f.info = a.Document("errorExtraInfo")
		if !f.hasCode {
			a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'errorExtraInfo' needs an 'errorCode'"))
		}
	}
	if a.Has("errorLabels") {
		f.labels = append([]string{}, a.Texts("errorLabels")...)
	}
	f.concern = a.Document("writeConcernError")
	return f
}

func readFailGetMore(a *args.Reader) (f failure) {
	a.Fail(a.CheckKnown([]string{"errorCode", "closeConnection", "appName", "namespace", "threadName"}))
	a.Refuse("threadName")
	a.Refuse("closeConnection", false)
	f.readWhich(a)
	f.readCode(a, "errorCode")
	if !f.hasCode {
		a.Require("errorCode")
	}
	return f
}

func readFailRetryable(a *args.Reader) (f failure) {
	a.Fail(a.CheckKnown([]string{"closeConnection", "failBeforeCommitExceptionCode"}))
	f.close = a.Boolean("closeConnection", true)
	f.readCode(a, "failBeforeCommitExceptionCode")
	return f
}

func (f *failure) readWhich(a *args.Reader) {
	f.app, f.namespace = a.Text("appName"), a.Text("namespace")
}

func (f *failure) readCode(a *args.Reader, name string) {
	f.hasCode = a.Has(name)
	f.code = int32(a.Integer(name, 0))
}

func (f *failure) readBlock(a *args.Reader) {
	f.block = a.Boolean("blockConnection", false)
	f.wait = time.Duration(a.Integer("blockTimeMS", 0)) * time.Millisecond
	switch {
	case f.block && !a.Has("blockTimeMS"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "must specify 'blockTimeMS' when 'blockConnection' is true"))
	case f.wait < 0:
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'blockTimeMS' must be non-negative"))
	}
}

// isAbout reports whether the data is about the request's command.
func (f *failure) isAbout(r *request) bool {
	switch {
	case r.command.name == "configureFailPoint",
		f.app != "" && f.app != r.conn.app,
		f.namespace != "" && f.namespace != r.failNamespace():
		return false
	case f.all:
		return true
	}
	return slices.ContainsFunc(f.commands, func(name string) bool {
		if r.command.name == "hello" && (name == "hello" || r.name == "hello") { // isMaster is a command of its own
			return name == r.name
		}
		return name == r.command.name || slices.Contains(r.command.aliases, name)
	})
}

// failNamespace is what failCommand compares with its namespace: that of the collection, or the one that the database
// has for its commands.
func (r *request) failNamespace() string {
	target := r.body
	if d, ok := r.body[0].Value.(bson.D); ok && r.name == "explain" && len(d) > 0 {
		target = d
	}
	name, ok := target[0].Value.(string)
	if r.name == "getMore" {
		v, _ := bsonval.Get(r.body, "collection")
		name, ok = v.(string)
	}
	if !ok {
		name = "$cmd"
		if target[0].Key == "aggregate" {
			name = "$cmd.aggregate"
		}
	}
	return store.Namespace{DB: r.db, Coll: name}.String()
}

// failBefore lets the command fail before it has begun, or late, if a fail point says so.
func (r *request) failBefore() error {
	f := r.engine.fails.hit(failCommand, func(f *failure) bool {
		return (f.close || f.block || f.hasCode) && f.isAbout(r)
	})
	if f == nil {
		return nil
	}
	r.labels = f.labels
	if f.close {
		r.conn.cut = true
		return mongoerr.New(50985, "Failing %s command via 'failCommand' failpoint. Action: close connection.", r.name)
	}
	if f.block {
		if err := r.sleep(f.wait); err != nil {
			return err
		}
	}
	if !f.hasCode {
		return nil
	}
	if stages := r.args().Array("pipeline"); r.name == "aggregate" && isWatch(stages) {
		r.watching = true
	}
	return r.label(f.error("Failing command via 'failCommand' failpoint"))
}

func (f *failure) error(message string) *mongoerr.Error {
	err := mongoerr.New(f.code, "%s", message)
	err.Extra, err.Labels = f.info, f.labels
	return err
}

// sleep waits, unless the command ends before. A getMore's maxTimeMS doesn't end it, for it says how long to wait for
// documents.
func (r *request) sleep(d time.Duration) error {
	ctx := r.ctx
	if r.name == "getMore" {
		ctx = r.conn.ctx
	}
	timer := time.NewTimer(d) // real time: the client waits meanwhile
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return interrupt.Cause(ctx)
	}
}

// failAfter gives the reply of a command that went well the write concern error of a fail point, if one has it.
func (r *request) failAfter(rep reply) (reply, bool) {
	f := r.engine.fails.hit(failCommand, func(f *failure) bool { return f.concern != nil && f.isAbout(r) })
	if f == nil {
		return rep, false
	}
	rep = append(rep, bson.E{Key: "writeConcernError", Value: f.concern})
	code, _ := bsonval.Get(f.concern, "code")
	n, _ := args.ReadWhole(code)
	labels := f.labels
	if labels == nil && r.sendsAgain(int32(n)) {
		labels = []string{retryableWriteError}
	}
	if len(labels) > 0 {
		rep = append(rep, bson.E{Key: "errorLabels", Value: stringArray(labels)})
	}
	return rep, true
}

// failCheckedOut lets a getMore that has its cursor fail, if a fail point says so.
func (r *request) failCheckedOut(c *cursor) error {
	f := r.engine.fails.hit(failGetMore, func(f *failure) bool {
		about := *f
		about.commands = []string{"getMore"}
		return about.isAbout(r)
	})
	if f == nil {
		return nil
	}
	r.watching = c.stream != nil
	return f.error("Hit the 'failGetMoreAfterCursorCheckout' failpoint")
}

// failingWrite makes a statement of a retryable write fail once it is done, if a fail point says so: undone, with an
// error, or done, with the connection cut.
func (r *request) failingWrite(fn func(w *store.Writer) error) func(w *store.Writer) error {
	return func(w *store.Writer) error {
		done := maps.Clone(r.session.done)
		if err := fn(w); err != nil || !w.Changed() {
			return err
		}
		f := r.engine.fails.hit(failRetryable, func(*failure) bool { return true })
		if f == nil {
			return nil
		}
		r.conn.cut = r.conn.cut || f.close
		if !f.hasCode {
			return nil
		}
		r.session.done = done
		return undone{f.error("Failing write due to failpoint. The write must not be reflected.")}
	}
}

// undone is the error of a write that failingWrite has undone.
type undone struct{ error }

func (u undone) Unwrap() error { return u.error }
