package main

func Example() {
	main()
	// Output:
	// db.authors.updateOne({_id: 'ada', version: Long('1')}, {$set: {name: 'Ada L.', version: Long('2')}})
	// db.messages.updateMany({'author.id': 'ada', 'author.version': {$not: {$gte: Long('2')}}}, {$set: {'author.name': 'Ada L.', 'author.version': Long('2')}})
	// 2 commands, 1 document written and as many as match, by _id_, author.id_1__id_-1 - rerunnable
	// <nil> | docmodel: step 1: threads {_id: 'go'}: stale write, read again: no document matches: it has another version
	// Go 1.25 3 [a question an answer]
	// Ada L. an answer
}
