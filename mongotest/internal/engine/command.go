package engine

import "github.com/docmodel/docmodel/internal/mongoerr"

// command is one command of the engine. A file cmd_….go has one or several, and commands.go lists them all.
type command struct {
	name    string
	aliases []string
	fields  []string // what it takes beside its own name and the generic fields
	txn     bool     // it may run in a transaction
	writes  bool     // it writes to the collection that it names
	admin   bool     // it runs on the admin database only
	open    bool     // it takes fields of any name
	refused string   // it is known, and not supported for this reason
	run     func(r *request) (reply, error)
}

// commandTable is commands by name and alias.
type commandTable map[string]*command

// lookup returns the command of that name, or the error that says there is none.
func (t commandTable) lookup(name string) (*command, error) {
	c := t[name]
	if c == nil {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", name)
	}
	return c, nil
}

// checkSupported refuses a command that is known and not supported. Fail points act on such a command before.
func (c *command) checkSupported(name string) error {
	if c.refused == "" {
		return nil
	}
	return mongoerr.New(mongoerr.CommandNotSupported, "command %s is not supported: %s", name, c.refused)
}
