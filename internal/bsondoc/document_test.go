package bsondoc_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/bsondoc"
)

// A list of stages is read in each of its Go forms, and copied.
func TestPipeline(t *testing.T) {
	stages := []bson.D{{{Key: "$limit", Value: int32(1)}}, {{Key: "$skip", Value: int32(2)}}}
	array := encode(t, bson.D{{Key: "v", Value: stages}}).Lookup("v")
	for what, v := range map[string]any{
		"a pipeline": mongo.Pipeline(stages), "documents": stages, "an array": bson.A{stages[0], encode(t, stages[1])},
		"a raw value": array,
	} {
		got, ok := bsondoc.Pipeline(v)
		if !ok || !slices.EqualFunc(got, stages, bsondoc.EqualDocuments) {
			t.Errorf("%s: %v, %v", what, got, ok)
			continue
		}
		got[0] = nil
		if stages[0] == nil {
			t.Fatalf("%s: the result shares the caller's list", what)
		}
	}
	for what, v := range map[string]any{
		"a document": stages[0], "an array of numbers": bson.A{1}, "nothing": nil,
		"a raw document": encode(t, bson.D{{Key: "v", Value: bson.D{}}}).Lookup("v"),
	} {
		if got, ok := bsondoc.Pipeline(v); ok {
			t.Errorf("%s is the pipeline %v", what, got)
		}
	}
	if got, ok := bsondoc.Pipeline(mongo.Pipeline(nil)); !ok || len(got) != 0 {
		t.Errorf("no stages: %v, %v", got, ok)
	}
}

// Fields are read of each Go form of a document, as far as its bytes are well formed.
func TestDocument(t *testing.T) {
	want := bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: "x"}}
	raw := encode(t, want)
	for what, v := range map[string]any{
		"a document": want, "bytes": raw, "a raw value": bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw},
		"a struct": struct {
			A int32
			B string
		}{1, "x"},
	} {
		if got, ok := bsondoc.Document(v); !ok || !bsondoc.EqualDocuments(got, want) {
			t.Errorf("%s: %v, %v", what, got, ok)
		}
	}
	for what, v := range map[string]any{"a number": 1, "an array": bson.A{}, "what BSON can't hold": func() {}} {
		if got, ok := bsondoc.Document(v); ok {
			t.Errorf("%s is the document %v", what, got)
		}
	}
	if got, ok := bsondoc.Document(raw[:8]); ok || len(got) != 0 {
		t.Errorf("bytes that are cut off: %v, %v", got, ok)
	}
}

// An update's operators are read from bytes too; a value that is no document stays.
func TestOperators(t *testing.T) {
	fields := bson.D{{Key: "a", Value: int32(1)}}
	got, ok := bsondoc.Operators(encode(t, bson.D{{Key: "$set", Value: fields}, {Key: "$inc", Value: int32(1)}}))
	set, isDocument := bsondoc.Value(got, "$set").(bson.D)
	inc := bsondoc.Value(got, "$inc")
	if !ok || !isDocument || !bsondoc.EqualDocuments(set, fields) || !bsondoc.SameValue(inc, int32(1)) {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := bsondoc.Operators(mongo.Pipeline{}); ok {
		t.Error("a pipeline has no operators")
	}
}

// SetField leaves the caller's document alone.
func TestSetField(t *testing.T) {
	d := bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 2}}
	changed := bsondoc.SetField(d, "b", 3)
	if bsondoc.Value(d, "b") != 2 || bsondoc.Value(changed, "b") != 3 || len(bsondoc.SetField(d, "c", 3)) != 2 {
		t.Errorf("%v became %v", d, changed)
	}
	if v, ok := bsondoc.Field(d, "c"); ok || v != nil {
		t.Errorf("a missing field is %v", v)
	}
}
