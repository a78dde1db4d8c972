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

// Scaled returns the workload with a share of its documents, for a trial. An entity with
// 100 documents or more keeps at least 100.
func (w Workload) Scaled(share float64) Workload {
	w.Entities = slices.Clone(w.Entities)
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Count > 100 {
			e.Count = max(100, int64(float64(e.Count)*share+0.5))
		}
	}
	return w
}

// An Entity is a kind of document. Its Name is also the name of the collection.
type Entity struct {
	Name   string
	Count  int64 // number of documents, at most 2^31
	Fields []Field
}

// A Field is a field of an [Entity], other than the _id and relations.
type Field struct {
	Name string

	// Text is the length of a string in bytes. 0 means a number or date.
	Text int64

	// Values is the number of different values. 0 means that all values differ. A filter
	// for one value matches Entity.Count / Values documents.
	Values int64

	// Grows means that newer documents have greater values, such as creation times. Text
	// and Values must be 0, and no operation can update the field. For [Paged] children,
	// a sort by a field without Grows reads all pages.
	Grows bool
}

// A Relation connects two entities. For many-to-many links with fields, declare a third
// entity with a relation to each side.
type Relation struct {
	Child  string // the children's entity: "bids"
	Field  string // child's field that references the parent: "item"
	Parent string // the parents' entity: "items"
	List   string // a parent's field for the children: "bids"

	// Each is the number of parents per child, by default 1. Above 1, the relation is
	// many-to-many.
	Each int64

	// Max is the maximum of children per parent, by default five times the average.
	Max int64

	// Fixed means that the application never exceeds Max.
	Fixed bool

	// Ordered means that users order a parent's children, as in a playlist.
	Ordered bool
}

// name returns the relation's name in a [Layout]: "bids.item".
func (r Relation) name() string { return r.Child + "." + r.Field }

// An Operation is a kind of request. For one request, the application runs the Accesses
// in order.
type Operation struct {
	Name     string
	Rate     float64 // requests per unit of time, the same unit for all operations
	Accesses []Access

	// Within is the operation's limit for [Price].Time. 0 means no limit.
	// [Workload.Design] prefers layouts that exceed fewer limits.
	Within time.Duration
}

// An Access reads or writes documents of one entity.
//
// The field By gives names to documents. Inside an operation, one name means one
// document.
//
//	"_id=x"   finds the document named x
//	"item=x"  the relation "item" leads to the document named x
//
// Without "=x", the document is named after its entity. Here, the user "users" sends a
// comment to the user "receiver":
//
//	{Of: "users", By: []string{"_id"}},          // reads the user named "users"
//	{Of: "users", By: []string{"_id=receiver"}}, // reads another user
//	{Do: Insert, Of: "comments", By: []string{"toUser=receiver"}}, // fromUser is "users"
type Access struct {
	Do Action
	Of string // the entity

	// By lists the paths that find the documents. An Update or Delete needs "_id".
	//
	//	"_id", "name"    the _id, or a field
	//	"item"           a relation: finds the bids of an item
	//	"seller.region"  a field or relation of a parent
	//
	// For an Insert, By gives names to parent documents, such as "item=x": see [Access].
	// The default name is the parent entity's name.
	By []string

	// Since is the path of a field. A Read finds documents by a minimum value of this
	// field ($gte), greatest value first. Share is the fraction of documents that match
	// this condition, above 0 and at most 1.
	Since string
	Share float64

	Order string // path to sort by, greatest value first; the default is Since
	Limit int64  // maximum number of results; 0 means all

	// For an Update, Fields lists the changed fields. If the Update adds a many-to-many
	// parent, list Relation.Field too.
	//
	// A Read returns the whole document. For a Read, Fields adds more:
	//
	//	"user.nickname"  a parent's field
	//	"item.*"         all fields of a parent
	//	"count(bids)"    the number of children
	//	"sum(bids.qty)"  a total of children; also "min(…)" and "max(…)"
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

// text returns the action as a verb: read.
func (a Action) text() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "do"
}

var actionNames = [...]string{"read", "insert", "update", "delete"}

// A Server describes the server of a [Workload].
type Server struct {
	// Transactions makes operations use model.WithTransactions. The [Price] of such an
	// operation assumes MongoDB 8.0 or later.
	Transactions bool

	// Shards is the number of shards. 0 means 1. All collections have the shard key
	// {_id: "hashed"}.
	Shards int64

	// Memory is the memory of all shards for documents and indexes, in bytes. 0 means
	// that everything fits.
	Memory int64

	Costs Costs
}

// Costs are the times of the parts of an operation. In a [Workload], a zero field means
// the value in [DefaultCosts].
type Costs struct {
	Command  time.Duration // time of a command: the round trip and basic work
	Shard    time.Duration // time per shard, after a command's first shard
	Read     time.Duration // time per document returned
	Written  time.Duration // time per document written
	Scanned  time.Duration // time per index entry read
	Entry    time.Duration // time per index entry written
	Kilobyte time.Duration // time per 1024 bytes returned
	Loaded   time.Duration // time per 1024 bytes of whole documents, read or written
	Disk     time.Duration // time per document read from disk
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
