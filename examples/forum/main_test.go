package main

func Example() {
	main()
	// Output:
	// no thread: true
	// Go 1.25 is stale: false
	// Golang is stale: true
	// Go 1.25 3
	// Ada L. an answer
	// 0 <nil>
}
