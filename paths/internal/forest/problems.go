package forest

import "fmt"

// A Kind is a kind of damage. Trees of documents and trees within documents share the
// kinds.
type Kind uint8

const (
	Orphan      Kind = iota // its parent doesn't exist
	Cycle                   // it is its own ancestor
	BadOrder                // its order key is none, or a sibling has the same
	WrongField              // a field of the representation is not what the links say
	TakenField              // another node would have to have the same: the segment of a sibling
	DuplicateID             // in a document: a node before it has the same id
	NotANode                // in a document: it is no document, or has no id
	NotAList                // in a document: the whole list is something else
	// it has no segment that a path can hold; its path and those of what is below it are left as they are
	BadSegment
	TwoParents // two lists of children name it
	// the number of its last change is none, or above that of the lock document, which was lost then
	BadChange
)

// KindWords are the kinds as a finding's Detail stores them. Users read them: don't
// rename.
var KindWords = [...]string{
	"orphan", "cycle", "order", "field", "same", "duplicate", "notANode", "notAList", "segment", "twoParents", "change",
}

// String describes the kind, after the name of a node.
func (k Kind) String() string {
	names := [...]string{
		"has a missing parent", "is its own ancestor", "has no order key, or the same as a sibling",
		"has a field that disagrees with the parent links",
		"needs a value that another node has", "has the id of another node", "isn't a node", "isn't a list of nodes",
		"has no segment for a path",
		"is a child of two nodes",
		"has an invalid change number, or one that is higher than the lock document's",
	}
	if int(k) >= len(names) {
		return fmt.Sprintf("ProblemKind(%d)", uint8(k))
	}
	return names[k]
}
