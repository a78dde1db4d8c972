package composite_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
)

// What the tests are about: somebody in a city of a state, and whatever a part can be.
type (
	resident struct {
		ID    string `bson:"_id"`
		State string `bson:"state"`
		City  string `bson:"city"`
		User  int64  `bson:"user"`
		Name  string `bson:"name,omitempty"`
	}
	compositeTuple struct {
		text string
		n    int64
		at   int64 // milliseconds
		id   bson.ObjectID
		last string
	}
)

var (
	residents = model.NewCollection[resident, string]("residents")
	byPlace   = keys.NewComposite(residents, keys.Text("state"), keys.Text("city"), keys.Int("user"))

	loose = model.NewCollection[bson.D, string]("loose")
	ofAll = keys.NewComposite(loose, keys.Text("text"), keys.Int("n"), keys.Time("at"),
		keys.ID("id"), keys.Text("last"))
	byDocs   = model.NewCollection[bson.D, bson.D]("documents")
	placeDoc = keys.NewDocumentKey(byDocs, keys.Text("state"), keys.Text("city"), keys.Int("user"))
)

func (x compositeTuple) values() []any {
	return []any{x.text, x.n, bson.DateTime(x.at), x.id, x.last}
}

func (x compositeTuple) key(t testing.TB) string {
	t.Helper()
	key, err := ofAll.KeyOf(x.values()...)
	if err != nil {
		t.Fatalf("%v: %v", x, err)
	}
	return key
}

func (x compositeTuple) compare(y compositeTuple) int {
	return cmp.Or(cmp.Compare(x.text, y.text), cmp.Compare(x.n, y.n), cmp.Compare(x.at, y.at),
		cmp.Compare(string(x.id[:]), string(y.id[:])), cmp.Compare(x.last, y.last))
}

const (
	firstMilli = -62167219200000 // the year 0
	lastMilli  = 253402300799999 // the end of 9999
)

var (
	compositeTexts = []string{
		"", " ", "  ", "a", "a ", "a  ", "a b", "a  b", "a !", "a 5", "a :", "a ;", "a <", "a =", "a <b", "a ;I",
		"a :b", ":", " :", ";", "<", "\x00", "a\x00", "a\x00b", "a \x00", "a \x00 b", "\t", "a\t", "a\tb", "a\x1f",
		"a\x1f ",
		"a!", "a\x7f", "é", "a é", "e\u0301", "\U0001f9e9", "a\U0010ffff", "CA", "CAX", "CA ", "CA:", "San",
		"San Francisco", "San 5", "San-", "Saint", "$where", "^.*", "|", "{", "\uFFFD", "\uD7FF", "\uE000",
	}
	compositeInts = []int64{
		math.MinInt64, math.MinInt64 + 1, -1e18, -100, -99, -10, -9, -1, 0, 1, 9, 10, 42, 99, 100, 1e18,
		math.MaxInt64 - 1,
		math.MaxInt64,
	}
	compositeTimes = []int64{firstMilli, firstMilli + 1, -1, 0, 1, 1395997200000, lastMilli}
)

// Keys stand as their values do, and give them back.
func TestCompositeOrder(t *testing.T) {
	id := bson.ObjectID{11: 1}
	var all []compositeTuple
	for _, s := range compositeTexts {
		all = append(all, compositeTuple{text: s, id: id}, compositeTuple{id: id, last: s},
			compositeTuple{text: s, id: id, last: "z"}, compositeTuple{text: s, n: -5, id: id})
	}
	for _, n := range compositeInts {
		all = append(all, compositeTuple{n: n, id: id}, compositeTuple{text: "a ", n: n, id: id})
	}
	for _, at := range compositeTimes {
		all = append(all, compositeTuple{at: at, id: id}, compositeTuple{at: at, id: bson.ObjectID{0: 0xff}})
	}
	list := make([]string, len(all))
	for i, x := range all {
		list[i] = x.key(t)
		wantComposite(t, x, list[i])
	}
	for i, x := range all {
		for j, y := range all {
			if c := cmp.Compare(list[i], list[j]); c != x.compare(y) {
				t.Fatalf("%q and %q stand as %d, %v and %v as %d", list[i], list[j], c, x, y, x.compare(y))
			}
		}
	}
}

