package denorm

// A Count is a number of members (package uniquecount) or documents (package inverted).
type Count struct {
	N int64 `bson:"n"`
}

// A Counted says that Value has N members or documents. Value is a group or period
// (package uniquecount) or a field's value (package inverted).
type Counted[T any] struct {
	Value T     `bson:"value"`
	N     int64 `bson:"n"`
}

// A Use counts the documents in which an attribute (package attributes) or a column
// (package columns) has values of one BSON type.
type Use struct {
	Name      string `bson:"name"`
	Type      string `bson:"type"` // BSON type, as $type names it
	Documents int64  `bson:"documents"`
}
