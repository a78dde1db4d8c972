package keys_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
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

	loose    = model.NewCollection[bson.D, string]("loose")
	ofAll    = keys.NewComposite(loose, keys.Text("text"), keys.Int("n"), keys.Time("at"), keys.ID("id"), keys.Text("last"))
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
		"", " ", "  ", "a", "a ", "a  ", "a b", "a  b", "a !", "a 5", "a :", "a ;", "a <", "a =", "a <b", "a ;I", "a :b", ":", " :", ";", "<",
		"\x00", "a\x00", "a\x00b", "a \x00", "a \x00 b", "\t", "a\t", "a\tb", "a\x1f", "a\x1f ", "a!", "a\x7f", "é", "a é", "e\u0301", "\U0001f9e9", "a\U0010ffff",
		"CA", "CAX", "CA ", "CA:", "San", "San Francisco", "San 5", "San-", "Saint", "$where", "^.*", "|", "{", "\uFFFD", "\uD7FF", "\uE000",
	}
	compositeInts  = []int64{math.MinInt64, math.MinInt64 + 1, -1e18, -100, -99, -10, -9, -1, 0, 1, 9, 10, 42, 99, 100, 1e18, math.MaxInt64 - 1, math.MaxInt64}
	compositeTimes = []int64{firstMilli, firstMilli + 1, -1, 0, 1, 1395997200000, lastMilli}
)

