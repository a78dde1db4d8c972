package relate_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// fill stores some thousand documents of each kind, of which a query by reference matches few.
func fill(t *testing.T, db *mongo.Database) {
	t.Helper()
	const n = 4000
	d := docs{}
	for i := range n {
		d["screws"] = append(d["screws"], screw{ID: fmt.Sprint("c", i)})
		d["gadgets"] = append(d["gadgets"], gadget{ID: fmt.Sprint("g", i), Screws: []string{fmt.Sprint("c", i), fmt.Sprint("c", (i+1)%n)}})
		d["folios"] = append(d["folios"], folio{ID: [12]byte{1, 10: byte(i >> 8), 11: byte(i)}, Holdings: []holding{{int64(i), 1}, {int64(i + 1), 1}}})
		d["servers"] = append(d["servers"], server{ID: fmt.Sprint("s", i)})
		d["entries"] = append(d["entries"], entry{i, fmt.Sprint("s", i%400), at(i)})
	}
	d["entriesById"] = d["entries"]
	if err := store(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}
