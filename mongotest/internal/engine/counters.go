package engine

import (
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// counters count commands for serverStatus, since the engine's start. Connections add to them at the same time.
type counters struct {
	requests, failed                                atomic.Int64 // all commands; commands with an error
	insert, query, update, delete, getMore, command atomic.Int64 // opcounters, by kind
}

// count notes a command by its kind. An insert, update or delete counts once for each of its statements, as in MongoDB
// (https://www.mongodb.com/docs/manual/reference/command/serverStatus/#opcounters). It is called when the command
// begins, so that commands that fail are counted too. A bulkWrite counts as a command here, and once more for each of
// its operations, see countBulk.
func (n *counters) count(r *request) {
	n.requests.Add(1)
	size := func(name string) int64 {
		list, _ := bsonval.Get(r.body, name)
		a, _ := list.(bson.A)
		return int64(len(a))
	}
	switch r.command.name {
	case "insert":
		n.insert.Add(size("documents"))
	case "update":
		n.update.Add(size("updates"))
	case "delete":
		n.delete.Add(size("deletes"))
	case "find", "aggregate":
		n.query.Add(1)
	case "getMore":
		n.getMore.Add(1)
	default:
		n.command.Add(1)
	}
}

// countBulk notes one operation of a bulkWrite by its kind.
func (n *counters) countBulk(kind string) {
	switch kind {
	case "insert":
		n.insert.Add(1)
	case "update":
		n.update.Add(1)
	case "delete":
		n.delete.Add(1)
	}
}
