package design

import (
	"slices"
	"time"
)

// A Workload describes what an application stores and asks for: its entities, the
// relations between them, and its operations with their rates. It does not say how
// anything is stored.
type Workload struct {
	Name       string
	Entities   []Entity
	Relations  []Relation
	Operations []Operation
	Server     Server
}

// Scaled returns the workload with fewer documents, for a trial. An entity of more than
// 100 documents keeps the given share of them, but at least 100. So the ratio between two
// entities changes if one of them would have had fewer than 100 documents, and with it
// the prices.
func (w Workload) Scaled(share float64) Workload {
	w.Entities = slices.Clone(w.Entities)
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Count > 100 {
			e.Count = max(100, int64(float64(e.Count)*share+0.5))
		}
	}
	return w
}

// An Entity is one kind of document, such as users or items. Its name is also the name of
// its collection.
type Entity struct {
	Name   string
	Count  int64 // number of documents, at most 2^31
	Fields []Field
}

// A Field is a field of an [Entity]. Every document also has an _id, an ObjectID. The
// fields that hold relations are not listed here.
type Field struct {
	Name string

	// Text is the length in bytes of the text in the field. 0 means a number or a date of
	// eight bytes.
	Text int64

	// Values is the number of different values. An operation that finds documents by this
	// field finds Count / Values of them. The default is Count: every document has a value
	// of its own.
	Values int64

	// Grows means that every new document gets a greater value than all documents before
	// it, and that the value never changes: the time at which a comment was written. A
	// Paged relation can return its newest children by such a field.
	Grows bool
}

// A Relation connects two entities. Every child has one parent, or Each parents. A parent has
// any number of children.
//
// If the links of a many-to-many relation have fields of their own, such as a grade or a
// date, make the links an entity with one relation to each side.
type Relation struct {
	Child  string // the entity of the children: "bids"
	Field  string // the name of the parent in the child: "item"
	Parent string // the entity of the parents: "items"
	List   string // the name of the children in the parent: "bids"

	// Each is the number of parents of every child. The default is 1. With more, the relation
	// is many-to-many: as a Reference, the child holds a list of _ids.
	Each int64

	// Max is the greatest number of children of one parent. The default is five times the
	// average.
	Max int64

	// Fixed means that the application never lets a parent have more than Max children.
	Fixed bool

	// Ordered means that the children of a parent have an order that is chosen by hand, such
	// as the songs of a playlist.
	Ordered bool
}

// Name is the name of the relation in a [Layout]: the child and the field, "bids.item".
func (r Relation) Name() string { return r.Child + "." + r.Field }

// An Operation is what the application does for one request: some accesses, in order.
type Operation struct {
	Name     string
	Rate     float64 // how often it comes in a unit of time, such as a second; the same unit for all operations
	Accesses []Access

	// Within is the longest time that the operation may take, by its price. A layout under
	// which an operation takes longer is worse than every layout that keeps all limits. 0
	// means no limit.
	Within time.Duration
}

// An Access reads or writes documents of one entity.
//
// Documents have names within an operation, so that two accesses can mean the same
// document. A document is named like its entity unless the access gives it another name,
// behind an equal sign. Here a user sends a comment to another user:
//
//	{Of: "users", By: []string{"_id"}},          // reads the user named "users"
//	{Of: "users", By: []string{"_id=receiver"}}, // reads another user
//	{Do: Insert, Of: "comments", By: []string{"fromUser", "toUser=receiver"}},
type Access struct {
	Do Action
	Of string // the entity

	// By lists the paths by whose values the documents are found: "_id", a field, a relation
	// ("item" finds the bids of an item), or a field or relation of the parent
	// ("seller.region").
	//
	// An Update or Delete takes "_id" alone. An Insert needs By only for parents that have
	// another name than their entity, as "toUser=receiver".
	By []string

	// Since limits a read to documents with at least some value at this path. Share is the
	// share of documents that remain: 0.1 is one in ten. The results are sorted by Since,
	// the greatest first. Order may then be left out.
	Since string
	Share float64

	Order string // the path to sort by, the greatest first; "" means any order
	Limit int64  // number of results; 0 means all

	// Fields lists what an Update changes: fields, and many-to-many relations, to which it adds
	// the parent that is named like its entity. For a Read, Fields lists what is shown beside
	// the document itself: fields of parents ("user.nickname", or "item.*" for all) and totals
	// of children ("count(bids)", "sum(bids.qty)", "min(bids.price)", "max(bids.price)"). A Read
	// always returns all fields of the document.
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

// A Server describes the server that the workload runs on.
type Server struct {
	// Transactions means that writes of several documents run in a transaction
	// (model.WithTransactions): the writes that an operation sends together, and the writes
	// of one method of a technique. The server must be MongoDB 8.0 or later. By default
	// nothing runs in a transaction.
	Transactions bool

	// Shards is the number of shards. All collections are sharded by a hash of _id. The
	// default is 1.
	Shards int64

	// Memory is the size in bytes of the documents and indexes that fit into memory. If the
	// data is larger, the same share of all documents must be read from disk. By default
	// everything fits.
	Memory int64

	Costs Costs
}

// Costs say how long each part of an operation takes. A field that is 0 has the value of
// [DefaultCosts].
type Costs struct {
	Command  time.Duration // one command: the round trip and the server's work for any command
	Shard    time.Duration // each shard after the first that a command is sent to
	Read     time.Duration // one document that is returned
	Written  time.Duration // one document that is written
	Scanned  time.Duration // one index entry that is read
	Entry    time.Duration // one index entry that is written
	Kilobyte time.Duration // 1024 bytes that are returned
	Loaded   time.Duration // 1024 bytes of the whole documents that the server reads or writes
	Disk     time.Duration // one document that is read from disk
}

// DefaultCosts are this package's own estimates for a server in the same data centre. Only
// their ratios decide between two layouts. Measure your own server if a design is close.
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