// Keys stand as their values do, and give them back.
func TestCompositeOrder(t *testing.T) {
	id := bson.ObjectID{11: 1}
	var all []compositeTuple
	for _, s := range compositeTexts {
		all = append(all, compositeTuple{text: s, id: id}, compositeTuple{id: id, last: s}, compositeTuple{text: s, id: id, last: "z"}, compositeTuple{text: s, n: -5, id: id})
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

// What keys look like.
func TestCompositeKeys(t *testing.T) {
	id, at := bson.ObjectID{0x50, 0x7f, 11: 1}, time.Date(2014, 3, 28, 9, 0, 0, 123456789, time.FixedZone("", 3600))
	for _, test := range []struct {
		want   string
		values []any
	}{
		{"CA :b42:2014-03-28T08:00:00.123Z:507f00000000000000000001:San Francisco", []any{"CA", 42, at, id, "San Francisco"}},
		{" :a0:0000-01-01T00:00:00.000Z:507f00000000000000000001:", []any{"", int32(0), bson.DateTime(firstMilli), id, ""}},
		{"Route <66 :S8:9999-12-31T23:59:59.999Z:507f00000000000000000001: <", []any{"Route 66", -1, bson.DateTime(lastMilli), id, " "}},
		{"a ;Ib ;@ :A0776627963145224191:1970-01-01T00:00:00.000Z:507f00000000000000000001:x: <:", []any{"a\tb\x00", math.MinInt64, bson.DateTime(0), id, "x: :"}},
	} {
		if key, err := ofAll.KeyOf(test.values...); key != test.want || err != nil {
			t.Errorf("%v: %q, %v; want %q", test.values, key, err, test.want)
		}
		back, err := ofAll.Values(test.want)
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
		x := compositeTuple{text: strings.ToValidUTF8(s1, "?"), n: n1, at: clamp(at1), id: bson.ObjectID{11: 1}, last: strings.ToValidUTF8(last1, "?")}
		y := compositeTuple{text: strings.ToValidUTF8(s2, "?"), n: n2, at: clamp(at2), id: x.id, last: strings.ToValidUTF8(last2, "?")}
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
		values, err := ofAll.Values(key)
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

var compositeMalformed = []string{
	"", "CA", "CA :", "CA :b42", "CA :b42:", "CA :b4:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "CA :a42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA:b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "CA :b02:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :S9:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "CA :s9223372036854775808:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"CA :A0776627963145224190:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "CA :t:2014", "CA :b4x:2014", "CA :b42 2014-03-28T08:00:00.000Z",
	"CA :b42:2014-02-30T08:00:00.000Z:507f00000000000000000001:x", "CA :b42:2014-03-28T08:00:00,000Z:507f00000000000000000001:x",
	"CA :b42:2014-03-28T08:00:00.000Z:507F00000000000000000001:x", "CA :b42:2014-03-28T08:00:00.000Z:000000000000000000000000:x",
	"CA :b42:2014-03-28T08:00:00.000Z:507f0000000000000000000:x", "CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001x",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x :", "CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:a 5",
	"a  :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "a <b :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x",
	"a ;` :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:x", "a ; :b42:2014", "a ;", "a\t :b42:2014", "\xff :b42:2014", "a \xff :b42:2014",
	"CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:\xff", "CA :b42:2014-03-28T08:00:00.000Z:507f00000000000000000001:a\x00",
}

func TestCompositeMalformed(t *testing.T) {
	for _, key := range compositeMalformed {
		values, err := ofAll.Values(key)
		var bad *model.ValueError
		if !errors.As(err, &bad) || bad.Field != "_id" || bad.Collection != "loose" {
			t.Errorf("%q is %v, %v", key, values, err)
		}
	}
	var city string
	var small int8
	for _, err := range []error{
		byPlace.Scan("CA :San", &city, &city, &city), byPlace.Scan("CA :San :b42", &city, &city, &small, &city), byPlace.Scan("CA :San :c999", &city, &city, &small),
		byPlace.Scan("CA :San :b42", &city, city), byPlace.Scan("CA :San :b42", nil),
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

func TestCompositeRefuses(t *testing.T) {
	ann := resident{State: "CA", City: "San", User: 1}
	other := ann
	other.ID = "CA :San :a2"
	_, badText := byPlace.KeyOf("CA", "\xff", 1)
	_, badTime := ofAll.KeyOf("a", 1, bson.DateTime(lastMilli+1), bson.ObjectID{1}, "")
	_, badYear := ofAll.KeyOf("a", 1, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), bson.ObjectID{1}, "")
	_, badID := ofAll.KeyOf("a", 1, bson.DateTime(0), bson.NilObjectID, "")
	_, few := byPlace.KeyOf("CA", "San")
	_, many := byPlace.KeyOf("CA", "San", 1, 2)
	_, float := byPlace.KeyOf("CA", "San", 1.0)
	_, null := byPlace.KeyOf("CA", nil, 1)
	_, big := byPlace.KeyOf("CA", "San", uint64(math.MaxUint64))
	_, unknown := byPlace.KeyOf("CA", "San", make(chan int))
	_, nothing := byPlace.Key(nil)
	_, missing := ofAll.Key(&bson.D{{Key: "text", Value: "a"}})
	_, array := ofAll.Key(&bson.D{{Key: "text", Value: bson.A{"a"}}})
	_, wrong := byPlace.Key(&other)
	_, partial := placeDoc.ID("CA")
	for reason, err := range map[string]error{
		"text": badText, "time": badTime, "year": badYear, "ObjectID": badID, "few": few, "many": many, "float": float, "null": null, "big": big, "unknown": unknown,
		"nil": nothing, "missing": missing, "array": array, "another _id": wrong, "few for a document": partial,
		"insert":                byPlace.Insert(other).Err,
		"insert many":           byPlace.InsertMany([]resident{ann, other}).Err(),
		"move from nothing":     byPlace.Move(nil, ann).Err(),
		"move from another":     byPlace.Move(&other, ann).Err(),
		"move to another":       byPlace.Move(&ann, other).Err(),
		"check without an _id":  byPlace.Check(&ann),
		"check of another":      byPlace.Check(&other),
		"ByKey":                 byPlace.ByKey("CA").Err,
		"Prefix":                byPlace.Prefix("CA", 1).Err,
		"long Prefix":           byPlace.Prefix("CA", "San", 1, 2).Err,
		"Range of nothing":      byPlace.Range([]any{"CA", "San", 1}, nil, nil).Err,
		"Range of another type": byPlace.Range([]any{"CA", "San"}, "a", nil).Err,
		"Range backwards":       byPlace.Range([]any{"CA", "San"}, 2, 1).Err,
		"negative backwards":    byPlace.Range([]any{"CA", "San"}, -1, -2).Err,
		"Range in nothing":      byPlace.Range([]any{1}, nil, nil).Err,
		"StartingWith a number": byPlace.StartingWith([]any{"CA", "San"}, "1").Err,
		"StartingWith no text":  byPlace.StartingWith([]any{"CA"}, "\xff").Err,
		"StartingWith the end":  byPlace.StartingWith([]any{"CA", "San", 1}, "1").Err,
		"StartingWith in none":  byPlace.StartingWith([]any{1}, "1").Err,
		"Next of no key":        byPlace.Next("CA", 0).Err,
		"Next of too much":      byPlace.Next("CA :San :a1", 3).Err,
		"Previous of less":      byPlace.Previous("CA :San :a1", -1).Err,
		"Counts by the last":    byPlace.Counts("CA", "San").Err,
		"Counts of a number":    byPlace.Counts(1).Err,
		"document Prefix":       placeDoc.Prefix(1).Err,
		"document ByKey":        placeDoc.ByKey("CA").Err,
		"document Range":        placeDoc.Range([]any{"CA"}, "b", "a").Err,
		"document Range's type": placeDoc.Range([]any{"CA"}, 1, nil).Err,
	} {
		var bad *model.ValueError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, want a *model.ValueError", reason, err)
		}
	}
	var bad *model.ValueError
	if errors.As(badTime, &bad); bad.Field != "at" || bad.Value.(bson.RawValue).DateTime() != lastMilli+1 {
		t.Errorf("%v names %q, %v", badTime, bad.Field, bad.Value)
	}
}

func TestCompositeDeclarations(t *testing.T) {
	type place struct {
		State string `bson:"state"`
		City  string `bson:"city"`
	}
	type located struct {
		ID    place    `bson:"_id"`
		Tags  []string `bson:"tags"`
		Score float64  `bson:"score"`
	}
	at := model.NewCollection[located, place]("located")
	for reason, declare := range map[string]func(){
		"one part":           func() { keys.NewComposite(residents, keys.Text("state")) },
		"none of a kind":     func() { keys.NewComposite(residents, keys.Text("state"), keys.Part{Path: "city"}) },
		"twice":              func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("state")) },
		"missing":            func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("town")) },
		"another type":       func() { keys.NewComposite(residents, keys.Text("state"), keys.Int("city")) },
		"no time":            func() { keys.NewComposite(residents, keys.Text("state"), keys.Time("city")) },
		"no ObjectID":        func() { keys.NewComposite(residents, keys.Text("state"), keys.ID("user")) },
		"a name of a dollar": func() { keys.NewComposite(residents, keys.Text("state"), keys.Text("$x").KeyOnly()) },
		"another order":      func() { keys.NewDocumentKey(at, keys.Text("city"), keys.Text("state")) },
		"not in the _id":     func() { keys.NewDocumentKey(at, keys.Text("state"), keys.Text("town")) },
		"key only":           func() { keys.NewDocumentKey(at, keys.Text("state"), keys.Text("city").KeyOnly()) },
		"a path of two":      func() { keys.NewDocumentKey(byDocs, keys.Text("state"), keys.Text("at.city")) },
	} {
		func() {
			defer func() {
				var bad *model.DeclarationError
				if err, _ := recover().(error); !errors.As(err, &bad) {
					t.Errorf("%s: %v", reason, err)
				}
			}()
			declare()
		}()
	}
	keys.NewDocumentKey(at, keys.Text("state"), keys.Text("city"))
	if x := byPlace.Indexes(); x != nil || byPlace.Relations() != nil {
		t.Errorf("indexes: %v", x)
	}
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
	if err := x.Check(&ann); err != nil {
		t.Error(err)
	}
	for _, doc := range []resident{{State: "CA", User: 7}, {ID: key, State: "NV", User: 7}, {ID: "CA :a7", State: "CA", User: 7}} {
		var bad *model.ValueError
		if _, err := x.Key(&doc); !errors.As(err, &bad) {
			t.Errorf("%v: %v", doc, err)
		}
	}
}

