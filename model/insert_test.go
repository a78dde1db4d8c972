package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
)

// nested returns a document that is depth levels deep.
func nested(depth int) bson.D {
	doc := d("x", 1)
	for range depth - 2 {
		doc = d("a", doc)
	}
	return append(d("_id", 1), bson.E{Key: "n", Value: doc})
}

type badKeys struct {
	ID   string `bson:"_id"`
	Zone [16]byte
	At   time.Time
	M    map[string]any `bson:"m,omitempty"`
}

// uuidDoc and timeDoc have ids whose zero value is stored as bytes or a date like any other.
type (
	uuidDoc struct {
		ID [16]byte `bson:"_id"`
	}
	timeDoc struct {
		ID time.Time `bson:"_id"`
	}
)

// TestBadDocumentsAreRefused: an error that names the collection and the field, and a plan that says so before it runs.
func TestBadDocumentsAreRefused(t *testing.T) {
	invalid := bson.Raw{9, 0, 0, 0, 2, 'a', 0, 2, 0}
	big := strings.Repeat("x", model.MaxDocument)
	of := func(id any) bson.D { return d("_id", id) }
	for _, c := range []struct {
		doc                   any
		field, reasonIn, name string
	}{
		{bson.D(nil), "document", "nil", "a nil document"},
		{bson.D{}, "_id", "is missing", "an empty document"},
		{d("a", 1), "_id", "is missing", "no _id: the driver would invent one, another for each run"},
		{of(nil), "_id", "empty", "a null _id"},
		{of(""), "_id", "empty", "an empty string"},
		{of(bson.ObjectID{}), "_id", "empty", "a zero ObjectID"},
		{of(bson.D{}), "_id", "empty", "an empty document"},
		{of([]byte{}), "_id", "empty", "no bytes"},
		{of(bson.A{1}), "_id", "array", "an array"},
		{of(bson.Regex{Pattern: "a"}), "_id", "regular expression", "a pattern"},
		{of(bson.Undefined{}), "_id", "undefined", "undefined"},
		{of(d("$gt", 1)), "_id.$gt", "dollar", "operators as _id"},
		{append(of(1), d("$where", 1)...), "$where", "dollar", "an operator"},
		{append(of(1), d("a.b", 1)...), "a.b", "dot", "a path"},
		{append(of(1), d("", 1)...), "", "empty", "an empty name"},
		{append(of(1), d("a\x00b", 1)...), "document", "null", "a NUL, which BSON can't hold"},
		{append(of(1), d("a", d("b", bson.A{1, d("$inc", 1)}))...), "a.b.1.$inc", "dollar", "an operator at depth"},
		{append(of(1), d("a", bson.M{"": 1})...), "a.", "empty", "an empty name at depth"},
		{append(of(1), d("a", big)...), "document", "16 MiB", "16 MiB and a little"},
		{append(of(1), d("a", func() {})...), "document", "no encoder", "what BSON can't hold"},
		{nested(101), strings.TrimSuffix("n."+strings.Repeat("a.", 99), "."), "100 levels", "101 levels"},
	} {
		checkRefused(t, c.name, c.field, c.reasonIn, "notes", notes.Insert(toD(c.doc)), notes.Replace(toD(c.doc)))
	}
	if err := notes.Insert(nested(100)).Err; err != nil {
		t.Errorf("100 levels: %v", err)
	}
	raws := model.NewCollection[bson.Raw, any]("notes")
	checkRefused(t, "bytes that are no document", "document", "", "notes", raws.Insert(invalid), raws.Insert(nil))
	maps := model.NewCollection[bson.M, any]("notes")
	checkRefused(t, "a nil map", "document", "nil", "notes", maps.Insert(nil))
	pointers := model.NewCollection[*part, int32]("notes")
	checkRefused(t, "a nil pointer", "document", "nil", "notes", pointers.Insert(nil), pointers.Replace(nil))
	uuids, times := model.NewCollection[uuidDoc, [16]byte]("notes"), model.NewCollection[timeDoc, time.Time]("notes")
	checkRefused(t, "a zero UUID", "_id", "empty", "notes", uuids.Insert(uuidDoc{}))
	checkRefused(t, "a zero time", "_id", "empty", "notes", times.Insert(timeDoc{}))
	bad := model.NewCollection[badKeys, string]("notes")
	checkRefused(t, "a bad name in a struct's map", "m.$x", "dollar", "notes",
		bad.Insert(badKeys{ID: "a", M: map[string]any{"$x": 1}}))
	var zero *model.Collection[part, int32]
	if err := zero.Insert(part{ID: 1}).Err; err == nil {
		t.Error("the zero Collection takes documents")
	}
}

func toD(v any) bson.D {
	d, _ := v.(bson.D)
	return d
}

