package forest

// Places: where a node is inserted or moved to, and what happens to the children of a
// deleted node.

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/model"
)

// A Place is where a node is put. The zero Place is after the last root.
type Place[K any] struct {
	At  Position
	Ref K // the node that At is relative to
}

// A Position says how the node Ref determines the place.
type Position uint8

// The positions. Those of roots name no node.
const (
	// Roots need no Ref.
	LastRoot Position = iota
	FirstRoot
	FirstChild
	LastChild
	Before
	After
)

func (p Position) String() string {
	return [...]string{"last root", "first root", "first child of", "last child of", "before", "after"}[p]
}

// IsRoot reports whether the place needs no node to refer to.
func (p Position) IsRoot() bool { return p <= FirstRoot }

// String describes the place in words.
func (p Place[K]) String() string {
	if p.At.IsRoot() {
		return p.At.String()
	}
	if k := reflect.ValueOf(&p.Ref).Elem(); k.Kind() == reflect.Interface { // a list or a map may hold itself
		return p.At.String() + " " + model.Shell(p.Ref)
	}
	return fmt.Sprintf("%s %v", p.At, p.Ref)
}

// ConvertPlace converts the id in a place, such as to a BSON value.
func ConvertPlace[K, L any](at Place[K], of func(K) (L, error)) (to Place[L], err error) {
	if to.At = at.At; !at.At.IsRoot() {
		to.Ref, err = of(at.Ref)
	}
	return to, err
}

// A Mode is the shell's DeleteMode.
type Mode uint8

// The modes.
const (
	Restrict Mode = iota // a node that has children is not deleted
	Subtree              // they are deleted too, and theirs
	Promote              // they take its place, in their order
	Rootify              // they become roots, after the last one
)
