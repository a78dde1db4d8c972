package keys_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func shardReadings(n int, device func(i int) any, at func(i int) any) []bson.D {
	out := make([]bson.D, n)
	for i := range out {
		out[i] = shardD("_id", bson.NewObjectIDFromTimestamp(time.Unix(int64(i), 0)), "device", device(i),
			"at", at(i), "site", i%2)
	}
	return out
}

func shardKinds(d keys.Distribution) (kinds []string) {
	for _, w := range d.Warnings {
		kind, _, _ := strings.Cut(w, ": ")
		kinds = append(kinds, kind)
	}
	return kinds
}

// What each kind of key comes to.
func TestShardDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	minute := func(i int) any { return bson.DateTime(i * 60000) }
	spread := func(int) any { return fmt.Sprintf("dev%04d", r.IntN(5000)) }
	one := func(i int) any {
		if i%10 < 6 {
			return "busy"
		}
		return spread(i)
	}
	few := func(i int) any { return []string{"a", "b", "c", "d"}[r.IntN(4)] }
	half := func(i int) any {
		if i%4 == 0 {
			return nil
		}
		return float64(i) / 2
	}
	large := keys.SampleSpec{Shards: 4, Documents: 1e8}
	byTime := keys.NewShard(readings, shardD("at", 1, "device", 1), keys.ShardSpec{})
	byHalf := keys.NewShard(readings, shardD("device", "hashed", "at", 1), keys.ShardSpec{})
	for _, test := range []struct {
		reason string
		key    *keys.Shard[bson.D]
		docs   []bson.D
		spec   keys.SampleSpec
		want   []string
		even   bool // what is stored, and what is written
		writes bool
	}{
		{"by many devices and time", byDevice, shardReadings(2000, spread, minute), large, nil, true, true},
		{"by a hash of many devices", byHash, shardReadings(2000, spread, minute), large, nil, true, true},
		{"by a hash of _id", byReading2, shardReadings(2000, spread, minute), large, nil, true, true},
		{"by ObjectIDs", byReading, shardReadings(2000, spread, minute), large, []string{"monotonic"}, true, false},
		{"by time", byTime, shardReadings(2000, spread, minute), large, []string{"monotonic"}, true, false},
		{
			reason: "by time, in no order", key: byTime,
			docs: shardReadings(2000, spread, func(int) any { return bson.DateTime(r.IntN(1e9)) }),
			spec: large, want: []string{"monotonic"}, even: true, writes: true,
		},
		{
			reason: "by a hash of few devices", key: byHash, docs: shardReadings(2000, few, minute), spec: large,
			want: []string{"few keys", "jumbo chunk", "frequent key", "hot shard"},
			even: false, writes: false,
		},
		{
			reason: "by a hash, one of which is busy", key: byHash, docs: shardReadings(2000, one, minute),
			spec: keys.SampleSpec{Shards: 4, Documents: 1e7},
			want: []string{"jumbo chunk", "frequent key", "hot shard"},
			even: false, writes: false,
		},
		{"by a busy device and time", byDevice, shardReadings(2000, one, minute), large, []string{"hot shard"}, true, false},
		{"a small collection", byDevice, shardReadings(1000, spread, minute), keys.SampleSpec{}, nil, false, true},
		{
			reason: "doubles, and some missing", key: byHalf, docs: shardReadings(2000, half, minute), spec: large,
			want: []string{"hot shard", "hashed doubles"}, even: false, writes: false,
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			d, err := test.key.Distribution(test.docs, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := shardKinds(d); !slices.Equal(got, test.want) {
				t.Errorf("warnings %v, want %q", d.Warnings, test.want)
			}
			shares, writes, docs := 0.0, 0.0, int64(0)
			most, mostWritten := 0.0, 0.0
			for _, s := range d.Shards {
				shares, writes, docs = shares+s.Share, writes+s.Writes, docs+s.Documents
				most, mostWritten = max(most, s.Share), max(mostWritten, s.Writes)
			}
			want := max(test.spec.Documents, 0)
			if want == 0 {
				want = int64(len(test.docs))
			}
			if math.Abs(shares-1) > 1e-9 || math.Abs(writes-1) > 1e-9 || docs < want-9 || docs > want+9 ||
				d.Documents != len(test.docs) {
				t.Errorf("shares %v, writes %v, documents %d of %d: %+v", shares, writes, docs, want, d)
			}
			fair := 1.3 / float64(len(d.Shards))
			if (most < fair) != test.even || (mostWritten < fair) != test.writes {
				t.Errorf("the largest share is %.2f, of writes %.2f: %+v", most, mostWritten, d.Shards)
			}
		})
	}
}

