package core_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/core"
)

// What is appended element by element is what the driver makes of the whole document.
func TestAppendElementAsTheDriver(t *testing.T) {
	type line struct {
		Text string    `bson:"text"`
		At   time.Time `bson:"at,omitempty"`
	}
	small := model.CollectionOptions{BSON: &options.BSONOptions{IntMinSize: true}}
	values := []any{
		nil, true, "", "é\x00b", 0, -1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt64, int8(3), int32(-7),
		int64(7), uint16(9), 1.5, math.NaN(), math.Copysign(0, -1), time.Time{},
		time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Now(), bson.NewObjectID(), bson.DateTime(-5),
		bson.Null{}, bson.Regex{Pattern: "^a"}, line{}, line{"a", time.Unix(1, 0)}, &line{"b", time.Time{}},
		[]line{{Text: "c"}}, []string{"x", ""}, []byte("bytes"), bson.A{1, bson.D{{Key: "a", Value: int64(2)}}},
		bson.D{{Key: "$n", Value: "x"}}, map[string]int{"one": 1},
		bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}, []any(nil), map[string]any(nil),
	}
	for _, o := range []model.CollectionOptions{{}, small} {
		c := model.NewCollectionWith[bson.D, string]("c", o).Docs()
		for _, v := range values {
			enc, err := c.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			twice := bson.D{{Key: "v", Value: enc}, {Key: "w", Value: enc}}
			want, err := bson.Marshal(bson.D{{Key: "in", Value: twice}})
			if err != nil {
				t.Fatal(err)
			}
			got, begun := core.AppendDocument(make([]byte, 4), bson.TypeEmbeddedDocument, "in")
			for _, name := range []string{"v", "w"} {
				if got, err = c.AppendElement(got, name, v); err != nil {
					t.Fatalf("%T %v: %v", v, v, err)
				}
			}
			got = core.EndDocument(core.EndDocument(got, begun), 0)
			if !bytes.Equal(got, want) {
				t.Errorf("%T %v\n got %s\nwant %s", v, v, bson.Raw(got), bson.Raw(want))
			}
		}
	}
}

func TestAppendElementRefuses(t *testing.T) {
	c := model.NewCollection[bson.D, string]("c").Docs()
	for _, bad := range []struct {
		name string
		v    any
		want string
	}{
		{"a\x00b", 1, "null"},
		{"a", make(chan int), "chan int"},
		{"a", uint64(math.MaxUint64), "overflow"},
		{"a", bson.RawValue{}, ""},
		{"a", bson.RawValue{Type: bson.TypeRegex}, "a valid regex"},
	} {
		if _, err := c.AppendElement(nil, bad.name, bad.v); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q: %v is appended: %v, want %q", bad.name, bad.v, err, bad.want)
		}
	}
}
