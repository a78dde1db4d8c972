package denorm

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
