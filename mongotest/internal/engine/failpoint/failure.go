package failpoint

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

// Failure is the data of a fail point: the commands that fail, and how they fail. It never changes.
type Failure struct {
	Commands  []string // names and aliases
	All       bool     // every command but configureFailPoint
	App       string   // "" for each application's
	Namespace string   // "" for each

	Close   bool          // close the connection in place of an answer
	Block   bool          // wait before the command runs
	Wait    time.Duration // how long, if Block is true
	HasCode bool          // fail with Code
	Code    int32
	Info    bson.D   // of the error, beside its code
	Concern bson.D   // the writeConcernError of a command that went well
	Labels  []string // of the error; nil for those that the engine gives it, empty for no labels
}

// readCommand reads the data of failCommand
// (https://github.com/mongodb/mongo/blob/r8.0.0/src/mongo/db/commands/fail_command_failpoint.idl).
func readCommand(a *args.Reader) (f Failure) {
	a.Fail(a.CheckKnown([]string{
		"failCommands", "failAllCommands", "appName", "namespace", "threadName", "closeConnection",
		"blockConnection", "blockTimeMS", "errorCode", "errorExtraInfo", "errorLabels", "writeConcernError",
		"failInternalCommands", "failLocalClients",
	}))
	a.Refuse("threadName")
	a.Refuse("failInternalCommands", false, true) // there are none
	a.Refuse("failLocalClients", false, true)
	f.readWhich(a)
	f.All = a.Boolean("failAllCommands", false)
	f.Commands = a.Texts("failCommands")
	f.Close = a.Boolean("closeConnection", false)
	f.readBlock(a)
	f.readCode(a, "errorCode")
	if a.HasField("errorExtraInfo") {
		f.Info = a.Document("errorExtraInfo")
		if !f.HasCode {
			a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'errorExtraInfo' needs an 'errorCode'"))
		}
	}
	if a.HasField("errorLabels") {
		f.Labels = append([]string{}, a.Texts("errorLabels")...)
	}
	f.Concern = a.Document("writeConcernError")
	return f
}

// readGetMore reads the data of failGetMoreAfterCursorCheckout. It always fails with a code.
func readGetMore(a *args.Reader) (f Failure) {
	a.Fail(a.CheckKnown([]string{"errorCode", "closeConnection", "appName", "namespace", "threadName"}))
	a.Refuse("threadName")
	a.Refuse("closeConnection", false)
	f.readWhich(a)
	f.readCode(a, "errorCode")
	if !f.HasCode {
		a.Require("errorCode")
	}
	return f
}

// readRetryableWrite reads the data of onPrimaryTransactionalWrite. Unlike failCommand it closes the connection unless
// the data says otherwise. failBeforeCommitExceptionCode undoes the statement.
func readRetryableWrite(a *args.Reader) (f Failure) {
	a.Fail(a.CheckKnown([]string{"closeConnection", "failBeforeCommitExceptionCode"}))
	f.Close = a.Boolean("closeConnection", true)
	f.readCode(a, "failBeforeCommitExceptionCode")
	return f
}

// readWhich reads which commands fail.
func (f *Failure) readWhich(a *args.Reader) {
	f.App, f.Namespace = a.Text("appName"), a.Text("namespace")
}

// readCode reads the code of the error.
func (f *Failure) readCode(a *args.Reader, name string) {
	f.HasCode = a.HasField(name)
	f.Code = int32(a.Integer(name, 0))
}

// readBlock reads how long commands wait.
func (f *Failure) readBlock(a *args.Reader) {
	f.Block = a.Boolean("blockConnection", false)
	f.Wait = time.Duration(a.Integer("blockTimeMS", 0)) * time.Millisecond
	switch {
	case f.Block && !a.HasField("blockTimeMS"):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "must specify 'blockTimeMS' when 'blockConnection' is true"))
	case f.Wait < 0:
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'blockTimeMS' must be non-negative"))
	}
}

// Caller is the command that runs, as fail points see it. The engine makes one for each call of [Failure.IsAbout].
type Caller struct {
	Name      string   // of the command
	Sent      string   // the name or alias that the client sent
	Aliases   []string // of the command
	App       string   // the application's name
	Namespace string   // the namespace that the client may name in a fail point
}

// IsAbout reports whether the data is about the command. configureFailPoint itself never fails, so that a client can
// always switch a fail point off.
func (f *Failure) IsAbout(c Caller) bool {
	switch {
	case c.Name == "configureFailPoint",
		f.App != "" && f.App != c.App,
		f.Namespace != "" && f.Namespace != c.Namespace:
		return false
	case f.All:
		return true
	}
	return slices.ContainsFunc(f.Commands, func(name string) bool {
		if c.Name == "hello" && (name == "hello" || c.Sent == "hello") { // isMaster is a command of its own
			return name == c.Sent
		}
		return name == c.Name || slices.Contains(c.Aliases, name)
	})
}

// NewError returns the error that the fail point asks for.
func (f *Failure) NewError(message string) *mongoerr.Error {
	err := mongoerr.New(f.Code, "%s", message)
	err.Extra, err.Labels = f.Info, f.Labels
	return err
}
