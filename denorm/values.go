package denorm

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// equalValues compares as the server does: numbers by value, whatever their types, in documents and arrays too.
func equalValues(a, b bson.RawValue) bool {
	if a.Type == b.Type && bytes.Equal(a.Value, b.Value) {
		return true
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x.Cmp(y) == 0
	}
	if a.Type != b.Type || a.Type != bson.TypeEmbeddedDocument && a.Type != bson.TypeArray {
		return false
	}
	x, errX := bson.Raw(a.Value).Elements()
	y, errY := bson.Raw(b.Value).Elements()
	if errX != nil || errY != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Key() != y[i].Key() || !equalValues(x[i].Value(), y[i].Value()) {
			return false
		}
	}
	return true
}

// number is a finite number, exactly.
func number(v bson.RawValue) (*big.Rat, bool) {
	switch v.Type {
	case bson.TypeInt32:
		return new(big.Rat).SetInt64(int64(v.Int32())), true
	case bson.TypeInt64:
		return new(big.Rat).SetInt64(v.Int64()), true
	case bson.TypeDouble:
		r := new(big.Rat).SetFloat64(v.Double())
		return r, r != nil
	case bson.TypeDecimal128:
		d := v.Decimal128()
		n, exp, err := d.BigInt()
		if err != nil {
			return nil, false
		}
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
		r := new(big.Rat).SetInt(n)
		if exp < 0 {
			return r.Quo(r, new(big.Rat).SetInt(ten)), true
		}
		return r.Mul(r, new(big.Rat).SetInt(ten)), true
	}
	return nil, false
}

// A shapeNode is a field of the copied fields' document: a copied path, or a document of more.
type shapeNode struct {
	name  string
	path  string // of the whole path; "" for a document
	below []*shapeNode
}

// shapeOf is the nesting of copied fields.
func shapeOf(paths []string) *shapeNode {
	root := &shapeNode{}
	for _, path := range paths {
		node := root
		for _, part := range strings.Split(path, ".") {
			i := slices.IndexFunc(node.below, func(n *shapeNode) bool { return n.name == part })
			if i < 0 {
				i = len(node.below)
				node.below = append(node.below, &shapeNode{name: part})
			}
			node = node.below[i]
		}
		node.path = path
	}
	return root
}

// build makes the document of copied fields; leaf says what one is, and whether it is there.
func (n *shapeNode) build(leaf func(path string) (any, bool)) bson.D {
	d := bson.D{}
	for _, b := range n.below {
		if b.path == "" {
			d = append(d, bson.E{Key: b.name, Value: b.build(leaf)})
		} else if v, ok := leaf(b.path); ok {
			d = append(d, bson.E{Key: b.name, Value: v})
		}
	}
	return d
}
