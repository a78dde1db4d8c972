// Rubis asks for the design of an auction site's documents, by its operations and their rates, and prints the answer.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/docmodel/docmodel/model/design"
)

func main() {
	page := flag.String("markdown", "", "also write the design to this file, with its commands, a diagram and the Go declaration")
	flag.Parse()
	d, err := auction().Design()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	if *page == "" {
		return
	}
	if err := os.WriteFile(*page, []byte(d.Markdown()), 0o600); err != nil {
		log.Fatal(err)
	}
}

// expert is the schema that an expert made for this workload in the evaluation of NoSE (plans/rubis_expert.rb), as documents: an item
// with its bids and the bidders' nicknames, a user with the comments that were received and with the purchases. The expert's other
// tables are indexes here.
var expert = design.Layout{Name: "expert", Stored: map[string]design.Storage{
	"bids.item":       {As: design.Embedded},
	"bids.user":       {Copy: []string{"nickname"}},
	"comments.toUser": {As: design.Embedded},
	"purchases.buyer": {As: design.Embedded},
}}

// careful is what one would make by MongoDB's own guides: bids are shown with their item, and each name is where it is shown.
var careful = design.Layout{Name: "careful", Stored: map[string]design.Storage{
	"bids.item":         {As: design.Embedded},
	"bids.user":         {Copy: []string{"nickname"}},
	"comments.fromUser": {Copy: []string{"nickname"}},
	"items.seller":      {Copy: []string{"region"}},
}}

var normalized = design.Layout{Name: "normalized"}