func compositeStore(t testing.TB, db *mongo.Database, collection string, docs []any) {
	t.Helper()
	if err := db.Collection(collection).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection(collection).InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

func compositeRun(ctx context.Context, db *mongo.Database, p model.Plan) error {
	_, err := p.Run(ctx, db)
	return err
}

func compositeFull() bool { return os.Getenv("DOCMODEL_FULL") != "" }

// compositeWorld is random documents, in the order of their keys.
func compositeWorld(r *rand.Rand, n int) []resident {
	texts := []string{"", "CA", "CAX", "CA ", "CA:", "San", "San Francisco", "San 5", "San\t", "é", "\U0010ffff", "\U0010ffff\U0010ffff", "a \x00", "San ", "\uD7FF", "\uD7FFx"}
	seen := map[resident]bool{}
	var out []resident
	for range n {
		x := resident{State: texts[r.IntN(6)], City: texts[r.IntN(len(texts))], User: r.Int64N(5) - 2}
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	slices.SortFunc(out, compareResidents)
	return out
}

func compareResidents(a, b resident) int {
	return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.City, b.City), cmp.Compare(a.User, b.User))
}

// Queries find what a walk through a list in memory finds, in its order.
func TestCompositeQueries(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 2))
		world := compositeWorld(r, 120)
		if err := compositeRun(t.Context(), db, byPlace.InsertMany(world)); err != nil {
			t.Fatal(err)
		}
		for i := range world {
			world[i].ID, _ = byPlace.Key(&world[i])
			doc := world[i]
			id, _ := placeDoc.ID(doc.State, doc.City, doc.User)
			if _, err := byDocs.Insert(bson.D{{Key: "_id", Value: id}, {Key: "was", Value: doc.ID}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		rounds := 6
		if compositeFull() {
			rounds = 400
		}
		for range rounds {
			x, y := world[r.IntN(len(world))], world[r.IntN(len(world))]
			from, to := min(x.City, y.City), max(x.City, y.City)
			low, high := min(x.User, y.User), max(x.User, y.User)
			cut := x.City[:r.IntN(len(x.City)+1)]
			cut = strings.ToValidUTF8(cut, "")
			for _, q := range []struct {
				find  model.Find[resident]
				docs  model.Find[bson.D]
				match func(z resident) bool
			}{
				{byPlace.Prefix(), placeDoc.Prefix(), func(z resident) bool { return true }},
				{byPlace.Prefix(x.State), placeDoc.Prefix(x.State), func(z resident) bool { return z.State == x.State }},
				{byPlace.Prefix(x.State, x.City), placeDoc.Prefix(x.State, x.City), func(z resident) bool { return z.State == x.State && z.City == x.City }},
				{byPlace.ByKey(x.State, x.City, x.User), placeDoc.ByKey(x.State, x.City, x.User), func(z resident) bool { return z == x }},
				{byPlace.Prefix(x.State, x.City, x.User), placeDoc.Prefix(x.State, x.City, x.User), func(z resident) bool { return z == x }},
				{byPlace.Range(nil, from, nil), placeDoc.Range(nil, from, nil), func(z resident) bool { return z.State >= from }},
				{byPlace.Range([]any{x.State}, from, to), placeDoc.Range([]any{x.State}, from, to), func(z resident) bool { return z.State == x.State && z.City >= from && z.City < to }},
				{byPlace.Range([]any{x.State}, nil, to), placeDoc.Range([]any{x.State}, nil, to), func(z resident) bool { return z.State == x.State && z.City < to }},
				{byPlace.Range([]any{x.State, x.City}, low, high), placeDoc.Range([]any{x.State, x.City}, low, high),
					func(z resident) bool { return z.State == x.State && z.City == x.City && z.User >= low && z.User < high }},
				{byPlace.Range([]any{x.State, x.City}, low, nil), placeDoc.Range([]any{x.State, x.City}, low, nil),
					func(z resident) bool { return z.State == x.State && z.City == x.City && z.User >= low }},
				{byPlace.StartingWith([]any{x.State}, cut), model.Find[bson.D]{}, func(z resident) bool { return z.State == x.State && strings.HasPrefix(z.City, cut) }},
				{byPlace.StartingWith(nil, cut), model.Find[bson.D]{}, func(z resident) bool { return strings.HasPrefix(z.State, cut) }},
			} {
				var want []resident
				for _, z := range world {
					if q.match(z) {
						want = append(want, z)
					}
				}
				wantResidents(t, db, q.find, want)
				if q.docs.Collection != "" {
					wantDocuments(t, db, q.docs, want)
				}
				down := slices.Clone(want)
				slices.Reverse(down)
				wantResidents(t, db, byPlace.Descending(q.find), down)
			}
			compositeNeighbours(t, db, world, x)
		}
	})
}

