package schema

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// builder makes the nodes of a type.
type builder struct {
	docs  *core.Docs
	field func(path string) // panics if documents don't have the path

	closed, loose bool
	shape         core.Shape // of the document
	opaque        map[string]string
}

func (b *builder) describe(s core.Shape, spec Spec) described {
	b.closed, b.loose, b.shape = spec.Closed, spec.Loose, s
	root := b.node(s, "", nil)
	root.require("_id", true)
	if root.property("_id") == nil {
		root.fields = append([]*property{{"_id", &node{}}}, root.fields...)
	}
	for _, f := range spec.Fields {
		f.apply(b, root)
	}
	if spec.Tag != "" || spec.Variants != nil {
		b.oneOf(root, "", spec.Tag, spec.Variants)
	}
	return described{b.docs.Name(), root, b.opaque}
}

func (b *builder) refuse(path, problem, remedy string) {
	core.Fail(problem, fmt.Sprintf("schema of %s, path %q", b.docs.Name(), path), remedy)
}

// node describes the values of a shape. outer are the structs around it.
func (b *builder) node(s core.Shape, path string, outer []reflect.Type) *node {
	n := &node{}
	switch s.Kind {
	case core.DocumentShape:
		n.types = []string{"object"}
		if slices.Contains(outer, s.Type) {
			b.note(path, s.Type.String()+" contains itself")
			break
		}
		b.structure(n, s, path, append(slices.Clone(outer), s.Type))
	case core.ArrayShape:
		n.types = []string{"array"}
		n.items = b.node(s.Elem(), path, outer)
		if s.Type.Kind() == reflect.Array {
			length := int64(s.Type.Len())
			n.minItems, n.maxItems = &length, &length
		}
	case core.MapShape:
		n.types = []string{"object"}
		n.rest = b.node(s.Elem(), rawdoc.JoinPath(path, "*"), outer)
	case core.OpenShape:
		b.open(n, s, path)
	default:
		b.scalar(n, s, path)
	}
	n.nullable = s.Null
	if s.Null && len(n.types) > 0 && !slices.Contains(n.types, "null") {
		n.types = append(n.types, "null")
	}
	return n
}

func (b *builder) note(path, why string) {
	if path == "" {
		path = "the document"
	}
	b.opaque[path] = why
}

// structure describes the fields of a struct.
func (b *builder) structure(n *node, s core.Shape, path string, outer []reflect.Type) {
	fields, rest := s.Fields()
	for _, f := range fields {
		at := rawdoc.JoinPath(path, f.Name)
		if err := core.CheckKey(f.Name); err != nil {
			b.refuse(at, err.Error(), "give the field a name that can be stored")
		}
		n.fields = append(n.fields, &property{f.Name, b.node(f, at, outer)})
		if !f.Optional {
			n.required = append(n.required, f.Name)
		}
	}
	if rest != nil {
		n.rest = b.node(*rest, rawdoc.JoinPath(path, "*"), outer)
	}
	n.closed = b.closed && rest == nil
}

var (
	documentType = reflect.TypeFor[bson.D]()
	mapType      = reflect.TypeFor[bson.M]()
	rawType      = reflect.TypeFor[bson.Raw]()
	listType     = reflect.TypeFor[bson.A]()
	anyMapType   = reflect.TypeFor[map[string]any]()
)

// open describes values that their Go type doesn't determine.
func (b *builder) open(n *node, s core.Shape, path string) {
	switch t := s.Type; {
	case t == nil:
		return
	case t == documentType, t == mapType, t == rawType, t == anyMapType:
		n.types = []string{"object"}
		b.note(path, t.String()+" is a document with any fields")
	case t == listType:
		n.types = []string{"array"}
		b.note(path, t.String()+" is an array of any values")
	case t.Kind() == reflect.Interface:
		b.note(path, t.String()+" can be any value")
	default:
		b.note(path, t.String()+" is stored as its own code decides")
	}
}

