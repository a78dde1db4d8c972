package main

func Example() {
	main()
	// Output:
	// change pay commands=5 attempt=2
	//   attempt pay commands=3 attempt=1 error.type=stale
	//     find accounts commands=1
	//       mongodb find
	//     plan accounts commands=2 error.type=stale
	//       mongodb update
	//       mongodb find
	//   attempt pay commands=2 attempt=2
	//     find accounts commands=1
	//       mongodb find
	//     plan accounts commands=1
	//       mongodb update
}