func wantResidents(t *testing.T, db *mongo.Database, f model.Find[resident], want []resident) {
	t.Helper()
	if got, err := f.All(t.Context(), db); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v finds\n%v, %v, want\n%v", f, got, err, want)
	}
	if f.Limit == 1 {
		return
	}
	var paged []resident
	page := f.Limited(7).After()
	for {
		got, err := page.All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, got...)
		if len(got) < 7 {
			break
		}
		page = f.Limited(7).After(got[6].ID)
	}
	if !slices.Equal(paged, want) {
		t.Fatalf("%v has the pages\n%v, want\n%v", f, paged, want)
	}
}

func wantDocuments(t *testing.T, db *mongo.Database, f model.Find[bson.D], want []resident) {
	t.Helper()
	got, err := f.All(t.Context(), db)
	if err != nil || !slices.EqualFunc(got, want, func(d bson.D, z resident) bool { return d[1].Value == z.ID }) {
		t.Fatalf("%v finds\n%v, %v, want\n%v", f, got, err, want)
	}
}

func compositeNeighbours(t *testing.T, db *mongo.Database, world []resident, x resident) {
	t.Helper()
	for same, is := range []func(z resident) bool{
		func(resident) bool { return true }, func(z resident) bool { return z.State == x.State },
		func(z resident) bool { return z.State == x.State && z.City == x.City },
	} {
		var before, behind []resident
		for _, z := range world {
			switch {
			case is(z) && compareResidents(z, x) < 0:
				before = []resident{z}
			case is(z) && compareResidents(z, x) > 0 && behind == nil:
				behind = []resident{z}
			}
		}
		wantResidents(t, db, byPlace.Next(x.ID, same), behind)
		wantResidents(t, db, byPlace.Previous(x.ID, same), before)
	}
}

