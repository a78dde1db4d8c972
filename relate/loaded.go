package relate

// Loaded is a document with the documents it refers to, or that refer to it, as one pipeline returns them.
type Loaded[P, C any] struct {
	Parent   P   `bson:"parent"`
	Children []C `bson:"children"`
}

// Linked is a document with the one that it leads to: a link with the document at one end, a child with its parent. To is
// nil when that document is missing.
type Linked[D, T any] struct {
	Doc D  `bson:"doc"`
	To  *T `bson:"to"`
}

// Count is how many documents, or links, belong to an id.
type Count[K any] struct {
	ID K     `bson:"_id"`
	N  int64 `bson:"n"`
}
