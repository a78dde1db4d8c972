package mongotest

import "slices"

// A Match selects commands, for example for [Faults.On]. [All] and [Writes] are
// matches. [Named], [On] and [Both] return matches. Your own function can inspect
// Command.Body, which includes an insert's documents. A Match isn't asked about
// handshakes, server monitoring and endSessions.
type Match func(Command) bool

// All matches every command.
func All(Command) bool { return true }

// Writes matches commands that change data or collections: insert, update, delete,
// findAndModify, bulkWrite, an aggregate with $merge or $out, commitTransaction, create,
// createIndexes, drop, dropDatabase, dropIndexes, collMod and renameCollection.
func Writes(c Command) bool {
	switch c.Name {
	case "insert", "update", "delete", "findAndModify", "findandmodify", "bulkWrite", "commitTransaction",
		"create", "createIndexes", "drop", "dropDatabase", "dropIndexes", "collMod", "renameCollection":
		return true
	case "aggregate":
		stages, ok := c.Body.Lookup("pipeline").ArrayOK()
		if !ok {
			return false
		}
		values, _ := stages.Values()
		if len(values) == 0 {
			return false
		}
		last, ok := values[len(values)-1].DocumentOK()
		if !ok {
			return false
		}
		stage, err := last.IndexErr(0)
		return err == nil && (stage.Key() == "$merge" || stage.Key() == "$out")
	}
	return false
}

// Named matches commands by name: "insert", "update", "findAndModify".
func Named(names ...string) Match {
	names = slices.Clone(names)
	return func(c Command) bool { return slices.Contains(names, c.Name) }
}

// On matches commands on one of the named collections.
func On(collections ...string) Match {
	collections = slices.Clone(collections)
	return func(c Command) bool { return c.Collection != "" && slices.Contains(collections, c.Collection) }
}

// Both matches the commands that all given Matches match: Both(mongotest.Writes,
// mongotest.On("products")).
func Both(matches ...Match) Match {
	matches = slices.Clone(matches)
	return func(c Command) bool {
		for _, m := range matches {
			if !m(c) {
				return false
			}
		}
		return true
	}
}
