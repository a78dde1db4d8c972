package engine

import "github.com/docmodel/docmodel/internal/mongoerr"

// command is one command of the engine. A file cmd_….go has one or several, and commands.go lists them all.
type command struct {
	name    string
	aliases []string // older names of it, such as isMaster
	fields  []string // the fields that it takes, beside the generic fields and its own name
	txn     bool     // it may run in a transaction
	writes  bool     // it writes to the collection that it names
	admin   bool     // it runs on the admin database only
	open    bool     // it takes fields of any name
	refused string   // why it isn't supported; "" for a command that runs
	run     func(r *request) (reply, error)
}

// commandTable has commands by name and alias.
type commandTable map[string]*command

// lookup returns the command of that name, or MongoDB's error for an unknown command. Names have a case: "Find" isn't
// one.
func (t commandTable) lookup(name string) (*command, error) {
	c := t[name]
	if c == nil {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", name)
	}
	return c, nil
}

// checkSupported refuses a command that MongoDB has and the engine doesn't. It is called after fail points have acted,
// so that a test can let any command of MongoDB fail.
func (c *command) checkSupported(name string) error {
	if c.refused == "" {
		return nil
	}
	return mongoerr.New(mongoerr.CommandNotSupported, "command %s is not supported: %s", name, c.refused)
}
