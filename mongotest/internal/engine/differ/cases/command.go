package cases

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// MapCommand is the case whose command has gone through f.
func (c Case) MapCommand(f func(any) any) Case {
	c.Command, _ = tree.Map(c.Command, f).(bson.D)
	return c
}

// Uses reports whether the command has one of the operators.
func (c Case) Uses(names ...string) bool {
	found := false
	tree.Walk(c.Command, func(key string, _ any) { found = found || slices.Contains(names, key) })
	return found
}

// HasValue reports whether a value of the command or of its documents is of a kind.
func (c Case) HasValue(is func(any) bool) bool {
	found := false
	for _, v := range []any{c.Command, c.Docs, c.Other} {
		tree.WalkValues(v, func(v any) { found = found || is(v) })
	}
	return found
}

// IsUpdate reports whether the command is an update or a findAndModify.
func (c Case) IsUpdate() bool {
	return c.Verb() == "update" || c.Verb() == "findAndModify" && c.Get("update") != nil
}

// Statement is a field of the only statement of an update.
func (c Case) Statement(key string) any {
	statements, _ := c.Get("updates").(bson.A)
	if len(statements) == 0 {
		return nil
	}
	return tree.Lookup(statements[0], key)
}

// Change is what an update or findAndModify does: operators, a replacement or a pipeline.
func (c Case) Change() any {
	if c.Verb() == "findAndModify" {
		return c.Get("update")
	}
	return c.Statement("u")
}

// HasOperators reports whether the update has operators.
func (c Case) HasOperators() bool {
	u, _ := c.Change().(bson.D)
	return len(u) > 0 && strings.HasPrefix(u[0].Key, "$")
}

// IsUpsert reports whether the command is one that inserts what it doesn't find.
func (c Case) IsUpsert() bool { return c.Get("upsert") == true || c.Statement("upsert") == true }

// Filter is the query of the command.
func (c Case) Filter() any {
	for _, key := range []string{"filter", "query"} {
		if v := c.Get(key); v != nil {
			return v
		}
	}
	if deletes, ok := c.Get("deletes").(bson.A); ok {
		return tree.Lookup(deletes[0], "q")
	}
	return c.Statement("q")
}
