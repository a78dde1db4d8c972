package embed_test

import (
	"bytes"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model/embed"
)

type (
	uniPrinted interface{ printed() }
	uniBound   interface{ bound() }
	uniLeaf    struct{ N int32 }
)

func (uniBook) printed() {}

func (uniMap) printed() {}

func (uniLeaf) printed() {}

func (uniBook) bound() {}

// uniBoth registers a union of media beside others, of which the last is of one case.
func uniBoth(tag string, c embed.UnionCase) *bson.Registry {
	r := bson.NewRegistry()
	uniStrict.Register(r)
	embed.NewUnion[uniBound]("kind", embed.Case[uniBook]("b")).Register(r)
	embed.NewUnion[uniPrinted](tag, c).Register(r)
	return r
}

// Unions of different types stand beside each other, by the same tag too; and so do those that share a struct, by tags
// of their own.
func TestUnionsTogether(t *testing.T) {
	for tag, c := range map[string]embed.UnionCase{
		"type": embed.Case[uniLeaf]("leaf"), "print": embed.Case[uniBook]("b"),
	} {
		r := uniBoth(tag, c)
		type box struct {
			A []uniMedium
			B uniBound
			C uniPrinted
		}
		in := box{A: []uniMedium{uniBook{ID: "a"}, uniMap{"_id": "m"}}, B: uniBook{ID: "b"}, C: uniBook{ID: "c"}}
		if tag == "type" {
			in.C = uniLeaf{3}
		}
		var buf bytes.Buffer
		enc, dec := bson.NewEncoder(bson.NewDocumentWriter(&buf)), bson.NewDecoder(bson.NewDocumentReader(&buf))
		enc.SetRegistry(r)
		dec.SetRegistry(r)
		var out box
		if err := enc.Encode(in); err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(&out); err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%+v becomes %+v, %v", in, out, err)
		}
	}
}
