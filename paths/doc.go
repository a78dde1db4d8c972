// Package paths keeps trees in MongoDB's documents, in the representations that the literature knows, behind one set of operations.
package paths
