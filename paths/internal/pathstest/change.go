package pathstest

import "github.com/docmodel/docmodel/paths"

// A Change makes a change of a tree of any kind.
type Change func(Kind) Runner

// Moved, Deleted and Added are the changes of the tree's methods.
func Moved(id string, to paths.Place[string]) Change {
	return func(k Kind) Runner { return k.Tree.Move(id, to) }
}

func Deleted(id string, mode paths.DeleteMode) Change {
	return func(k Kind) Runner { return k.Tree.Delete(id, mode) }
}

func Added(id string, at paths.Place[string]) Change {
	return func(k Kind) Runner {
		return k.Tree.Insert(Category{ID: id, Name: id}, at)
	}
}
