package design

import (
	"slices"
	"time"
)

// A Workload describes an application's entities, relations and operations, but not how
// data is stored.
type Workload struct {
	Name       string
	Entities   []Entity
	Relations  []Relation
	Operations []Operation
	Server     Server
}

// Scaled returns the workload with a share of its documents, for a trial. It keeps at
// least 100 documents of each entity that has more.
func (w Workload) Scaled(share float64) Workload {
	w.Entities = slices.Clone(w.Entities)
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Count > 100 {
			e.Count = max(100, int64(float64(e.Count)*share+0.5))
		}
	}
	return w
}

// An Entity is a kind of document. Its Name is also the collection's.
type Entity struct {
	Name   string
	Count  int64 // number of documents, at most 2^31
	Fields []Field
}

// A Field is a field of an [Entity], other than the _id and relations.
type Field struct {
	Name string

	// Text is the length of a string in bytes. 0 means that the field is a number or
	// date.
	Text int64

	// Values is the number of different values. An operation by this field finds
	// Entity.Count / Values documents. 0 means that all values differ.
	Values int64

	// Grows means that new documents have greater values, such as creation times. A
	// value never changes. Paged relations need Grows to find the newest children.
	Grows bool
}

// A Relation connects two entities. If the links of a many-to-many relation have fields,
// make them an entity with a relation to each side.
type Relation struct {
	Child  string // the children's entity: "bids"
	Field  string // the parent's name in the child: "item"
	Parent string // the parents' entity: "items"
	List   string // the children's name in the parent: "bids"

	// Each is the number of parents of every child, by default 1. More than 1 makes
	// the relation many-to-many.
	Each int64

	// Max is the greatest number of children of a parent, by default five times the
	// average.
	Max int64

	// Fixed means that the application never exceeds Max.
	Fixed bool

	// Ordered means that a parent's children are ordered by hand, as in a playlist.
	Ordered bool
}

// Name returns the relation's name in a [Layout]: "bids.item".
func (r Relation) Name() string { return r.Child + "." + r.Field }

// An Operation is what the application does for one request: Accesses, in order.
type Operation struct {
	Name     string
	Rate     float64 // frequency, in the same unit of time for all operations
	Accesses []Access

	// Within is the greatest time that the operation's Price may have. Layouts that
	// exceed it are worse than all others. 0 means no limit.
	Within time.Duration
}

// An Access reads or writes documents of one entity.
//
// Within an operation, documents have names, so that several accesses can mean the same
// document. In By, "_id=x" finds the document named x. "item=x" means that the relation
// item leads to document x. Without an equal sign, the document has the entity's name.
// Here the user "users" sends a comment to the user "receiver":
//
//	{Of: "users", By: []string{"_id"}},          // reads the user named "users"
//	{Of: "users", By: []string{"_id=receiver"}}, // reads another user
//	{Do: Insert, Of: "comments", By: []string{"toUser=receiver"}}, // fromUser is "users"
type Access struct {
	Do Action
	Of string // the entity

	// By lists the paths that find the documents: "_id", a field, a relation ("item"
	// finds the bids of an item), or a field or relation of the parent ("seller.region").
	// By of an Update or Delete can only be "_id".
	//
	// By of an Insert names the parents of the new document: "toUser=receiver" (for
	// names, see [Access]). If By omits a relation, the relation leads to the document
	// with the name of the parent entity: "users".
	By []string

	// Since is the path of a field. A Read with Since returns only documents whose field
	// reaches some bound. Share is the fraction of documents that reach the bound: above
	// 0, at most 1. The results are sorted by Since, greatest first.
	Since string
	Share float64

	Order string // path to sort by, greatest first; "" means any order, or by Since
	Limit int64  // number of results; 0 means all

	// Fields of an Update are the changed fields. If Fields contains a many-to-many
	// relation (its Relation.Field), the Update adds a parent.
	//
	// A Read returns the whole document. Fields adds fields of parents ("user.nickname",
	// or "item.*" for all) and totals of children ("count(bids)", "sum(bids.qty)",
	// "min(bids.price)", "max(bids.price)").
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

// A Server describes the workload's server.
type Server struct {
	// Transactions makes operations use model.WithTransactions. Each model.Change of a
	// technique is one transaction. Other writes that an operation sends together are one
	// transaction. The prices are those of MongoDB 8.0 or later.
	Transactions bool

	// Shards is the number of shards, by default 1. Collections are sharded by hashed
	// _id.
	Shards int64

	// Memory is how many bytes of documents and indexes fit into memory. Other bytes are
	// read from disk. 0 means that everything fits.
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

// DefaultCosts are estimates for a server in the same data centre.
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
