package design

import (
	"slices"
	"time"
)

// A Workload describes an application's entities, relations and operations, without their
// storage.
type Workload struct {
	Name       string
	Entities   []Entity
	Relations  []Relation
	Operations []Operation
	Server     Server
}

// Scaled returns the workload with that share of documents, for a trial, but at least 100
// of each larger entity. So ratios and prices can change.
func (w Workload) Scaled(share float64) Workload {
	w.Entities = slices.Clone(w.Entities)
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Count > 100 {
			e.Count = max(100, int64(float64(e.Count)*share+0.5))
		}
	}
	return w
}

// An Entity is a kind of document. Its name is its collection's name.
type Entity struct {
	Name   string
	Count  int64 // number of documents, at most 2^31
	Fields []Field
}

// A Field is a field of an [Entity], other than the _id and relations.
type Field struct {
	Name string

	// Text is the length of a text in bytes. 0 means a number or date.
	Text int64

	// Values is the number of different values. An operation by this field finds Count /
	// Values documents. The default is Count.
	Values int64

	// Grows means that each new document gets a greater value, such as a creation time,
	// which never changes. Paged relations return their newest children by it.
	Grows bool
}

// A Relation connects two entities. If the links of a many-to-many relation have fields,
// make them an entity with a relation to each side.
type Relation struct {
	Child  string // the children's entity: "bids"
	Field  string // the parent's name in the child: "item"
	Parent string // the parents' entity: "items"
	List   string // the children's name in the parent: "bids"

	// Each is the number of parents of every child, by default 1. More make the relation
	// many-to-many: a Reference is then a list of _ids in the child.
	Each int64

	// Max is the most children of a parent, by default five times the average.
	Max int64

	// Fixed means that the application enforces Max.
	Fixed bool

	// Ordered means that a parent's children are ordered by hand, as in a playlist.
	Ordered bool
}

// Name returns the relation's name in a [Layout]: "bids.item".
func (r Relation) Name() string { return r.Child + "." + r.Field }

// An Operation is what the application does for one request: accesses in order.
type Operation struct {
	Name     string
	Rate     float64 // frequency, in the same unit of time for all operations
	Accesses []Access

	// Within is the operation's time limit, by its price. Layouts that break limits are
	// worse than all others. 0 means no limit.
	Within time.Duration
}

// An Access reads or writes documents of one entity.
//
// Documents have names within an operation. The name is the entity's, or follows an equal
// sign. Here a user sends a comment to another user:
//
//	{Of: "users", By: []string{"_id"}},          // reads the user named "users"
//	{Of: "users", By: []string{"_id=receiver"}}, // reads another user
//	{Do: Insert, Of: "comments", By: []string{"fromUser", "toUser=receiver"}},
type Access struct {
	Do Action
	Of string // the entity

	// By lists the paths that find the documents: "_id", a field, a relation ("item"
	// finds the bids of an item), or a field or relation of the parent ("seller.region").
	// An Update or Delete takes only "_id". An Insert lists only parents with another
	// name than their entity: "toUser=receiver".
	By []string

	// Since limits a read to documents with at least some value at this path. Share is
	// the remaining share: 0.1 is one in ten. Without Order, the results are sorted by
	// Since, greatest first.
	Since string
	Share float64

	Order string // the path to sort by, greatest first; "" means any order
	Limit int64  // number of results; 0 means all

	// Fields lists what an Update changes: fields, and many-to-many relations, which get
	// the parent that is named like its entity. A Read always returns the whole document.
	// Fields adds fields of parents ("user.nickname", or "item.*" for all) and totals of
	// children ("count(bids)", "sum(bids.qty)", "min(bids.price)", "max(bids.price)").
	Fields []string
}

// An Action is what an [Access] does.
type Action uint8

const (
	Read Action = iota
	Insert
	Update
	Delete
)

// String returns the action as a verb: read.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "do"
}

var actionNames = [...]string{"read", "insert", "update", "delete"}

// A Server describes the server of the workload.
type Server struct {
	// Transactions means that an operation's writes, and those of a technique's method,
	// run in a transaction (model.WithTransactions). It needs MongoDB 8.0 or later.
	Transactions bool

	// Shards is the number of shards, by default 1. Collections are sharded by hashed
	// _id.
	Shards int64

	// Memory is the bytes of documents and indexes that fit into memory. The rest is read
	// from disk. By default everything fits.
	Memory int64

	Costs Costs
}

// Costs say how long each part of an operation takes. A zero field has the value of
// [DefaultCosts].
type Costs struct {
	Command  time.Duration // a command: the round trip and basic work
	Shard    time.Duration // each further shard of a command
	Read     time.Duration // a document returned
	Written  time.Duration // a document written
	Scanned  time.Duration // an index entry read
	Entry    time.Duration // an index entry written
	Kilobyte time.Duration // 1024 bytes returned
	Loaded   time.Duration // 1024 bytes of whole documents that are read or written
	Disk     time.Duration // a document read from disk
}

// DefaultCosts are estimates for a server in the same data centre. Only their ratios
// decide.
var DefaultCosts = Costs{
	Command:  400 * time.Microsecond,
	Shard:    100 * time.Microsecond,
	Read:     4 * time.Microsecond,
	Written:  40 * time.Microsecond,
	Scanned:  500 * time.Nanosecond,
	Entry:    8 * time.Microsecond,
	Kilobyte: 10 * time.Microsecond,
	Loaded:   2 * time.Microsecond,
	Disk:     150 * time.Microsecond,
}
