package main

func Example() {
	main()
	// Output:
	// <nil>
	// sold out
}
