package relate

// Loaded is a document with the documents that refer to it: see [ParentRef.Load].
type Loaded[P, C any] struct {
	Parent   P   `bson:"parent"`
	Children []C `bson:"children"`
}

// Linked is a document (Doc) with the document that it refers to (To). For example, Doc
// is a link of a [JoinCollection], and To is the document on one side. If the document on
// that side is missing, To is nil.
type Linked[D, T any] struct {
	Doc D  `bson:"doc"`
	To  *T `bson:"to"`
}

// Count is the number of documents or links that belong to an id.
type Count[K any] struct {
	ID K     `bson:"_id"`
	N  int64 `bson:"n"`
}
