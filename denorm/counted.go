package denorm

// A Count is a number of members ([UniqueCount.Count]) or documents ([Inverted.Count]).
type Count struct {
	N int64 `bson:"n"`
}

// A Counted says that Value has N members or documents. Value is a group
// ([UniqueCount.Counts]), period ([UniqueCount.PerPeriod]) or field value
// ([Inverted.Values]).
type Counted[T any] struct {
	Value T     `bson:"value"`
	N     int64 `bson:"n"`
}

// A Use counts the documents in which an attribute or a column has values of one BSON
// type. See [Attributes.Survey] and [Columns.Survey].
type Use struct {
	Name      string `bson:"name"`
	Type      string `bson:"type"` // BSON type, as $type names it
	Documents int64  `bson:"documents"`
}
