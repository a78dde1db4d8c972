package core

import (
	"runtime"
	"sync"
	"weak"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Collations remembers the collections of a client whose default collation is the simple
// one. Under a tenant whose name is a string, package model must know this before the first
// command (model/default_collation.go): another collation can make "acme" and "ACME" equal. A
// collection's default never changes, so one answer serves all later commands. Its methods
// accept nil, which remembers nothing. They are safe for concurrent use.
type Collations struct {
	mu     sync.RWMutex
	simple map[[2]string]bool // by database and collection
}

// IsSimple reports whether the collection was added. False means that it isn't known.
func (c *Collations) IsSimple(database, collection string) bool {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.simple[[2]string{database, collection}]
}

// AddSimple adds a collection.
func (c *Collations) AddSimple(database, collection string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.simple == nil {
		c.simple = map[[2]string]bool{}
	}
	c.simple[[2]string{database, collection}] = true
}

// collations has the Collations of each client. The keys are weak pointers, and the cleanup of a
// client removes its entry: a program that makes many clients doesn't keep them in memory.
var collations sync.Map

// CollationsOf returns what is remembered for the database's client.
func CollationsOf(db DB) *Collations {
	client := db.Client()
	if client == nil {
		return nil
	}
	key := weak.Make(client)
	if c, ok := collations.Load(key); ok {
		return c.(*Collations)
	}
	c, there := collations.LoadOrStore(key, &Collations{})
	if !there { // only the call that stored the entry adds the cleanup
		runtime.AddCleanup(client, func(key weak.Pointer[mongo.Client]) { collations.Delete(key) }, key)
	}
	return c.(*Collations)
}
