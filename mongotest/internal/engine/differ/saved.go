package differ

import (
	"fmt"
	"os"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// saved is a case as testdata holds it, with what MongoDB's documentation says comes of it. The package comment shows
// a file.
type saved struct {
	Reason     string           `bson:"reason"` // what the case shows, and the page that says so
	Collection string           `bson:"collection"`
	Docs       []bson.D         `bson:"docs"`
	Other      []bson.D         `bson:"other,omitempty"`
	Command    bson.D           `bson:"command"`
	Ordered    bool             `bson:"ordered"`
	Want       *outcome.Outcome `bson:"want,omitempty"`
}

// formatCase writes a case in the form of the files under testdata.
func formatCase(c cases.Case, want *outcome.Outcome) string {
	b, err := bson.MarshalExtJSONIndent(saved{
		Collection: c.Collection, Docs: c.Docs, Other: c.Other, Command: c.Command, Ordered: c.Ordered, Want: want,
	}, true, false, "", "  ")
	if err != nil {
		return fmt.Sprintf("%#v (%v)", c, err)
	}
	return string(b)
}

// load reads a file under testdata. Its second result has the reason and the result that are wanted.
func load(name string) (cases.Case, saved, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return cases.Case{}, saved{}, err
	}
	var s saved
	if err := bson.UnmarshalExtJSON(text, false, &s); err != nil {
		return cases.Case{}, saved{}, err
	}
	c := cases.Case{Collection: s.Collection, Docs: s.Docs, Other: s.Other, Command: s.Command, Ordered: s.Ordered}
	return c, s, nil
}
