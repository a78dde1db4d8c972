// Package paths declares trees and graphs of documents: where a node is, what lies above and below it, and how it is moved.
//
// # Choosing
//
// A tree's documents hold, beside what the application keeps in them, the node's parent, its order among the siblings ([TreeSpec]),
// and what the representation adds:
//
//	nothing else; moves are frequent, subtrees are asked for in whole and not too large  [NewParentTree]
//	all _ids of its children; nodes are shown with them, by pages or by their number     [NewChildTree]
//	all _ids above; subtrees are one condition among others                              [NewAncestorArray]
//	the path as a string; nodes are found by it too, and shown by it                     [NewMaterializedPath]
//	two numbers; subtrees are read whole and in order, and seldom changed                [NewNestedSet]
//
// A tree that is shown whole, and stays within one document, such as the comments of a post, is best kept in it: [DocumentTree]. For
// what many nodes of a graph, with more than one way to each, have to do with each other, see [Graph].
//
//	                    ParentTree                AncestorArray            MaterializedPath
//	insert, delete      1 document                1                        1
//	move                1                         the subtree, one update  the subtree, one update
//	move among siblings 1                         1                        1
//	rename              the application's own     the application's own    the subtree, one update
//	ancestors           $graphLookup by _id       one query by _id         one query by path
//	descendants         $graphLookup by parent    one query                one range of an index
//	to a depth          maxDepth                  one query                one range, counted
//	children in order   one query, by an index, in all
//
// A child tree writes what a parent tree does, and a list for each parent that is concerned: an insert and a delete are 2 documents, a
// move 3, or 2 under one parent or to the roots. Its ancestors and descendants are found as those of a parent tree, and any page of a
// node's children, or how many there are, by that node's document.
//
// A missing node, and so a second deletion of a node, is [model.ErrNotFound] in a [Tree], a [DocumentTree] and a [Forest]; a negative
// depth is a [*model.ValueError]. Moving a node to where it is writes nothing.
//
// What a nested set writes depends on where: see there. Its descendants are one range of an index, already in order.
//
// So, in milliseconds, medians of internal/bench, in a tree of a million nodes on the engine; the branch has a thousand nodes:
//
//	                      by hand  ParentTree  ChildTree  AncestorArray  MaterializedPath  NestedSet dense   with gaps
//	load all                45 s        88 s       82 s           94 s              56 s             61 s        87 s
//	read the branch           22          39         23            9.5               5.2               11         6.4
//	count it                  27          39         16            1.4               0.9              0.1         1.3
//	children of a node       0.2         0.1        0.3            0.3               0.2              0.2         0.2
//	ancestors of a node      1.1         0.8        0.6            0.3               0.2              560         480
//	insert a leaf            0.2         2.3        1.2            1.3               0.6             16 s         0.5
//	delete it                0.1         1.8        0.8            0.6               0.6             25 s         0.6
//	move a leaf, far         0.3         1.4        1.1            1.3               0.8             17 s        26 s
//	move the branch, far     0.1         0.7        1.9             33                10             16 s        19 s
//
// By hand is a tree of parent links without order, lease or any check. A server takes longer for each command; what stands out
// there are documents written (a move in a nested set), and $graphLookup where no index serves it: on DocumentDB by _id always
// (ancestors in a parent tree or child tree, and so their moves), and by parent until the server has statistics of the collection, a
// minute or two after a load. Until then what is below a node takes more than a minute in a tree of 100,000 nodes. An index of your
// own on _id and the parent, in this order, serves the ancestors there.
//
// # Tasks
//
//	Declare a tree                               [NewParentTree], [NewAncestorArray], [NewMaterializedPath], [NewNestedSet], [NewChildTree]
//	Store, move, delete, rename a node           [Tree.Insert], [Tree.Move], [Tree.Delete], [Tree.Rename]
//	Say where                                    [FirstChild], [LastChild], [Before], [After], [FirstRoot], [LastRoot]
//	Read what is around a node                   [Tree.Children], [Tree.Siblings], [Tree.Ancestors]
//	Read what is below it, in order              [Tree.Descendants], [Tree.Leaves], [Tree.Arrange]
//	Store a whole tree                           [Tree.Load]
//	Find what is wrong, and mend it              [Tree.Checks]
//	Go over to another representation            [Convert], then [Tree.Drop]
//	Go over to another collection                [ConvertInto], until no reader is left on the old side
//	From one document to a collection, and back  [Extract], [Absorb]; from one document to another: [ConvertDocument]
//	Read all nodes, or make a plain tree of them [Tree.Dump], [NewForest]
//	Add up a number over subtrees                [NewRollUp]: [RollUp.Total], [RollUp.Children], [RollUp.Store]
//	Give siblings short order keys               [Tree.Rebalance]; inserts do it by themselves
//	Read what no change is written beside        [Tree.Settled]
//	Number the nodes of a nested set             [Number], streamed
//	Make a tree of lists that are there already  [Tree.Adopt], [Tree.CheckLists]
//	The same, without a database                 [Forest]
//	Order anything by strings between strings    [Between], [Spread]
//	Make a path of segments, and the reverse     [Path], [Segments]
//
//	A tree in one document: grow, edit and cut it, a command each   [DocumentTree.Push], [DocumentTree.Patch], [DocumentTree.Pull]
//	At any place, in any form                                       [DocumentTree.Insert], [DocumentTree.Move], [DocumentTree.Delete],
//	                                                                [DocumentTree.Set], [DocumentTree.Replace], [DocumentTree.Load]
//	Put it in order, and ask about its nodes                        [DocumentTree.Arrange], [NewForest]
//	Find and mend one that is damaged                               [DocumentTree.Repair]
//	The same for all owners                                         [DocumentTree.Checks]
//
// # Costs
//
// In a transaction ([model.WithTransactions]) each change takes one command before it, which counts the tree's changes, and the commit.
// Else it holds the tree's lease: one command before it and one after it, and one that stores the plan if there is anything to
// write; a tree's first change takes four more, which make the lock document. The documents that are told of a change
// are the tree's; writes of the lock document come beside them. What it reads to decide is one to six commands, whatever the size
// of the tree; only a deletion that leaves its children to others asks, for a materialized path, once for each child. Reads are values,
// made from a node's document, and each is one command; [Tree.Arrange] puts nodes in preorder in memory. [Tree.Checks] take four to six
// commands, [Tree.Dump] one and as many as it has batches.
//
// [ConvertInto] reads both trees once, what has to be stored once more, and writes what differs, in batches, each under the
// lease; one that finds nothing takes two commands and writes nothing. A [RollUp] takes one command for a node, and two for a
// node's children, however many; the server reads the subtree. Stored totals cost a document for each that differs.
//
// A [DocumentTree]'s push, patch, pull and load are one command and one document, its other changes two commands and one document.
//
// # Consistency
//
// Writers are kept apart by the lease, a lock document that each really modifies ([model.Lease]): concurrent moves make no cycle,
// and lose no node. A writer that dies leaves its plan in the lock document, and the next writer finishes it before it does anything
// else; each document notes the number of the change that wrote it last, so that nothing is done twice. Code that writes the
// documents' tree fields past [Tree] is not kept apart: [Tree.Checks] find what it breaks, by queries on the server that send nothing
// of a tree that is whole, and mend it from the parent links.
//
// A reader sees a change of several documents as it goes on: for a moment, some nodes of a moved subtree are in the old place, and
// some in the new; no node is in neither, but for a nested set, of which some aren't found meanwhile. Reads in a transaction with
// snapshot read concern see one moment of that, which can be one in the middle; reads in [Tree.Settled] see all of a change or nothing.
//
// [ConvertInto] leaves the source as it is, and the target behind it: what is changed in the source comes over with the next run. A
// run that is cut leaves some nodes of the target as they were and others as they are to be; the next run brings it to the end, and
// says nil when the target is a whole tree. Stored totals of a [RollUp] are what they were when they were stored.
//
// The lists of a child tree are written in such an order that a node is in a list before its link says so, and leaves one after:
// whoever reads by lists, and arranges the nodes by their links ([Tree.Arrange]), finds a moved node in one place or the other at each
// moment. A node that was just inserted is found by its parent link, one write later by the list.
//
// A [DocumentTree] is changed by one write of its document, which names in its filter what it was decided by: there is nothing
// between to be seen, and nothing for a crash to leave.
//
// # Limits
//
// A tree in one document shares the 16 MiB of that document, which the server writes whole for each change; nested, it is up to 49
// levels deep.
//
// A list of a child tree shares the 16 MiB of its node's document, some hundred thousand children; the server writes that document
// for each child that comes or goes, and inserts under one node meet there.
//
// Paths have no limit of their own but the document's; MongoDB refused keys over 1024 bytes in indexes before 4.2. $graphLookup
// keeps at most 100 MB. Load, and Check and Repair of a damaged tree, hold some 800 bytes for each node in memory,
// [ConvertInto] some 2 KB. One collection is one tree, of any number of roots.
//
// # Graphs
//
// A [Graph] is a collection whose documents list the _ids of others. What is asked about all of it at once, and what one
// query can't answer, is computed in supersteps, each from what the one before left:
//
//	How far is each vertex from these?                           [Graph.Distances]
//	Which vertices hang together?                                [Graph.Components]
//	Which vertices do important vertices point to?               [Graph.PageRank]
//	Anything that vertices find out by telling their neighbours  [NewProgram], a function in Go
//
// Each gives a [Supersteps]: [Supersteps.Job] runs it. [Supersteps.Steps] says what each superstep did. Results
// are read by [Graph.States], [Graph.Within], [Graph.Component], [Graph.Top] and [Graph.Unreached]. [Graph.Clear] takes
// a computation away, to begin anew.
//
// For a few vertices near a known one, use a query of your own ($graphLookup): it keeps all that it finds in memory.
//
// # Costs of graphs
//
// For each superstep, in commands, the read of the record that it goes on from included, and documents written:
//
//	Distances   3; the vertices that are reached in it. It reads those of the step before, and where their edges lead
//	Components  3; the vertices that change. It reads those that changed in the step before, and their neighbours
//	PageRank    3; every vertex. It reads every vertex and edge
//	a program   3, and 2 to find the end of the vertices, and for each 500 of them 2 to 4: one that reads the record, one that reads
//	            them, one that writes the states of those that are computed, one for what they send. It reads every vertex
//
// A computation begins with 5 commands, a program with 4. Components and PageRank then write a state for each vertex, with a copy
// of its edges. But for a program's vertices and messages, nothing comes to the application other than a record for each superstep.
//
// So for a binary tree of 511 vertices, from its root (a test holds these numbers):
//
//	Distances      3 commands in each of 9 supersteps; documents 2, 4, 8, 16, 32, 64, 128, 256, 0
//	Components     3 commands in each of 9; documents 510, 508, 504, 496, 480, 448, 384, 256, 0
//	PageRank       3 commands in each of 24, to 1e-10; documents 511 in each
//	the least _id  12 commands in each of 9, 11 in the last; documents 511, 510, 508, 504, 496, 480, 448, 384, 256 and as many
//	of all above   messages as these have edges
//
// # Graphs on shards
//
// Shard the vertices, and a computation's states and messages, by {_id: "hashed"}: then a vertex and its state are found by the _id
// that an edge holds, and $merge, which must match by the shard key among others, matches by _id alone, as these pipelines do. The
// collection of steps is small: leave it unsharded. Indexes are each shard's own.
//
// What needs only the shard's own documents runs there, on all at once: $match, $project, $unwind, and the first half of $group,
// which adds up, or takes the least, for each target. Its second half is where parts from all shards meet, on one of them: it gets
// at most a document for each target and shard, not one for each edge. PageRank has nothing else. Distances and Components look
// vertices and states up by _id on the shards that hold them: from MongoDB 5.1 on $lookup takes sharded collections. Components
// asks every shard which edges lead to a vertex. $merge sends each result to the shard that it belongs to. A superstep's number of
// commands grows neither with the shards nor, a program apart, with the vertices; the documents that it writes are spread evenly.
//
// None of this was run on shards: the server that the tests run on has none.
//
// Sources: https://www.mongodb.com/docs/manual/core/aggregation-pipeline-sharded-collections/ and, of the same manual, the pages on
// $lookup and $merge.
//
// # Consistency of graphs
//
// Vertices are never written. Each state says which superstep wrote it, and holds what it was before; each superstep leaves a record
// when it is over. So a superstep that was cut, anywhere, can be run again and comes to the same end, and one that is over changes
// nothing when it is run again. Ranks can differ in their last digits, for a server adds up in the order in which it finds documents.
// One process at a time may run a computation: see [Supersteps]. Readers see states of two supersteps side by side while one runs.
//
// # Limits of graphs
//
// A vertex's edges are in its document, and so is the copy of them in its state: 16 MiB each. A program's vertex must fit, with its
// state and what it was sent in one superstep, into a document too: so a hub can be told by some ten thousand others, not by
// millions. Sums, least values and neighbours of the other computations are no part of a document, however many there are. What
// $group can't hold in 100 MB is spilled to disk, which MongoDB does by default from 6.0 on. $unionWith in Components, and $merge into
// the collection that is read, need MongoDB 4.4.
package paths
