package main

// The representations differ by the documents that a move writes. With parent links a
// move writes one node, plus two or three documents for the lease and its stored plan. A
// tree in one document writes this document. All give the same answers.
func Example() {
	main()
	// Output:
	// move Shoes into Sale    show Sale   above Boots  items of Clothing
	// DocumentTree      2 commands, 1 written   1 command   1 command    1 command
	// ParentTree        6 commands, 4 written   2 commands  2 commands   2 commands
	// ChildTree         8 commands, 6 written   2 commands  2 commands   2 commands
	// AncestorArray     6 commands, 5 written   2 commands  2 commands   2 commands
	// MaterializedPath  7 commands, 5 written   2 commands  2 commands   2 commands
	// NestedSet         6 commands, 17 written  2 commands  2 commands   2 commands
	// 6 say:
	// Shoes are moved
	// Sale >Shoes >>Boots
	// Sale, Shoes
	// 12 items
}
