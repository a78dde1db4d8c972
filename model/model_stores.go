package model

import (
	"maps"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// modelStores are the stores of a model, by collection.
type modelStores struct {
	mu     sync.Mutex
	stores map[string]*store
}

func (m *modelStores) add(s *store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores == nil {
		m.stores = map[string]*store{}
	}
	if earlier := m.stores[s.docs.Name()]; earlier != nil {
		s.compareField(earlier.docs)
	}
	m.stores[s.docs.Name()] = s
}

// sorted returns the stores in the order of the collections' names.
func (m *modelStores) sorted() (out []*store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.stores)) {
		out = append(out, m.stores[name])
	}
	return out
}

// Stores returns the stores that [NewStore] has made of the model, one for each collection,
// for tools such as modeltest.Verify. Their documents are bson.Raw. A bson.Raw isn't
// compared with the Go type of the collection.
func (m *Model) Stores() (out []*Store[bson.Raw, any]) {
	m.mustExist("Model.Stores")
	for _, s := range m.stores.sorted() {
		raw := *s
		raw.docs = s.docs.AsRaw()
		out = append(out, &Store[bson.Raw, any]{docs: &Collection[bson.Raw, any]{raw.docs}, in: &raw})
	}
	return out
}

// Collection returns the store's collection, for reads.
func (s *Store[D, K]) Collection() *Collection[D, K] { return s.docs }

// ID returns the _id under which Insert stores the document, whether the caller gives it or
// a technique makes it. The errors are those of [Store.Insert] before it sends anything.
func (s *Store[D, K]) ID(doc D) (id K, err error) {
	raw, err := s.checked(&doc)
	if err != nil {
		return id, err
	}
	var stored D
	if err := s.docs.Docs().Decode(raw, &stored); err != nil {
		return id, err
	}
	return s.docs.ID(&stored)
}