// wantComposite reads a key back.
func wantComposite(t testing.TB, want compositeTuple, key string) {
	t.Helper()
	var got compositeTuple
	var at time.Time
	if err := ofAll.Scan(key, &got.text, &got.n, &at, &got.id, &got.last); err != nil {
		t.Fatalf("%q: %v", key, err)
	}
	if got.at = at.UnixMilli(); got != want {
		t.Fatalf("%q is %v, want %v", key, got, want)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' }) {
		t.Fatalf("%q has control characters", key)
	}
}

// compositeValues are all parts of a key of ofAll.
func compositeValues(key string) ([]any, error) {
	var (
		text, last string
		n          int64
		at         time.Time
		id         bson.ObjectID
	)
	err := ofAll.Scan(key, &text, &n, &at, &id, &last)
	return []any{text, n, at, id, last}, err
}

// What keys look like.
func TestCompositeKeys(t *testing.T) {
	id, at := bson.ObjectID{0x50, 0x7f, 11: 1}, time.Date(2014, 3, 28, 9, 0, 0, 123456789, time.FixedZone("", 3600))
	for _, test := range []struct {
		want   string
		values []any
	}{
		{"CA :b42:2014-03-28T08:00:00.123Z:507f00000000000000000001:San Francisco",
			[]any{"CA", 42, at, id, "San Francisco"}},
		{" :a0:0000-01-01T00:00:00.000Z:507f00000000000000000001:",
			[]any{"", int32(0), bson.DateTime(firstMilli), id, ""}},
		{
			want:   "Route <66 :S8:9999-12-31T23:59:59.999Z:507f00000000000000000001: <",
			values: []any{"Route 66", -1, bson.DateTime(lastMilli), id, " "},
		},
		{
			want:   "a ;Ib ;@ :A0776627963145224191:1970-01-01T00:00:00.000Z:507f00000000000000000001:x: <:",
			values: []any{"a\tb\x00", math.MinInt64, bson.DateTime(0), id, "x: :"},
		},
	} {
		if key, err := ofAll.KeyOf(test.values...); key != test.want || err != nil {
			t.Errorf("%v: %q, %v; want %q", test.values, key, err, test.want)
		}
		back, err := compositeValues(test.want)
		if err != nil {
			t.Errorf("%q: %v", test.want, err)
			continue
		}
		if key, err := ofAll.KeyOf(back...); key != test.want || err != nil {
			t.Errorf("%v: %q, %v; want %q", back, key, err, test.want)
		}
	}
}

func FuzzCompositeOrder(f *testing.F) {
	for i, s := range compositeTexts {
		next := compositeTexts[(i+1)%len(compositeTexts)]
		n := compositeInts[i%len(compositeInts)]
		f.Add(s, next, n, -n, compositeTimes[i%len(compositeTimes)], int64(0), []byte{1}, next, s)
	}
	f.Fuzz(func(t *testing.T, s1, s2 string, n1, n2, at1, at2 int64, id []byte, last1, last2 string) {
		clamp := func(at int64) int64 { return max(firstMilli, min(lastMilli, at)) }
		x := compositeTuple{
			text: strings.ToValidUTF8(s1, "?"), n: n1, at: clamp(at1), id: bson.ObjectID{11: 1},
			last: strings.ToValidUTF8(last1, "?"),
		}
		y := compositeTuple{
			text: strings.ToValidUTF8(s2, "?"), n: n2, at: clamp(at2), id: x.id, last: strings.ToValidUTF8(last2, "?"),
		}
		copy(y.id[:], id)
		if y.id.IsZero() {
			y.id = x.id
		}
		pairs := []compositeTuple{x, y}
		for _, change := range []func(*compositeTuple){ // so that later parts decide, too
			func(z *compositeTuple) { z.text = x.text },
			func(z *compositeTuple) { z.n = x.n },
			func(z *compositeTuple) { z.at = x.at },
			func(z *compositeTuple) { z.id = x.id },
		} {
			z := pairs[len(pairs)-1]
			change(&z)
			pairs = append(pairs, z)
		}
		kx := x.key(t)
		for _, z := range pairs {
			kz := z.key(t)
			wantComposite(t, z, kz)
			if cmp.Compare(kx, kz) != x.compare(z) {
				t.Fatalf("%q and %q stand as %d, %v and %v as %d", kx, kz, cmp.Compare(kx, kz), x, z, x.compare(z))
			}
		}
	})
}

