package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// Figures are how much a collection holds, as collStats and $collStats show it.
type Figures struct {
	Documents int64
	Bytes     int64 // of the documents, encoded
	Indexes   []IndexFigures
}

// IndexFigures are how much an index holds, as indexSizes of collStats shows it.
type IndexFigures struct {
	Name  string
	Keys  int64
	Bytes int64 // of the keys, encoded
}

// IndexBytes returns how many bytes the indexes hold together.
func (f Figures) IndexBytes() (n int64) {
	for _, x := range f.Indexes {
		n += x.Bytes
	}
	return n
}

// Figures counts what the collection holds, by reading all of it. The figures are those of encoded values, so they
// aren't a server's, which compresses.
func (c *Collection) Figures(w *interrupt.Watch) (f Figures, err error) {
	for r := range c.Records.All() {
		if err := w.Step(); err != nil {
			return f, err
		}
		f.Documents++
		f.Bytes += int64(bsonval.Size(r.Doc))
	}
	for _, x := range c.Indexes {
		if x.Spec.Clustered { // it is the documents
			continue
		}
		one := IndexFigures{Name: x.Spec.Name}
		for e := range x.Entries.All() {
			if err := w.Step(); err != nil {
				return f, err
			}
			one.Keys++
			one.Bytes += int64(bsonval.SizeOf(bson.A(e.Key), MaxDocument))
		}
		f.Indexes = append(f.Indexes, one)
	}
	return f, nil
}
