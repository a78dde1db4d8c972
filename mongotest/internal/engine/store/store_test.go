package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

var things = Namespace{"db", "things"}

// spec makes an index spec from "a b.c -d".
func spec(keys string) *IndexSpec {
	s := &IndexSpec{Name: keys}
	for name := range strings.FieldsSeq(keys) {
		name, desc := strings.CutPrefix(name, "-")
		s.Fields = append(s.Fields, NewField(name, Ordered, desc))
		s.Key = append(s.Key, bson.E{Key: name, Value: int32(1)})
	}
	return s
}

func parse(t testing.TB, s string) bson.D {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

// TestKeys lists the keys of documents, as explain on a MongoDB would.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		index, doc, want, reason string
	}{
		{"a", `{"a":1}`, "1", "a scalar"},
		{"a", `{}`, "null", "a missing field is null"},
		{"a", `{"a":[2,1,2]}`, "1 | 2 multi", "each element once, in order"},
		{"a", `{"a":[]}`, "undefined multi", "an empty array is undefined"},
		{"a", `{"a":[[1,2],3]}`, "3 | [ 1, 2 ] multi", "an array in an array stays whole"},
		{"a", `{"a":{"b":1}}`, "{ b: 1 }", "a document stays whole"},
		{"a.b", `{"a":{"b":1}}`, "1", "a nested field"},
		{"a.b", `{"a":[{"b":1},{"b":[2,3]},{}]}`, "null | 1 | 2 | 3 multi", "through two arrays"},
		{"a.b", `{"a":[1,{"b":2}]}`, "null | 2 multi", "an element that is no document has null"},
		{"a.b", `{"a":[]}`, "null multi", "nothing below an empty array"},
		{"a.b", `{"a":3}`, "null", "nothing below a scalar"},
		{"a.0", `{"a":[5,6]}`, "5", "a number is a position"},
		{"a.1.b", `{"a":[5,{"b":7}]}`, "7", "a position on the way"},
		{"a b", `{"a":1,"b":[1,2]}`, "1,1 | 1,2 multi", "one array in a compound index"},
		{"a.x a.y", `{"a":[{"x":1,"y":2},{"x":3}]}`, "1,2 | 3,null multi", "fields of one element stay together"},
		{"-a", `{"a":[1,2]}`, "2 | 1 multi", "descending"},
	} {
		keys, multi, err := spec(c.index).Keys(parse(t, c.doc))
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		var parts []string
		for _, k := range keys {
			var values []string
			for _, v := range k {
				values = append(values, Show(v))
			}
			parts = append(parts, strings.Join(values, ","))
		}
		got := strings.Join(parts, " | ")
		if multi != 0 {
			got += " multi"
		}
		if got != c.want {
			t.Errorf("%s: index on %s of %s has keys %s, want %s", c.reason, c.index, c.doc, got, c.want)
		}
	}
	if _, _, err := spec("a b").
		Keys(parse(t, `{"a":[1],"b":[1]}`)); mongoerr.CodeOf(err) != mongoerr.CannotIndexParallelArrays {
		t.Errorf("parallel arrays: %v", err)
	}
	sparse := spec("a b")
	sparse.Sparse = true
	if keys, _, _ := sparse.Keys(parse(t, `{"c":1}`)); len(keys) != 0 {
		t.Errorf("a sparse index has %v of a document without its fields", keys)
	}
	if keys, _, _ := sparse.Keys(parse(t, `{"b":null}`)); len(keys) != 1 {
		t.Errorf("a sparse index has %v of a document with one of its fields", keys)
	}
}

func write(t testing.TB, s *Store, fn func(w *Writer) error) error {
	t.Helper()
	return s.Write(context.Background(), fn)
}

