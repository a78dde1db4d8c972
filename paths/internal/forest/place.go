package forest

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

// A Position is how a place is named.
type Position uint8

// The positions. Those of roots name no node.
const (
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

// Root reports whether no node is named.
func (p Position) Root() bool { return p <= FirstRoot }

// String says the place in words.
func (p Place[K]) String() string {
	if p.At.Root() {
		return p.At.String()
	}
	if k := reflect.ValueOf(&p.Ref).Elem(); k.Kind() == reflect.Interface { // a list or a map may hold itself
		return p.At.String() + " " + model.Shell(p.Ref)
	}
	return fmt.Sprintf("%s %v", p.At, p.Ref)
}

// PlaceOf is a place whose node is named in another way.
func PlaceOf[K, L any](at Place[K], of func(K) (L, error)) (to Place[L], err error) {
	if to.At = at.At; !at.At.Root() {
		to.Ref, err = of(at.Ref)
	}
	return to, err
}

// A Mode says what becomes of a deleted node's children.
type Mode uint8

// The modes.
const (
	Restrict Mode = iota // a node that has children is not deleted
	Subtree              // they are deleted too, and theirs
	Promote              // they take its place, in their order
	Rootify              // they become roots, after the last one
)
