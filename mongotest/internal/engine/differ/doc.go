// Package differ compares the embedded engine with a real server: it makes random documents and random
// commands over every operator that the engine knows, runs them on both, and compares what comes back and
// what is stored, byte for byte.
//
// A case is a function of its seed and number alone. When the two disagree, the case is shrunk and printed
// in the form of the files under testdata, where each has the result that MongoDB's documentation gives and
// is replayed on the engine by an ordinary test.
//
// The server at hand may differ from MongoDB itself. Each such difference is a rule (see rules): it has a
// reason, matches as little as possible, and the cases that it set aside are counted.
package differ