// Counts by state and by city are those of a walk through the list.
func TestCompositeCounts(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		world := compositeWorld(rand.New(rand.NewPCG(3, 4)), 200)
		if err := compositeRun(t.Context(), db, byPlace.InsertMany(world)); err != nil {
			t.Fatal(err)
		}
		states, cities := map[string]int64{}, map[[2]string]int64{}
		for _, z := range world {
			states[z.State]++
			cities[[2]string{z.State, z.City}]++
		}
		got, err := byPlace.Counts().All(t.Context(), db)
		if err != nil || len(got) != len(states) {
			t.Fatalf("%v, %v", got, err)
		}
		last := ""
		for i, g := range got {
			var state string
			if err := byPlace.Scan(g.Key, &state); err != nil || states[state] != g.N || i > 0 && state <= last {
				t.Errorf("%q: %d, %v, want %d", g.Key, g.N, err, states[state])
			}
			last = state
			inside, err := byPlace.Counts(state).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			total := int64(0)
			for _, c := range inside {
				var at [2]string
				if err := byPlace.Scan(c.Key, &at[0], &at[1]); err != nil || at[0] != state || cities[at] != c.N {
					t.Errorf("%q: %d, %v, want %d", c.Key, c.N, err, cities[at])
				}
				total += c.N
			}
			if total != g.N {
				t.Errorf("%q: the cities have %d, the state %d", state, total, g.N)
			}
		}
		x := keys.NewComposite(loose, keys.Time("at"), keys.ID("id"), keys.Int("n"), keys.Int("m"))
		for i := range 12 {
			if _, err := x.Insert(bson.D{{Key: "at", Value: bson.DateTime(0)}, {Key: "id", Value: bson.ObjectID{1}}, {Key: "n", Value: i / 5}, {Key: "m", Value: i}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []struct {
			prefix []any
			text   string
		}{
			{nil, "[{1970-01-01T00:00:00.000Z 12}]"},
			{[]any{bson.DateTime(0)}, "[{1970-01-01T00:00:00.000Z:010000000000000000000000 12}]"},
			{[]any{bson.DateTime(0), bson.ObjectID{1}}, "[{1970-01-01T00:00:00.000Z:010000000000000000000000:a0 5} {1970-01-01T00:00:00.000Z:010000000000000000000000:a1 5} {1970-01-01T00:00:00.000Z:010000000000000000000000:a2 2}]"},
		} {
			if got, err := x.Counts(want.prefix...).All(t.Context(), db); err != nil || fmt.Sprint(got) != want.text {
				t.Errorf("%v: %v, %v", want.prefix, got, err)
			}
		}
	})
}
