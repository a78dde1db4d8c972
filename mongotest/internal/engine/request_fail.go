package engine

// This file lets commands fail as fail points say, at four moments: before the command (failBefore), after it
// (failAfter), in a getMore that has its cursor (failCheckedOut), and after a statement of a retryable write
// (wrapFailingWrite). Package failpoint has the fail points themselves.

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/changestream"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/failpoint"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// describeCaller returns the parts of the command that fail points compare.
func (r *request) describeCaller() failpoint.Caller {
	return failpoint.Caller{
		Name: r.command.name, Sent: r.name, Aliases: r.command.aliases, App: r.conn.app, Namespace: r.failNamespace(),
	}
}

// failNamespace returns the namespace that failCommand compares: that of the collection, as test.things, or test.$cmd
// for a command that names no collection. A getMore has the collection in another field, an explain in its command.
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

// failBefore lets the command wait, fail, or lose its connection before it has begun, if a fail point says so. The wait
// comes before the error.
func (r *request) failBefore() error {
	f := r.engine.fails.Hit(failpoint.Command, func(f *failpoint.Failure) bool {
		return (f.Close || f.Block || f.HasCode) && f.IsAbout(r.describeCaller())
	})
	if f == nil {
		return nil
	}
	r.labels = f.Labels
	if f.Close {
		r.conn.cut = true
		return mongoerr.New(50985, "Failing %s command via 'failCommand' failpoint. Action: close connection.", r.name)
	}
	if f.Block {
		if err := r.sleep(f.Wait); err != nil {
			return err
		}
	}
	if !f.HasCode {
		return nil
	}
	if stages := r.args().Array("pipeline"); r.name == "aggregate" && changestream.IsOpenedBy(stages) {
		r.watching = true
	}
	return r.addLabels(f.NewError("Failing command via 'failCommand' failpoint"))
}

// sleep waits, unless the command ends before. The maxTimeMS of a getMore doesn't end it, because it says how long to
// wait for documents.
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

// failAfter adds the write concern error of a fail point to the reply of a command without an error. It reports whether
// it did: the reply then doesn't get another one.
func (r *request) failAfter(rep reply) (reply, bool) {
	f := r.engine.fails.Hit(failpoint.Command, func(f *failpoint.Failure) bool {
		return f.Concern != nil && f.IsAbout(r.describeCaller())
	})
	if f == nil {
		return rep, false
	}
	rep = append(rep, bson.E{Key: "writeConcernError", Value: f.Concern})
	// A driver sends a write again after some write concern errors, and looks for the label.
	code, _ := bsonval.Get(f.Concern, "code")
	n, _ := args.ReadWhole(code)
	labels := f.Labels
	if labels == nil && r.isSentAgain(int32(n)) {
		labels = []string{retryableWriteError}
	}
	if len(labels) > 0 {
		rep = append(rep, bson.E{Key: "errorLabels", Value: makeStringArray(labels)})
	}
	return rep, true
}

// failCheckedOut lets a getMore fail that has taken its cursor, if a fail point says so. The cursor is then dropped.
func (r *request) failCheckedOut(c *cursor.Cursor) error {
	f := r.engine.fails.Hit(failpoint.GetMore, func(f *failpoint.Failure) bool {
		about := *f
		about.Commands = []string{"getMore"}
		return about.IsAbout(r.describeCaller())
	})
	if f == nil {
		return nil
	}
	r.watching = c.Stream != nil
	return f.NewError("Hit the 'failGetMoreAfterCursorCheckout' failpoint")
}

// wrapFailingWrite returns fn as a write that fails after it is done, if a fail point says so. The statement is undone
// and returns an error, or it stays done and the connection is cut. So a test sees how a driver goes on after a lost
// reply.
func (r *request) wrapFailingWrite(fn func(w *store.Writer) error) func(w *store.Writer) error {
	return func(w *store.Writer) error {
		// If the write is undone, the session must not remember its statements.
		restore := r.session.SaveOutcomes()
		if err := fn(w); err != nil || !w.HasChanges() {
			return err
		}
		f := r.engine.fails.Hit(failpoint.RetryableWrite, func(*failpoint.Failure) bool { return true })
		if f == nil {
			return nil
		}
		r.conn.cut = r.conn.cut || f.Close
		if !f.HasCode {
			return nil
		}
		restore()
		return undone{f.NewError("Failing write due to failpoint. The write must not be reflected.")}
	}
}

// undone is the error of a write that wrapFailingWrite has undone. An insert command takes it for the error of one
// document.
type undone struct{ error }

// Unwrap lets mongoerr find the code of the error.
func (u undone) Unwrap() error { return u.error }
