package advise

import "fmt"

// A Rule says where the rule of a [Reason] is published.
type Rule struct {
	Source string // a source in the package comment's list: "004"
	Place  string // where in the Source: "rule 3"
}

// text returns the Source and the Place, such as "004 rule 3".
func (r Rule) text() string { return r.Source + " " + r.Place }

// The rules, in the order of their texts.
var (
	ruleEmbed      = Rule{"004", "rule 1"} // favor embedding unless there is a compelling reason not to
	ruleStandalone = Rule{"004", "rule 2"} // needing to access an object on its own is such a reason
	ruleArrays     = Rule{"004", "rule 3"} // arrays should not grow without bound
	ruleJoins      = Rule{"004", "rule 4"} // don't be afraid of application-level joins
	ruleRatio      = Rule{"004", "rule 5"} // consider the ratio of reads to writes when denormalizing
	ruleAccess     = Rule{"004", "rule 6"} // structure your data by the ways it is accessed
	ruleLimit      = Rule{"004", "part 1"} // squillions overflow 16 MB, even as ObjectIDs
	ruleBound      = Rule{"004", "part 1"} // an array of the ids of a bounded number of parts
	ruleTwoWay     = Rule{"004", "part 2"} // two-way references; no atomic update of both sides
	// fields are copied to documents that refer to their source, or that it refers to
	ruleCopy   = Rule{"004", "part 2"}
	ruleFold   = Rule{"004", "part 2"} // denormalize the one side whole, and remove it
	ruleNewest = Rule{"004", "part 2"} // the last 1000 messages of a host

	ruleChange   = Rule{"000", "when to embed, 3"}     // embedded data changes infrequently
	ruleTogether = Rule{"000", "when to embed, 5"}     // it is queried together
	ruleShared   = Rule{"000", "when to refer, 2"}     // many-to-many
	ruleWhere    = Rule{"000", "where to refer"}       // the growth of the relation says which side has the reference
	ruleNoJoin   = Rule{"000", "many-to-many"}         // ids on both sides instead of joining documents
	rulePages    = Rule{"000", "when not to embed"}    // comments in documents of a hundred
	ruleComputed = Rule{"000", "hybrid data models"}   // countOfBooks
	ruleValues   = Rule{"002", "§2"}                   // an aggregate contains its attributes
	ruleAppended = Rule{"002", "§3"}                   // messages that are added all the time leave the user
	ruleAtomic   = Rule{"002", "§4"}                   // one aggregate is one atomic update
	ruleWide     = Rule{"001", "users who like items"} // rows by either id, with copied names

	ruleOwned    = Rule{"manual", "one-to-many with references"} // the publisher's id in the book, to avoid growing arrays
	ruleOneToOne = Rule{"manual", "one-to-one"}                  // embed data that is read together
	ruleTree     = Rule{"manual", "tree structures"}             // the use of each form
	ruleKinds    = Rule{"manual", "polymorphic data"}            // documents of different shapes in one collection
	ruleVersions = Rule{"manual", "document versioning"}         // earlier versions are documents of another collection
	ruleLog      = Rule{"Azure", "event sourcing"}               // events are stored, states derived
	ruleEvents   = Rule{"manual", "atomicity"}                   // one document changes atomically
	ruleExpiry   = Rule{"manual", "TTL indexes"}                 // the server deletes documents by their time
	ruleWorking  = Rule{"manual", "bloated documents"}           // store together only what is accessed together
	ruleOutlier  = Rule{"manual", "outlier pattern"}             // a few documents shouldn't shape the model
	ruleRough    = Rule{"manual", "approximation pattern"}       // an inexact counter is seldom written
	ruleOrdered  = Rule{"manual", "child references"}            // an array that lists children, in order
	ruleLinks    = Rule{"003", "hybrid data models"}             // data of the relation in its own documents
	ruleHot      = Rule{"Firestore", "distributed counters"}     // the write rate of a document is limited
)

// bytesText formats a size in the units of MongoDB's limits: 1 kB is 1024 B.
func bytesText(n int64) string {
	switch v := float64(n); {
	case n < 1024:
		return fmt.Sprintf("%d B", n)
	case v < 1024*1023.95:
		return fmt.Sprintf("%.1f kB", v/1024)
	case v < 1024*1024*1023.95:
		if n%(1<<20) == 0 {
			return fmt.Sprintf("%d MB", n>>20)
		}
		return fmt.Sprintf("%.1f MB", v/1024/1024)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1024/1024/1024)
}

// countText formats a number with separated thousands.
func countText(n int64) string {
	if n == unbounded {
		return "any number of"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
