package counter

import "go.mongodb.org/mongo-driver/v2/bson"

// A state is what an operation read, and decides from.
type state struct {
	Child   bson.Raw    // the child: the fields that count, and the mark of an operation under way; nil if there is no child
	Parents []parentDoc // the parents that the operation changes, as far as they were read
	Done    bool        // the operation was done before: a parent holds its token, and the child has no mark of it

	// Tx says that the operation runs in a transaction: nothing is cut off, so that no mark is stored. What a parent that was not read then
	// is hoped to be, its write asks for.
	Tx bool
}

// A parentDoc is a parent as an operation read it.
type parentDoc struct {
	ID  bson.RawValue
	Doc bson.Raw // its tokens, and the smallest and greatest; nil if there is no such parent

	// Next are the smallest or greatest values of the other children, by the path where the parent keeps them.
	// Type 0 means that no other child has a value.
	Next map[string]bson.RawValue
}
