package columns

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tree is a value that is built from columns.
type tree struct {
	value bson.RawValue // of a column; type 0 for a document or an array
	array bool
	// of the fields or elements, in the order of the columns
	names []string
	below map[string]*tree
}

// nestDocument returns the document of a flat document. It refuses columns that
// flattenDocument can't have written.
func (c *untypedColumns) nestDocument(flat bson.Raw) (bson.Raw, error) {
	elems, err := flat.Elements()
	if err != nil {
		return nil, c.docs.Refuse("document", nil, err.Error())
	}
	root := &tree{below: map[string]*tree{}}
	for _, e := range elems {
		name := e.Key()
		parts := []string{name}
		if name != "_id" {
			if name, err = c.removeType(name, e.Value()); err != nil {
				return nil, err
			}
			parts = strings.Split(name, c.spec.Separator)
		}
		if err := c.placeValue(root, e.Key(), parts, e.Value()); err != nil {
			return nil, err
		}
	}
	v, err := c.nestNode(root, "")
	if err != nil {
		return nil, err
	}
	return bson.Marshal(v)
}

// removeType removes the type from a column's name.
func (c *untypedColumns) removeType(name string, v bson.RawValue) (string, error) {
	if !c.spec.Typed {
		return name, nil
	}
	// The last "!" begins the type. Earlier ones belong to names of fields.
	i := strings.LastIndexByte(name, '!')
	if i < 0 || name[i+1:] != typeName(v.Type) {
		return "", c.docs.Refuse(name, v, "the column's name doesn't end with the type of its value, as Typed asks")
	}
	return name[:i], nil
}

// placeValue puts a value into the tree at the place that its column's name says.
func (c *untypedColumns) placeValue(node *tree, column string, parts []string, v bson.RawValue) error {
	if len(parts) > greatestDepth {
		return c.docs.Refuse(commands.Shorten(column), nil,
			fmt.Sprintf("is nested deeper than %d levels", greatestDepth))
	}
	for i, part := range parts {
		element := strings.HasPrefix(part, "#")
		switch {
		case element && i == 0:
			return c.docs.Refuse(column, nil, "begins with an array element: a column's name begins with a field")
		case len(node.names) == 0:
			node.array = element
		case node.array != element:
			return c.docs.Refuse(column, nil, "mixes fields and array elements at one path")
		}
		key, ok := part, true
		if !element {
			key, ok = unescapeName(part)
		}
		if !ok {
			return c.docs.Refuse(column, nil, "has a % that two hexadecimal digits don't follow")
		}
		next, last := node.below[key], i == len(parts)-1
		switch {
		case next == nil:
			next = &tree{below: map[string]*tree{}}
			node.names = append(node.names, key)
			node.below[key] = next
		case last || next.value.Type != 0:
			return c.docs.Refuse(column, nil, "overlaps another column")
		}
		node = next
	}
	node.value = v
	return nil
}

// nestNode returns the value of a node. path is for errors.
func (c *untypedColumns) nestNode(n *tree, path string) (any, error) {
	if n.value.Type != 0 {
		return n.value, nil
	}
	if !n.array {
		d := make(bson.D, len(n.names))
		for i, name := range n.names {
			v, err := c.nestNode(n.below[name], path+"."+name)
			if err != nil {
				return nil, err
			}
			d[i] = bson.E{Key: name, Value: v}
		}
		return d, nil
	}
	// The elements can come in any order, but none may be missing.
	a := make(bson.A, len(n.names))
	for i := range a {
		e, ok := n.below["#"+strconv.Itoa(i)]
		if !ok {
			return nil, c.docs.Refuse(strings.TrimPrefix(path, "."), nil,
				fmt.Sprintf("has %d elements, but element %d is missing", len(a), i))
		}
		v, err := c.nestNode(e, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return nil, err
		}
		a[i] = v
	}
	return a, nil
}

// unescapeName is the opposite of encodeName. ok is false for a name that encodeName
// never writes.
func unescapeName(s string) (string, bool) {
	if s == "%" {
		return "", true
	}
	if s == "" {
		return "", false
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || b == 0 { // no name holds a NUL
			return "", false
		}
		out = append(out, byte(b))
		i += 2
	}
	return string(out), true
}

// typeNames are the BSON types by the names that $type gives them:
// https://www.mongodb.com/docs/manual/reference/bson-types/.
var typeNames = map[bson.Type]string{
	bson.TypeDouble: "double", bson.TypeString: "string", bson.TypeEmbeddedDocument: "object", bson.TypeArray: "array",
	bson.TypeBinary: "binData", bson.TypeUndefined: "undefined", bson.TypeObjectID: "objectId",
	bson.TypeBoolean: "bool", bson.TypeDateTime: "date", bson.TypeNull: "null", bson.TypeRegex: "regex",
	bson.TypeDBPointer: "dbPointer", bson.TypeJavaScript: "javascript", bson.TypeSymbol: "symbol",
	bson.TypeCodeWithScope: "javascriptWithScope", bson.TypeInt32: "int", bson.TypeTimestamp: "timestamp",
	bson.TypeInt64: "long", bson.TypeDecimal128: "decimal", bson.TypeMinKey: "minKey", bson.TypeMaxKey: "maxKey",
}

func typeName(t bson.Type) string { return typeNames[t] }

// countColumns is the pipeline of the columns and types that occur, with their numbers of
// documents.
func (c *untypedColumns) countColumns() mongo.Pipeline {
	uses := commands.CountUses("$column.k", "$column.v")
	return mongo.Pipeline{
		mql.Project(mql.E("_id", 0), mql.E("column", mql.Op("$objectToArray", "$$ROOT"))),
		mql.Unwind("$column"),
		uses[0], mql.Sort(mql.E("_id.name", 1), mql.E("_id.type", 1)), uses[1],
	}
}
