package denorm

// A Count is how many there are: members ([UniqueCount.Count]), or documents ([Inverted.Count]).
type Count struct {
	N int64 `bson:"n"`
}

// A Counted is how many documents, or members, there are of a value: of a group ([UniqueCount.Counts]), of a period
// ([UniqueCount.PerPeriod]), or of an indexed value ([Inverted.Values], [Inverted.Report]).
type Counted[T any] struct {
	Value T     `bson:"value"`
	N     int64 `bson:"n"`
}

// A Use says how many documents have a value of one BSON type under a name: of an attribute ([Attributes.Survey]) or of a
// column ([Columns.Survey]).
type Use struct {
	Name      string `bson:"name"`
	Type      string `bson:"type"` // as $type names it
	Documents int64  `bson:"documents"`
}
