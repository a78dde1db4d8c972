// Designs prints the advised layouts for two workloads: an auction site, and a blog with
// endless comments.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/docmodel/docmodel/model/design"
)

func main() {
	page := flag.String("markdown", "", "also write the designs to this file, with their commands, diagrams and Go declarations")
	flag.Parse()
	var text string
	for _, w := range []design.Workload{auction(), blog()} {
		d, err := w.Design()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d)
		text += d.Markdown() + "\n"
	}
	if *page == "" {
		return
	}
	if err := os.WriteFile(*page, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
}
