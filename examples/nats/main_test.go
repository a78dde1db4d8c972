package main

import (
	"context"
	"fmt"
)

func Example() {
	fmt.Println(demo(context.Background(), nil))
	// Output:
	// 5 events wait
	// 5 messages are in JetStream
	// 50 are reserved, though each message was handled twice
	// <nil>
}
