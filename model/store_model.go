package model

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Stores returns the stores that [NewStore] has made of the model, one for each collection,
// for tools such as modeltest.Verify. Their documents are bson.Raw. A bson.Raw isn't
// compared with the Go type of the collection.
func (m *Model) Stores() (out []*Store[bson.Raw, any]) {
	m.mustExist("Model.Stores")
	for _, s := range m.stores.sorted() {
		raw := *s.(*store)
		raw.docs = s.collection().AsRaw()
		out = append(out, &Store[bson.Raw, any]{docs: &Collection[bson.Raw, any]{raw.docs}, in: &raw})
	}
	return out
}
