package model

import (
	"maps"
	"slices"
	"sync"

	"github.com/docmodel/docmodel/internal/core"
)

// modelStores are the stores of a model, by collection.
type modelStores struct {
	mu     sync.Mutex
	stores map[string]modelStore
}

// A modelStore is a store as its model knows it.
type modelStore interface {
	// collection returns the collection that the store writes.
	collection() *core.Docs

	// compareField panics if another declaration of the collection has another field of stores.
	compareField(other *core.Docs)

	// reactedCollections returns the collections whose documents can tell of unfinished actions
	// of the store.
	reactedCollections() []string

	// unfinishedCheck finds the unfinished actions of a collection.
	unfinishedCheck(collection string) Check
}

func (m *modelStores) add(s modelStore) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores == nil {
		m.stores = map[string]modelStore{}
	}
	if earlier := m.stores[s.collection().Name()]; earlier != nil {
		s.compareField(earlier.collection())
	}
	m.stores[s.collection().Name()] = s
}

// sorted returns the stores in the order of the collections' names.
func (m *modelStores) sorted() (out []modelStore) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.stores)) {
		out = append(out, m.stores[name])
	}
	return out
}

// checks returns the checks that find unfinished actions, of all collections whose documents
// can tell of them.
func (m *modelStores) checks() (out []Check) {
	of := map[string]modelStore{}
	for _, s := range m.sorted() {
		for _, collection := range s.reactedCollections() {
			if of[collection] == nil {
				of[collection] = s
			}
		}
	}
	for _, collection := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[collection].unfinishedCheck(collection))
	}
	return out
}
