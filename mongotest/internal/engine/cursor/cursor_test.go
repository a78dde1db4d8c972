package cursor_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
)

// text returns a document with that many bytes of text.
func text(n int) bson.D { return bson.D{{Key: "text", Value: strings.Repeat("x", n)}} }

func TestBatch(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		why   string
		docs  []bson.D
		limit int64
		sizes []int // of the batches
	}{
		{"no document", nil, 10, []int{0}},
		{"a limit", []bson.D{text(1), text(2), text(3)}, 2, []int{2, 1}},
		{"no limit", []bson.D{text(1), text(2), text(3)}, -1, []int{3}},
		{"as many bytes as fit", []bson.D{text(9 * mega), text(6 * mega), text(2 * mega)}, -1, []int{2, 1}},
	} {
		x := &cursor.Cursor{Source: cursor.NewDocuments(c.docs)}
		for i, want := range c.sizes {
			docs, more, err := x.Batch(c.limit)
			if len(docs) != want || more != (i < len(c.sizes)-1) || err != nil {
				t.Errorf("%s: batch %d has %d documents, more %v, %v; want %d", c.why, i, len(docs), more, err, want)
			}
		}
	}
	x := &cursor.Cursor{Source: cursor.NewDocuments([]bson.D{text(17 * mega)})}
	if _, _, err := x.Batch(-1); mongoerr.CodeOf(err) != mongoerr.BSONObjectTooLarge {
		t.Errorf("a document that is too large gave %v", err)
	}
}
