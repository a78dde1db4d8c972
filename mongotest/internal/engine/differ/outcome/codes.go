package outcome

// A class of error codes is what a caller can act upon. Within a class codes aren't compared: when several
// things are wrong with a command, which one is reported depends on the order in which a server looks, and
// MongoDB documents neither that order nor most of its codes.
const (
	duplicateKey = "duplicate key"
	immutable    = "immutable field"
	invalid      = "invalid"
)

// classes lists the codes that stand for something of their own; any other is invalid.
var classes = map[int32]string{
	11000: duplicateKey, // a unique index refuses a document: callers read, then update instead
	66:    immutable,    // a change of _id: callers must delete and insert
}

// classOf returns the class of a code.
func classOf(code int32) string {
	if class, ok := classes[code]; ok {
		return class
	}
	return invalid
}

// SameCode reports whether two codes stand for the same kind of failure.
func SameCode(engine, server int32) bool { return classOf(engine) == classOf(server) }