func checkRefused(t *testing.T, name, field, reason, collection string, writes ...model.Write) {
	t.Helper()
	for _, w := range writes {
		var v *model.ValueError
		if !errors.As(w.Err, &v) || v.Collection != collection || v.Field != field || !strings.Contains(v.Error(), reason) {
			t.Errorf("%s: %v (%T), want a *ValueError of %s, %q that says %q", name, w.Err, w.Err, collection, field, reason)
		}
		if len(w.String()) > 1000 {
			t.Errorf("%s: the refused write's text has %d bytes", name, len(w.String()))
		}
		var step *model.StepError
		if err := model.NewPlan(parts.Delete(1), w).Err(); !errors.As(err, &step) || step.Step != 1 {
			t.Errorf("%s: the plan's error is %v", name, err)
		}
		if _, err := w.Run(context.Background(), nil); !errors.As(err, &v) {
			t.Errorf("%s: Run with no database at all gives %v", name, err)
		}
	}
}

func TestUpdateChecks(t *testing.T) {
	for _, c := range []struct {
		update       bson.D
		want, reason string
	}{
		{nil, "at least one update operator", "nothing to do"},
		{bson.D{}, "at least one update operator", "nothing to do"},
		{d("name", "x"), "use Replace to store a whole document", "a document where operators belong"},
		{d("$set", d("a", 1), "name", "x"), "name: isn't an update operator", "both"},
		{d("$", d("a", 1)), "isn't an update operator", "no operator's name"},
		{d("", d("a", 1)), "isn't an update operator", "no name"},
		{d("$set", d("a", func() {})), "no encoder", "what BSON can't hold"},
		{d("$set", d("name", "$where")), "", "values are data"},
	} {
		err := parts.Update(1, c.update).Err
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q: %s", c.update, err, c.want, c.reason)
		}
	}
	set := d("$set", bson.D{{Key: "list", Value: bson.A{"a"}}})
	w := parts.Update(1, set)
	before := w.String()
	set[0].Value.(bson.D)[0].Value.(bson.A)[0] = "changed"
	if w.String() != before {
		t.Error("the write changes with the caller's update")
	}
}

func TestInsertMany(t *testing.T) {
	p := parts.InsertMany([]part{{ID: 1}, {ID: 2}})
	if len(p.Steps) != 2 || p.Err() != nil || p.Guarantee() != model.Rerunnable {
		t.Errorf("%d steps, %v, %v", len(p.Steps), p.Err(), p.Guarantee())
	}
	many := model.NewCollection[badKeys, string]("notes")
	p = many.InsertMany([]badKeys{{ID: "a"}, {}, {ID: "c"}})
	var v *model.ValueError
	if err := p.Err(); !errors.As(err, &v) || !strings.Contains(err.Error(), "document 1") || len(p.Steps) != 1 {
		t.Errorf("one bad document refuses all and says which: %v", err)
	}
	if p := parts.InsertMany(nil); p.Err() != nil || len(p.Steps) != 0 {
		t.Errorf("no documents: %v", p.Err())
	}
	doc := product{ID: oid(1), Items: []item{{ID: oid(2), Tags: []string{"a"}}}}
	w := products.Insert(doc)
	before := w.String()
	doc.Items[0].Tags[0] = "changed"
	if w.String() != before {
		t.Error("the write changes with the caller's document")
	}
}

func TestCollectionID(t *testing.T) {
	doc := part{ID: 7}
	if id, err := parts.ID(&doc); id != 7 || err != nil {
		t.Errorf("ID = %v, %v", id, err)
	}
	for _, err := range []error{
		second(parts.ID(nil)), second(products.ID(&product{})), second(notes.ID(&bson.D{})), second(notes.ID(new(bson.D))),
	} {
		var v *model.ValueError
		if !errors.As(err, &v) || v.Field != "_id" || v.Collection == "" {
			t.Errorf("%v, want a *ValueError of _id", err)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

// A nil or zero Collection refuses what it is handed, under another name too; it doesn't panic half way.
func TestZeroCollectionRefuses(t *testing.T) {
	zero := &model.Collection[part, int32]{}
	for name, c := range map[string]*model.Collection[part, int32]{
		"nil": nil, "zero": zero, "named": zero.Named("parts"),
	} {
		doc := part{ID: 1}
		_, idErr := c.ID(&doc)
		_, fieldErr := c.Docs().Field("name")
		for what, err := range map[string]error{
			"ID": idErr, "Field": fieldErr, "Insert": c.Insert(doc).Err, "Replace": c.Replace(doc).Err,
			"InsertMany": c.InsertMany([]part{doc}).Steps[0].(model.Write).Err,
		} {
			if err == nil {
				t.Errorf("%s of a %s Collection is no error", what, name)
			}
		}
		if _, err := c.Find(nil).All(t.Context(), nil); err == nil || c.Name() != "" {
			t.Errorf("a %s Collection reads from %q: %v", name, c.Name(), err)
		}
	}
}
