package core

import (
	"context"
	"sync"
)

// Collations remembers the collections whose default collation is the simple one. A handle
// shares it with the handles that are made from it. Its methods accept nil, which
// remembers nothing.
type Collations struct {
	mu     sync.RWMutex
	simple map[string]bool
}

// IsSimple reports whether the collection was added.
func (c *Collations) IsSimple(collection string) bool {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.simple[collection]
}

// AddSimple adds a collection.
func (c *Collations) AddSimple(collection string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.simple == nil {
		c.simple = map[string]bool{}
	}
	c.simple[collection] = true
}

// CollationsOf returns what the handle remembers, or nil for a *mongo.Database.
func CollationsOf(db DB) *Collations {
	if h, ok := db.(*Handle); ok && h != nil {
		return h.Collations
	}
	return nil
}

// TextTenant returns a field of the handle's tenant whose value is a string, or "".
func TextTenant(db DB) string {
	if h, ok := db.(*Handle); ok && h != nil {
		return h.TextTenant
	}
	return ""
}

// CheckTenantNames refuses a collection in which the names of two tenants can be equal, because
// of its default collation. Package model sets it.
var CheckTenantNames func(ctx context.Context, db DB, collection string) error
