package main

// What a move writes is what the model was chosen by: with parents alone one node, whatever lies below it. The lease comes to that, and
// the plan where it is stored for the next writer: two or three documents. In one document it is that document. All give the same answers.
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