// The sums of what is told are those of a plain count.
func TestShardDistributionCounts(t *testing.T) {
	docs := shardReadings(400, func(i int) any { return i % 7 }, func(i int) any { return int64(i % 3) })
	docs = append(docs, shardD("_id", bson.ObjectID{1}, "device", int64(3)),
		shardD("_id", bson.ObjectID{2}, "device", 3.0, "at", nil))
	d, err := byDevice.Distribution(docs, keys.SampleSpec{Hot: 2})
	if err != nil {
		t.Fatal(err)
	}
	if d.Keys != 22 || d.Missing != 1 || len(d.Hot) != 2 || d.Documents != 402 {
		t.Errorf("%+v", d)
	}
	if top := d.Hot[0]; model.Shell(top.Key) != "{device: 0, at: Long('0')}" || top.Share != 20./402 || top.Jumbo {
		t.Errorf("%+v", top)
	}
	if got := shardKinds(d); !slices.Equal(got, []string{"few keys", "missing fields"}) {
		t.Errorf("warnings %v", d.Warnings)
	}
	var exact []bson.D
	for _, id := range []int{1, 2, 3, 4, 3, 3, 1, 9} {
		exact = append(exact, shardD("_id", id))
	}
	if d, err := byReading.Distribution(exact, keys.SampleSpec{Shards: 2, Range: 1}); err != nil ||
		d.Shards[0].Writes != 0.25 || d.Rising != 0.25 || d.Chunks != 5 || d.Jumbo != 2 {
		t.Errorf("a range begins with its first key, and ends before the next one's: %+v, %v", d, err)
	}
	// The most frequent key is small; two others are larger than a chunk.
	var sized []bson.D
	for i, n := range []int{0, 0, 0, 0, 1, 1, 2, 2} {
		sized = append(sized, shardD("_id", i, "device", n, "at", 0, "pad", make([]byte, n<<20)))
	}
	if d, err := byDevice.Distribution(sized, keys.SampleSpec{Range: 1 << 20}); err != nil || d.Jumbo != 2 ||
		model.Shell(d.Hot[0].Key) != "{device: 0, at: 0}" ||
		!strings.Contains(fmt.Sprint(d.Warnings),
			"2 of 3 keys: documents with the same key can't be split, and a chunk has 1 MiB: {device: 2, at: 0} has 4 MiB, {device: 1, at: 0} has 2 MiB; add") {
		t.Errorf("what is larger than a chunk: %+v, %v", d.Warnings, err)
	}
	if d, err := byDevice.Distribution(nil, keys.SampleSpec{}); err != nil || d.Documents != 0 || d.Warnings != nil {
		t.Errorf("of nothing: %+v, %v", d, err)
	}
	if d, err := byDevice.Distribution(docs[:1], keys.SampleSpec{}); err != nil || d.Keys != 1 ||
		d.Chunks != 1 || d.Warnings != nil {
		t.Errorf("of one: %+v, %v", d, err)
	}
}

func TestShardDistributionRefuses(t *testing.T) {
	_, array := byDevice.Distribution([]bson.D{shardD("device", bson.A{1}, "at", 1)}, keys.SampleSpec{})
	_, inArray := keys.NewShard(readings, shardD("a.b", 1), keys.ShardSpec{}).
		Distribution([]bson.D{shardD("a", bson.A{shardD("b", 1)})}, keys.SampleSpec{})
	_, negative := byDevice.Distribution(nil, keys.SampleSpec{Shards: -1})
	_, unknown := byDevice.Distribution([]bson.D{shardD("device", make(chan int))}, keys.SampleSpec{})
	for reason, err := range map[string]error{
		"an array": array, "in an array": inArray, "a negative number": negative, "a channel": unknown,
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "docmodel: ") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// Values of one type that isn't ordered by bytes alone, and of several, stand as MongoDB's order has them.
func TestShardOrder(t *testing.T) {
	list := []any{
		bson.MinKey{}, nil, math.NaN(), math.Inf(-1), int64(math.MinInt64), -1.5, int32(-1), int64(0), 0.5, int32(1),
		int64(1 << 53), int64(1<<53 + 1), float64(1 << 54), math.Inf(1), "", "a", "é", bson.D{}, shardD("a", 1),
		shardD("b", 1), shardD("b", 1, "a", 1), shardD("a", "x"), bson.ObjectID{1}, bson.ObjectID{2}, false, true,
		bson.DateTime(-1), bson.DateTime(1), bson.DateTime(256), bson.Timestamp{T: 1, I: 256},
		bson.Timestamp{T: 256}, bson.MaxKey{},
	}
	docs := make([]bson.D, len(list))
	for i, v := range list {
		docs[i] = shardD("_id", v, "n", i)
	}
	// Ascending, all of the later half is above the earlier; turned round, none.
	up, err := byReading.Distribution(docs, keys.SampleSpec{})
	if err != nil || math.Abs(up.Rising-1) > 1e-9 || up.Keys != len(list) {
		t.Errorf("ascending: %+v, %v", up, err)
	}
	for i := range docs[1:] {
		pair := []bson.D{docs[i], docs[i+1]}
		if d, _ := byReading.Distribution(pair, keys.SampleSpec{}); d.Rising != 1 || d.Keys != 2 {
			t.Errorf("%s is not above %s", model.Shell(list[i+1]), model.Shell(list[i]))
		}
		slices.Reverse(pair)
		if d, _ := byReading.Distribution(pair, keys.SampleSpec{}); d.Rising != 0 {
			t.Errorf("%s is not below %s", model.Shell(list[i]), model.Shell(list[i+1]))
		}
	}
	for _, pair := range [][2]any{
		{int32(2), "10"}, {"2", int64(10)}, {1.5, "256"}, {"-3", "1E-3"}, {"NaN", math.Inf(-1)},
	} { // texts are Decimal128s
		docs := make([]bson.D, 2)
		for i, v := range pair {
			if text, ok := v.(string); ok {
				v, _ = bson.ParseDecimal128(text)
			}
			docs[i] = shardD("_id", v)
		}
		if d, _ := byReading.Distribution(docs, keys.SampleSpec{}); d.Rising != 1 {
			t.Errorf("%s is not above %s", model.Shell(docs[1]), model.Shell(docs[0]))
		}
	}
	if d, _ := byReading.Distribution([]bson.D{shardD("_id", 1), shardD("_id", 1.0), shardD("_id", int64(1))},
		keys.SampleSpec{}); d.Keys != 1 {
		t.Errorf("equal numbers are %d keys", d.Keys)
	}
}
