package main

func Example() {
	main()
	// Output:
	// db.parts.insertOne({_id: 'nut', name: 'M8 nut'})
	// db.parts.insertOne({_id: 'bolt', name: 'M8 bolt'})
	// db.products.insertOne({_id: 'bench'})
	// db.products.updateOne({_id: 'bench'}, {$addToSet: {parts: {$each: ['nut', 'bolt']}}})
	// 3 commands, 4 documents written, by _id_ - rerunnable
	// [{nut M8 nut} {bolt M8 bolt}] <nil>
}
