package core_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The first version is made from the token, which tells the lives of a document apart.
func TestFirstVersion(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	seen := map[int64]bool{}
	for n := range 1000 {
		op := bson.ObjectID{10: byte(n >> 8), 11: byte(n)}
		binary.BigEndian.PutUint32(op[:], uint32(at.Unix()))
		first := core.FirstVersion(op)
		if since := first - at.UnixMicro(); since < 1 || since > 1_000_000 || first != core.FirstVersion(op) {
			t.Fatalf("%s: version %d", op, first)
		}
		seen[first] = true
	}
	if len(seen) < 990 {
		t.Errorf("%d versions of 1000 tokens", len(seen))
	}
	if last := core.FirstVersion(bson.ObjectID{255, 255, 255, 255}); last < 0 || last > 1<<53 {
		t.Errorf("the latest token gives version %d", last)
	}
}
