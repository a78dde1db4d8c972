package advise

import "fmt"

// The rules: a source in the list of the package comment, and a place in it. They are in the order of their texts.
const (
	ruleEmbed      = "004 rule 1" // favor embedding unless there is a compelling reason not to
	ruleStandalone = "004 rule 2" // needing to access an object on its own is such a reason
	ruleArrays     = "004 rule 3" // arrays should not grow without bound
	ruleJoins      = "004 rule 4" // don't be afraid of application-level joins
	ruleRatio      = "004 rule 5" // consider the ratio of reads to writes when denormalizing
	ruleAccess     = "004 rule 6" // structure your data by the ways it is accessed
	ruleLimit      = "004 part 1" // squillions overflow 16 MB, even as ObjectIDs
	ruleBound      = "004 part 1" // an array of the ids of a bounded number of parts
	ruleTwoWay     = "004 part 2" // two-way references; no atomic update of both sides
	// fields are copied to documents that refer to their source, or that it refers to
	ruleCopy   = "004 part 2"
	ruleFold   = "004 part 2" // denormalize the one side whole, and remove it
	ruleNewest = "004 part 2" // the last 1000 messages of a host

	ruleChange   = "000 when to embed, 3"     // embedded data changes infrequently
	ruleTogether = "000 when to embed, 5"     // it is queried together
	ruleShared   = "000 when to refer, 2"     // many-to-many
	ruleWhere    = "000 where to refer"       // the growth of the relation says which side has the reference
	ruleNoJoin   = "000 many-to-many"         // ids on both sides instead of joining documents
	rulePages    = "000 when not to embed"    // comments in documents of a hundred
	ruleComputed = "000 hybrid data models"   // countOfBooks
	ruleValues   = "002 §2"                   // an aggregate contains its attributes
	ruleAppended = "002 §3"                   // messages that are added all the time leave the user
	ruleAtomic   = "002 §4"                   // one aggregate is one atomic update
	ruleWide     = "001 users who like items" // rows by either id, with copied names

	ruleOwned    = "manual one-to-many with references" // the publisher's id in the book, to avoid growing arrays
	ruleOneToOne = "manual one-to-one"                  // embed data that is read together
	ruleTree     = "manual tree structures"             // the use of each form
	ruleKinds    = "manual polymorphic data"            // documents of different shapes in one collection
	ruleVersions = "manual document versioning"         // earlier versions are documents of another collection
	ruleLog      = "Azure event sourcing"               // events are stored, states derived
	ruleEvents   = "manual atomicity"                   // one document changes atomically
	ruleExpiry   = "manual TTL indexes"                 // the server deletes documents by their time
	ruleWorking  = "manual bloated documents"           // store together only what is accessed together
	ruleOutlier  = "manual outlier pattern"             // a few documents shouldn't shape the model
	ruleRough    = "manual approximation pattern"       // an inexact counter is seldom written
	ruleOrdered  = "manual child references"            // an array that lists children, in order
	ruleLinks    = "003 hybrid data models"             // data of the relation in its own documents
	ruleHot      = "Firestore distributed counters"     // the write rate of a document is limited
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
