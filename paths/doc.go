// Package paths stores and reads trees and graphs of documents.
//
// # Choosing
//
// A [Tree] has one document per node. Each document contains its parent's _id, a key that
// orders siblings ([TreeSpec]), and the fields of one representation:
//
//	representation       fields             choose it if
//	NewParentTree        none               nodes move often, subtrees aren't too large
//	NewChildTree         children's _ids    children are shown by page or by number
//	NewAncestorArray     ancestors' _ids    queries filter a subtree by other fields
//	NewMaterializedPath  the path, a string nodes are found and shown by their path
//	NewNestedSet         two numbers        subtrees are read in order and seldom change
//
// Other needs:
//
//	a small tree within one document, such as comments    DocumentTree
//	another representation of the same documents          Convert, then Tree.Drop
//	a copy in another collection                          ConvertInto
//	from a document to a collection, and back             Extract, Absorb
//	from a document to another document                   ConvertDocument
//	totals of a number over subtrees                      RollUp
//	a tree in memory                                      Forest
//	numbers for a nested set, streamed                    Number
//	distances, components and ranks of a graph            Graph
//	a function in Go over all vertices of a graph         NewProgram
//	order keys for siblings, or for any list              Between, Spread
//	paths of escaped segments                             Path, Segments
//
// # Trees
//
// The table says how many documents a change writes, and how queries find nodes. For
// child trees and nested sets, see [NewChildTree] and [NewNestedSet].
//
//	                     ParentTree              AncestorArray  MaterializedPath
//	insert, delete       1 document              1              1
//	move                 1                       the subtree    the subtree
//	move among siblings  1                       1              1
//	rename               your own update         your own       the subtree
//	ancestors            $graphLookup by _id     query by _id   query by path
//	descendants          $graphLookup by parent  one query      one range of an index
//
// A lock admits one writer at a time. A reader can see part of a change: see [Tree].
// The repair of [Tree].Checks corrects damage by other code.
package paths
