package engine

// This file makes an engine with the table of all commands.

import (
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// New returns an empty engine.
func New() *Engine {
	e := &Engine{
		store:    store.New(),
		commands: commands,
		began:    time.Now(), // real time: SetClock replaces it
		conns:    map[*conn]struct{}{},
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e
}

// commands are the commands of all files. A command can't refer to this table, because Go doesn't allow a variable that
// refers to itself: a command that runs another one finds it by its engine.
var commands = joinCommands(
	findCommands, aggregateCommands, countCommands, distinctCommands, explainCommands, cursorCommands,
	insertCommands, updateCommands, deleteCommands, findAndModifyCommands, bulkWriteCommands,
	createCommands, collectionsCommands, collModCommands, cappedCommands, renameCommands, indexesCommands,
	sessionCommands, helloCommands, statusCommands, statsCommands, parameterCommands, failPointCommands, shardCommands,
)

// joinCommands makes a table of the commands of several files, by their names and aliases.
func joinCommands(files ...[]*command) commandTable {
	all := commandTable{}
	for _, c := range slices.Concat(files...) {
		for _, name := range append([]string{c.name}, c.aliases...) {
			all[name] = c
		}
	}
	return all
}

// Commands returns the names and aliases of the commands that the engine runs, sorted. Fuzz tests begin with them.
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
