package model

// A Need is a server feature that a [Technique] needs besides reads, writes and indexes.
type Need struct {
	Feature   string // "transactions", "change streams" or "TTL indexes"
	Technique string // type that needs the feature, such as "counter.Counter"
	Why       string // the method or index that needs it
}

// String returns the need in one line.
func (n Need) String() string { return n.Feature + ": " + n.Technique + ": " + n.Why }