func insert(t testing.TB, s *Store, docs ...string) {
	t.Helper()
	for _, d := range docs {
		err := write(t, s, func(w *Writer) error {
			_, err := w.Insert(things, parse(t, d))
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
	}
}

func count(s *State) int {
	if c := s.Collection(things); c != nil {
		return c.Records.Len()
	}
	return 0
}

func TestUnique(t *testing.T) {
	s := New()
	insert(t, s, `{"_id":1,"k":"x"}`, `{"_id":2,"k":"y"}`)
	unique := spec("k")
	unique.Unique = true
	if err := write(t, s, func(w *Writer) error { return w.AddIndex(things, unique) }); err != nil {
		t.Fatal(err)
	}
	err := write(t, s, func(w *Writer) error {
		if _, err := w.Insert(things, parse(t, `{"_id":3,"k":"z"}`)); err != nil {
			return err
		}
		_, err := w.Insert(things, parse(t, `{"_id":4,"k":"x"}`))
		return err
	})
	e := mongoerr.Convert(err)
	want := `E11000 duplicate key error collection: db.things index: k dup key: { k: "x" }`
	if e.Code != mongoerr.DuplicateKey || e.Message != want ||
		fmt.Sprint(e.Extra) != `{"keyPattern":{"k":{"$numberInt":"1"}},"keyValue":{"k":"x"}}` {
		t.Errorf("%v %v", e, e.Extra)
	}
	if n := count(s.Snapshot()); n != 2 {
		t.Errorf("%d documents after a write that failed, want 2", n)
	}
	// An update to its own key is no violation, and one that fails changes no index.
	err = write(t, s, func(w *Writer) error {
		r, _ := w.Record(things, 1)
		r, err := w.Replace(things, r, parse(t, `{"_id":1,"k":"x","n":1}`))
		if err != nil {
			return err
		}
		_, err = w.Replace(things, r, parse(t, `{"_id":1,"k":"y"}`))
		if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
			t.Errorf("taking another's key: %v", err)
		}
		_, err = w.Replace(things, r, parse(t, `{"_id":1,"k":"w"}`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	insert(t, s, `{"_id":5,"k":"x"}`)
	insert(t, s, `{"_id":6}`)
	err = write(t, s, func(w *Writer) error { _, err := w.Insert(things, parse(t, `{"_id":7,"k":null}`)); return err })
	if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
		t.Errorf("null after a missing key: %v", err)
	}
	insert(t, New(), `{"_id":1,"k":[1,1]}`)
	other := New()
	insert(t, other, `{"_id":1,"k":1}`, `{"_id":2,"k":1.0}`)
	if err := write(t, other, func(w *Writer) error {
		return w.AddIndex(things, unique)
	}); mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
		t.Errorf("building an index over duplicates: %v", err)
	}
	if len(other.Snapshot().Collection(things).Indexes) != 1 {
		t.Error("a failed build left an index")
	}
}

func TestSnapshots(t *testing.T) {
	s := New()
	insert(t, s, `{"_id":1}`)
	before := s.Snapshot()
	insert(t, s, `{"_id":2}`)
	if err := write(t, s, func(w *Writer) error { _, err := w.Drop(things); return err }); err != nil {
		t.Fatal(err)
	}
	if count(before) != 1 || count(s.Snapshot()) != 0 {
		t.Errorf("%d before, %d after", count(before), count(s.Snapshot()))
	}
}

// TestSwapInTransaction swaps two unique keys by way of a third.
func TestSwapInTransaction(t *testing.T) {
	s := New()
	insert(t, s, `{"_id":1,"k":1}`, `{"_id":2,"k":2}`)
	unique := spec("k")
	unique.Unique = true
	if err := write(t, s, func(w *Writer) error { return w.AddIndex(things, unique) }); err != nil {
		t.Fatal(err)
	}
	x := s.Begin()
	insert(t, s, `{"_id":3,"k":3}`)
	err := x.Write(context.Background(), func(w *Writer) error {
		for _, d := range []string{`{"_id":1,"k":9}`, `{"_id":2,"k":1}`, `{"_id":1,"k":2}`} {
			doc := parse(t, d)
			r, _ := w.Record(things, int64(doc[0].Value.(int32)))
			if _, err := w.Replace(things, r, doc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := s.Snapshot().Collection(things)
	var got []string
	for e := range c.Indexes[1].Entries.All() {
		r, _ := c.Record(e.Record)
		got = append(got, Show(e.Key[0])+":"+Show(r.Doc[0].Value))
	}
	if want := "1:2 2:1 3:3"; strings.Join(got, " ") != want {
		t.Errorf("keys are %v, want %s", got, want)
	}
}

// TestAlterWaits holds that an index isn't built while an open transaction has
// written to its collection.
func TestAlterWaits(t *testing.T) {
	s := New()
	insert(t, s, `{"_id":1,"k":1}`)
	x := s.Begin()
	err := x.Write(context.Background(), func(w *Writer) error {
		_, err := w.Insert(things, parse(t, `{"_id":2,"k":1}`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err = s.Write(ctx, func(w *Writer) error { return w.AddIndex(things, spec("k")) })
	if mongoerr.CodeOf(err) != mongoerr.MaxTimeMSExpired {
		t.Errorf("building an index: %v", err)
	}
	if err := x.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := write(t, s, func(w *Writer) error { return w.AddIndex(things, spec("k")) }); err != nil {
		t.Fatal(err)
	}
	if n := s.Snapshot().Collection(things).Indexes[1].Entries.Len(); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// TestCreateInTransactions holds that a collection made in a transaction shows
// when that is committed.
func TestCreateInTransactions(t *testing.T) {
	s := New()
	x, y := s.Begin(), s.Begin()
	put := func(txn *Txn, d string) error {
		return txn.Write(context.Background(), func(w *Writer) error {
			_,
				err := w.Insert(things, parse(t, d))
			return err
		})
	}
	if err := put(x, `{"_id":1}`); err != nil {
		t.Fatal(err)
	}
	if err := put(y, `{"_id":2}`); mongoerr.CodeOf(err) != mongoerr.WriteConflict {
		t.Errorf("making the same collection: %v", err)
	}
	y.Abort()
	if count(s.Snapshot()) != 0 || count(x.Snapshot()) != 1 {
		t.Error("an open transaction shows")
	}
	if err := x.Commit(context.Background()); err != nil || count(s.Snapshot()) != 1 {
		t.Error(err, count(s.Snapshot()))
	}
	if err := x.Commit(context.Background()); mongoerr.CodeOf(err) != mongoerr.NoSuchTransaction {
		t.Errorf("committing again: %v", err)
	}
}

func TestExpiry(t *testing.T) {
	for _, key := range []string{"at", "-at"} {
		s := New()
		now := time.Unix(1000, 0)
		ttl := spec(key)
		ttl.Expires, ttl.ExpireAfter = true, 10*time.Second
		put := func(id int, v any) {
			err := write(t, s, func(w *Writer) error {
				_, err := w.Insert(things, bson.D{{Key: "_id", Value: int32(id)}, {Key: "at", Value: v}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		at := func(ago time.Duration) bson.DateTime { return bson.NewDateTimeFromTime(now.Add(-ago)) }
		put(1, at(10*time.Second))
		put(2, at(9*time.Second))
		put(3, bson.A{at(time.Second), at(time.Minute)})
		put(4, "text")
		put(5, nil)
		put(6, bson.A{at(time.Second), int32(1)})
		put(7, bson.DateTime(-5))
		if err := write(t, s, func(w *Writer) error { return w.AddIndex(things, ttl) }); err != nil {
			t.Fatal(err)
		}
		s.RemoveExpired(context.Background(), now)
		var left []string
		for r := range s.Snapshot().Collection(things).Records.All() {
			left = append(left, Show(r.Doc[0].Value))
		}
		if got := strings.Join(left, " "); got != "2 4 5 6" {
			t.Errorf("%s: %s are left, want 2 4 5 6: what isn't a date never expires, an array does by its earliest",
				key, got)
		}
	}
}
