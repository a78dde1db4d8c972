package engine

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// command is one command of the engine. Each registers itself, from the file
// that holds it.
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

var commands = map[string]*command{}

func register(list ...*command) {
	for _, c := range list {
		commands[c.name] = c
		for _, a := range c.aliases {
			commands[a] = c
		}
	}
}

// Commands returns the engine's command names, sorted.
func Commands() []string {
	var names []string
	for name, c := range commands {
		if c.refused == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lookup returns the command of that name, or the error that says there is none.
func lookup(name string) (*command, error) {
	c := commands[name]
	if c == nil {
		return nil, mongoerr.New(mongoerr.CommandNotFound, "no such command: '%s'", name)
	}
	return c, nil
}

// supported returns the error of a command that is known, and not supported. Fail points act on it before.
func (c *command) supported(name string) error {
	if c.refused == "" {
		return nil
	}
	return mongoerr.New(mongoerr.CommandNotSupported, "command %s is not supported: %s", name, c.refused)
}
