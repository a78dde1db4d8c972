package pathstest

import "github.com/docmodel/docmodel/paths"

// A Change makes a change of a tree of any kind. Tables of tests have Changes, and run each with every representation.
type Change func(Kind) Runner

// MoveNode returns the change of the tree's method Move.
func MoveNode(id string, to paths.Place[string]) Change {
	return func(k Kind) Runner { return k.Tree.Move(id, to) }
}

// DeleteNode returns the change of the tree's method Delete.
func DeleteNode(id string, mode paths.DeleteMode) Change {
	return func(k Kind) Runner { return k.Tree.Delete(id, mode) }
}

// InsertNode returns the change of the tree's method Insert, for a node whose name is its id.
func InsertNode(id string, at paths.Place[string]) Change {
	return func(k Kind) Runner {
		return k.Tree.Insert(Category{ID: id, Name: id}, at)
	}
}
