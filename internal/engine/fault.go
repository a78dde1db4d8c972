package engine

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/mongoerr"
	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/engine/value"
)

// Command is what Options.Intercept sees of a command.
type Command struct {
	Name       string   // as sent, such as "insert"
	DB         string   // the database
	Collection string   // the collection, "" for a command on none
	Body       bson.Raw // the whole command, its document sequences as arrays
	Seq        int      // 1 for the first command that the engine's Intercept sees, and so on
}

// Action is what happens to a command. The zero Action lets it pass. Delay and
// Wait come first and combine with the others, of which at most one is set.
type Action struct {
	Delay time.Duration   // let it wait so long
	Wait  <-chan struct{} // let it wait until something is received, or the channel closed

	Fail      *mongoerr.Error // answer with this error, without running it
	CutBefore bool            // close the connection without running it
	CutAfter  bool            // run it, then close the connection without a reply

	// FailAfter runs the command and then answers with this error in place of
	// the reply. With HostUnreachable, say, it looks to an application like a
	// lost reply, but the driver goes on at once: after a cut it waits for up
	// to half a second before it uses the server again.
	FailAfter *mongoerr.Error

	// Concern runs the command and adds this error to its reply as its
	// writeConcernError.
	Concern *mongoerr.Error
}

// intercept asks the hook about a command, and waits as it says. It returns
// an error when the command must not run.
func (r *request) intercept() (Action, error) {
	e := r.engine
	if e.options.Intercept == nil || r.command.unseen && !e.options.InterceptAll {
		return Action{}, nil
	}
	body, err := value.Append(nil, r.body)
	if err != nil {
		return Action{}, err
	}
	action := e.options.Intercept(Command{
		Name: r.name, DB: r.db, Collection: r.collection(), Body: body, Seq: int(e.faults.Add(1)),
	})
	if err := action.hold(r.ctx); err != nil {
		return action, err
	}
	switch {
	case action.CutBefore:
		return action, errCut
	case action.Fail != nil:
		return action, r.label(action.Fail)
	}
	return action, nil
}

// hold waits as long as the action says, or until the connection ends.
func (a Action) hold(ctx context.Context) error {
	if a.Delay > 0 {
		timer := time.NewTimer(a.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	if a.Wait != nil {
		select {
		case <-a.Wait:
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	return nil
}

// settle changes the answer of a command that has run as the action says.
func (r *request) settle(a Action, rep reply, err error) (reply, error) {
	if a.CutAfter {
		return nil, errCut
	}
	if a.FailAfter != nil {
		return nil, r.label(a.FailAfter)
	}
	if a.Concern != nil && err == nil {
		rep = append(slices.Clip(rep), concernError(a.Concern))
		if len(a.Concern.Labels) > 0 {
			rep = append(rep, bson.E{Key: "errorLabels", Value: stringArray(a.Concern.Labels)})
		}
	}
	return rep, err
}

// concernError is the field of a reply that says why a write concern wasn't met.
func concernError(e *mongoerr.Error) bson.E {
	return bson.E{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name}, {Key: "errmsg", Value: e.Message},
	}}
}

// retryable lists the codes after which a driver may send a command again.
var retryable = []int32{
	mongoerr.HostUnreachable, mongoerr.HostNotFound, mongoerr.NetworkTimeout, mongoerr.ShutdownInProgress,
	mongoerr.PrimarySteppedDown, mongoerr.ExceededTimeLimit, mongoerr.NotWritablePrimary,
	mongoerr.InterruptedAtShutdown, mongoerr.InterruptedDueToReplStateChange,
	mongoerr.NotPrimaryNoSecondaryOk, mongoerr.NotPrimaryOrSecondary, 134, 9001,
}

const retryableWriteError = "RetryableWriteError"

// label gives an error that has no labels those that a server would add: in a
// transaction TransientTransactionError, else RetryableWriteError for a write
// that may be sent again. Give an error an empty list of labels to prevent it.
func (r *request) label(e *mongoerr.Error) *mongoerr.Error {
	if e.Labels != nil {
		return e
	}
	labelled := *e
	ends := r.name == "commitTransaction" || r.name == "abortTransaction"
	again := slices.Contains(retryable, e.Code)
	switch {
	case r.inTransaction() && !ends && (again || transientCode(e.Code)),
		ends && e.Code == mongoerr.NoSuchTransaction:
		labelled.Labels = []string{store.TransientTransactionError}
	case again && (ends || r.hasNumber && !r.inTransaction()):
		labelled.Labels = []string{retryableWriteError}
	}
	return &labelled
}

func transientCode(code int32) bool {
	switch code {
	case mongoerr.WriteConflict, mongoerr.LockTimeout, mongoerr.SnapshotUnavailable, mongoerr.NoSuchTransaction:
		return true
	}
	return false
}
