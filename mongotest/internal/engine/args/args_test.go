package args_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

func TestReaderReadsFields(t *testing.T) {
	a := args.Reader{Place: "find", Doc: bson.D{
		{Key: "filter", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "skip", Value: 2.0}, {Key: "limit", Value: nil},
		{Key: "single", Value: int32(1)}, {Key: "names", Value: bson.A{"a", "b"}}, {Key: "mode", Value: "off"},
	}}
	if d := a.Document("filter"); len(d) != 1 || d[0].Key != "x" {
		t.Errorf("Document gave %v", d)
	}
	if n := a.Natural("skip", 0); n != 2 {
		t.Errorf("Natural gave %d for 2.0", n)
	}
	if n := a.Integer("limit", 7); n != 7 || a.HasField("limit") {
		t.Errorf("null isn't absent: Integer gave %d", n)
	}
	if !a.Boolean("single", false) {
		t.Error("Boolean gave false for 1")
	}
	if list := a.Texts("names"); len(list) != 2 || list[1] != "b" {
		t.Errorf("Texts gave %v", list)
	}
	if mode := a.OneOf("mode", "on", "off"); mode != "off" {
		t.Errorf("OneOf gave %q", mode)
	}
	a.Refuse("mode", "off")
	if a.Err != nil {
		t.Error(a.Err)
	}
}

func TestReaderKeepsTheFirstError(t *testing.T) {
	for _, c := range []struct {
		why  string
		read func(a *args.Reader)
		code int32
	}{
		{"a wrong type", func(a *args.Reader) { a.Text("n") }, mongoerr.TypeMismatch},
		{"a wrong element", func(a *args.Reader) { a.Texts("list") }, mongoerr.TypeMismatch},
		{"a negative number", func(a *args.Reader) { a.Natural("n", 0) }, 51024},
		{"an absent field", func(a *args.Reader) { a.Require("other") }, mongoerr.IDLFailedToParse},
		{"a field that isn't supported", func(a *args.Reader) { a.Refuse("n", int32(0)) }, mongoerr.NotImplemented},
		{"a value that isn't in the list", func(a *args.Reader) { a.OneOf("s", "a", "b") }, mongoerr.BadValue},
		{"a hint of a wrong type", func(a *args.Reader) { a.Hint() }, mongoerr.FailedToParse},
	} {
		a := args.Reader{Place: "find", Doc: bson.D{
			{Key: "n", Value: int32(-1)}, {Key: "list", Value: bson.A{1}}, {Key: "s", Value: "c"},
			{Key: "hint", Value: 1},
		}}
		c.read(&a)
		first := a.Err
		a.Document("s")
		if mongoerr.CodeOf(first) != c.code || a.Err != first {
			t.Errorf("%s gave %v, then %v; want code %d", c.why, first, a.Err, c.code)
		}
	}
}

func TestCheckKnown(t *testing.T) {
	a := args.Reader{Place: "find", Doc: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}}
	if err := a.CheckKnown([]string{"a"}, []string{"b"}); err != nil {
		t.Error(err)
	}
	if err := a.CheckKnown([]string{"a"}); mongoerr.CodeOf(err) != mongoerr.IDLUnknownField {
		t.Errorf("an unknown field gave %v", err)
	}
	a.Doc = append(a.Doc, bson.E{Key: "a", Value: 2})
	if err := a.CheckKnown([]string{"a", "b"}); mongoerr.CodeOf(err) != 40413 {
		t.Errorf("a field that is given twice gave %v", err)
	}
}
