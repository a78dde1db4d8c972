package design

import (
	"slices"
	"time"
)

// A Workload is what an application stores and asks for: the entities, the relations between them, and the operations
// with their rates. It says nothing about how anything is stored.
type Workload struct {
	Name       string
	Entities   []Entity
	Relations  []Relation
	Operations []Operation
	Server     Server
}

// Scaled returns the workload with fewer documents, for a trial: each entity of more than 100 documents has the given share of
// them, and at least 100. Relations, operations and rates stay.
func (w Workload) Scaled(share float64) Workload {
	w.Entities = slices.Clone(w.Entities)
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Count > 100 {
			e.Count = max(100, int64(float64(e.Count)*share+0.5))
		}
	}
	return w
}

// An Entity is one kind of thing: users, items. Where its documents have a collection of their own, its name is the
// collection's.
type Entity struct {
	Name   string
	Count  int64 // how many there are
	Fields []Field
}

// A Field is a field of an [Entity], beside its _id, which is an ObjectID, and beside its relations.
type Field struct {
	Name string

	// Text is how many bytes of text the field holds. 0 means that it holds a number or a date, of eight bytes.
	Text int64

	// Values is how many different values there are. The default is one for each document.
	Values int64

	// Grows says that each new document has a greater value than all before it, and that it stays: the time of a comment.
	Grows bool
}

// A Relation belongs to two entities: each child has one parent, and a parent has any number of children.
type Relation struct {
	Child  string // the entity of the children: "bids"
	Field  string // the child's name for its parent: "item"
	Parent string // the entity of the parents: "items"
	List   string // the parent's name for its children: "bids"

	// Max is how many children the parent has that has most. The default is five times the average.
	Max int64

	// Fixed says that a rule of the application keeps the number of a parent's children at or below Max.
	Fixed bool

	// Ordered says that a parent's children have an order that is made by hand: the songs of a playlist.
	Ordered bool
}

// Name is the relation's name in a [Layout]: the child and its field, as in "bids.item".
func (r Relation) Name() string { return r.Child + "." + r.Field }

// An Operation is what the application does for one request: some accesses, in order.
type Operation struct {
	Name     string
	Rate     float64 // how often it comes; all rates of a workload have one unit, such as a second
	Accesses []Access

	// Within is how long the operation may take by its price. A [Layout] under which an operation takes longer comes
	// after all that keep the limit. 0 means that there is no limit.
	Within time.Duration
}

// An Access reads or writes the documents of one entity.
//
// The documents that an operation touches have names. The name is that of the entity: two accesses of users by _id in one
// operation are for the same user. Where an operation touches two users, write the name behind the path: "_id=seller",
// "toUser=seller".
type Access struct {
	Do Action
	Of string // the entity

	// By are the paths that the application has values for: "_id", a field, a relation ("item" for the bids of an item),
	// or a field or relation of the parent ("seller.region"). An update or deletion is by "_id" alone. An insertion
	// may name the relations whose parents aren't called like their entity.
	By []string

	// Since is a path with a smallest value: documents whose value is at least that. Share is how many of the documents that By
	// selects that leaves: 0.1 is one in ten. Results come in the order of Since, or of Order.
	Since string
	Share float64

	Order string // the path by whose values the results are sorted, the greatest first; "" is any order
	Limit int64  // how many are wanted; 0 means all

	// Fields are the paths that are shown or changed. A read shows all the document's own fields, whatever is named here; add the
	// fields of parents that are shown as well: "user.nickname", or "item.*" for all; and how many children there are:
	// "count(bids)". An update names what it changes.
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

// String is the action as a verb: read.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "do"
}

var actionNames = [...]string{"read", "insert", "update", "delete"}

// A Server is what the workload runs on.
type Server struct {
	// Transactions says that the writes of an action come about together: those of more than one document run in a transaction
	// (model.WithTransactions). An action is the writes that an operation sends together, or what a technique does for one insertion or
	// deletion. The server is a MongoDB 8.0 or later. By default nothing runs in a transaction.
	Transactions bool

	// Shards is over how many servers the collections are spread, by a hash of _id. The default is one.
	Shards int64

	// Memory is how many bytes of documents and indexes the server can hold. What is read beyond its share costs
	// Costs.Disk as well. The default is enough for all.
	Memory int64

	Costs Costs
}

// Costs are what the parts of an operation take. A field that is zero stands for that of [DefaultCosts].
type Costs struct {
	Command  time.Duration // a command: the way to the server and back, and what the server does for any command
	Shard    time.Duration // each further shard that a command is sent to
	Read     time.Duration // a document that is read
	Written  time.Duration // a document that is written
	Scanned  time.Duration // an entry of an index that is read
	Entry    time.Duration // an entry of an index that is written
	Kilobyte time.Duration // 1024 bytes that are returned
	Loaded   time.Duration // 1024 bytes of documents that the server reads or writes, whole, whatever is returned of them
	Disk     time.Duration // a document that isn't in memory
}

// DefaultCosts are this package's own figures for a server in the same data centre. What decides between two layouts are their
// ratios. Measure your own server where a design is close.
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