// What is no key is refused, and what is one is the only key of its values.
func FuzzCompositeParse(f *testing.F) {
	for _, s := range compositeTexts {
		f.Add(s)
		f.Add(s + " :a0:1970-01-01T00:00:00.000Z:507f00000000000000000001:" + s)
	}
	for _, s := range compositeMalformed {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		values, err := compositeValues(key)
		var bad *model.ValueError
		switch {
		case err != nil && !errors.As(err, &bad):
			t.Fatalf("%q: %T", key, err)
		case err != nil:
			_ = err.Error()
			return
		}
		if again, err := ofAll.KeyOf(values...); again != key || err != nil {
			t.Fatalf("%q is %v, whose key is %q, %v", key, values, again, err)
		}
	})
}

// Parts that no field holds are read from the _id.
func TestCompositeKeyOnly(t *testing.T) {
	x := keys.NewComposite(residents, keys.Text("state"), keys.Time("since").KeyOnly(), keys.Int("user"))
	key, err := x.KeyOf("CA", time.UnixMilli(0), 7)
	if err != nil {
		t.Fatal(err)
	}
	ann := resident{ID: key, State: "CA", User: 7}
	if got, err := x.Key(&ann); got != key || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, doc := range []resident{
		{State: "CA", User: 7}, {ID: key, State: "NV", User: 7}, {ID: "CA :a7", State: "CA", User: 7},
	} {
		var bad *model.ValueError
		if _, err := x.Key(&doc); !errors.As(err, &bad) {
			t.Errorf("%v: %v", doc, err)
		}
	}
}

func compositeStore(t testing.TB, db *mongo.Database, collection string, docs []any) {
	t.Helper()
	if _, err := db.Collection(collection).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection(collection).InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

// placeStore is the store of residents under their composite keys.
var placeStore = model.NewStore(model.New("residents", byPlace), residents)

func compositeInsert(ctx context.Context, db *mongo.Database, docs ...resident) error {
	_, _, err := placeStore.InsertMany(docs...).Run(ctx, db)
	return err
}

func compositeRun(ctx context.Context, db *mongo.Database, p model.Plan) error {
	_, err := p.Run(ctx, db)
	return err
}

func compositeFull() bool { return os.Getenv("DOCMODEL_FULL") != "" }

var compositeMalformed = []string{
	"", "CA", "CA :", "CA :b42", "CA :b42:", "CA :b4:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :a42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA:b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :b02:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :S9:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :s9223372036854775808:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :A0776627963145224190:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "CA :t:2014", "CA :b4x:2014",
	"CA :b42 2014-03-28T08:00:00.000Z", "CA :b42:2014-02-30T08:00:00.000Z:507f00000000000000000001:x",
	"CA :b42:2014-03-28T08:00:00,000Z:507f00000000000000000001:x",
	"CA :b42:2014-03-28T08:00:00.000Z:507F00000000000000000001:x",
	"CA :b42:2014-03-28T08:00:00.000Z:000000000000000000000000:x",
	"CA :b42:2014-03-28T08:00:00.000Z:507f0000000000000000000:x",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001x",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x :",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:a 5",
	"a  :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"a <b :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"a ;` :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "a ; :b42:2014", "a ;", "a\t :b42:2014",
	"\xff :b42:2014", "a \xff :b42:2014", "CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:\xff",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:a\x00",
}

func TestCompositeMalformed(t *testing.T) {
	for _, key := range compositeMalformed {
		values, err := compositeValues(key)
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Field != "_id" || bad.Collection != "loose" {
			t.Errorf("%q is %v, %v", key, values, err)
		}
	}
	var city string
	var small int8
	for _, err := range []error{
		byPlace.Scan("CA :San", &city, &city, &city), byPlace.Scan("CA :San :b42", &city, &city, &small, &city),
		byPlace.Scan("CA :San :c999", &city, &city, &small), byPlace.Scan("CA :San :b42", &city, city),
		byPlace.Scan("CA :San :b42", nil),
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) {
			t.Errorf("error %v", err)
		}
	}
	if err := byPlace.Scan("CA :San", &city, &city); err != nil || city != "San" {
		t.Errorf("the first parts are %q, %v", city, err)
	}
}