// scalarAliases are the BSON types of Go types that aren't told by their kind.
var scalarAliases = map[reflect.Type][]string{
	reflect.TypeFor[time.Time](): {"date"}, reflect.TypeFor[bson.DateTime](): {"date"},
	reflect.TypeFor[bson.ObjectID](): {"objectId"}, reflect.TypeFor[bson.Decimal128](): {"decimal"},
	reflect.TypeFor[bson.Timestamp](): {"timestamp"}, reflect.TypeFor[bson.Regex](): {"regex"},
	reflect.TypeFor[bson.Binary](): {"binData"}, reflect.TypeFor[bson.Vector](): {"binData"},
	reflect.TypeFor[bson.DBPointer](): {"dbPointer"}, reflect.TypeFor[bson.MinKey](): {"minKey"},
	reflect.TypeFor[bson.MaxKey](): {"maxKey"}, reflect.TypeFor[bson.Null](): {"null"},
	reflect.TypeFor[bson.Undefined](): {"undefined"}, reflect.TypeFor[bson.JavaScript](): {"javascript"},
	reflect.TypeFor[bson.CodeWithScope](): {"javascriptWithScope"}, reflect.TypeFor[bson.Symbol](): {"symbol"},
	reflect.TypeFor[json.Number](): {"int", "long", "double"}, reflect.TypeFor[url.URL](): {"string"},
}

// scalar describes one value.
func (b *builder) scalar(n *node, s core.Shape, path string) {
	if aliases, ok := scalarAliases[s.Type]; ok {
		n.types = slices.Clone(aliases)
		return
	}
	long := []string{"long"}
	if s.MinSize || b.loose {
		long = []string{"int", "long"}
	}
	small := []string{"int"}
	if b.loose {
		small = []string{"int", "long"}
	}
	switch k := s.Type.Kind(); k {
	case reflect.Bool:
		n.types = []string{"bool"}
	case reflect.String:
		n.types = []string{"string"}
	case reflect.Int:
		n.types = []string{"int", "long"}
	case reflect.Int64:
		n.types = long
	case reflect.Uint, reflect.Uint64:
		n.types, n.min = long, whole(0)
	case reflect.Uint32:
		n.types, n.min, n.max = long, whole(0), whole(1<<32-1)
	case reflect.Int8, reflect.Int16, reflect.Uint8, reflect.Uint16:
		n.types = small
		n.min, n.max = kindRange(k)
	case reflect.Int32:
		n.types = small
		if b.loose {
			n.min, n.max = whole(-1<<31), whole(1<<31-1)
		}
	case reflect.Float32, reflect.Float64:
		n.types = []string{"double"}
		if b.loose {
			n.types = []string{"double", "int", "long"}
		}
	case reflect.Slice, reflect.Array: // of bytes
		n.types = []string{"binData"}
	default:
		b.refuse(path, "a "+s.Type.String()+" can't be stored", "leave the field out, by the tag `bson:\"-\"`")
	}
}

// whole is a limit at an integer.
func whole(n int64) limit { return limit{value: rawInteger(n)} }

func kindRange(k reflect.Kind) (low, high limit) {
	switch k {
	case reflect.Int8:
		return whole(-1 << 7), whole(1<<7 - 1)
	case reflect.Int16:
		return whole(-1 << 15), whole(1<<15 - 1)
	case reflect.Uint8:
		return whole(0), whole(1<<8 - 1)
	}
	return whole(0), whole(1<<16 - 1)
}

// rawInteger encodes an integer, as an int if it fits.
func rawInteger(n int64) bson.RawValue {
	var v any = n
	if int64(int32(n)) == n {
		v = int32(n)
	}
	raw, _ := bson.Marshal(bson.D{{Key: "v", Value: v}}) // integers can always be encoded
	return bson.Raw(raw).Lookup("v")
}
