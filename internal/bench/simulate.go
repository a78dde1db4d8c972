package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// simulatedSizes are numbers of documents, and of elements of one key.
var simulatedSizes = []int{1000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// A simulation computes the library's results for so many documents without storing them.
type simulation struct{ rows []string }

func (simulation) heading() string { return "Simulated to 1e9" }

func (s simulation) String() string {
	var b strings.Builder
	b.WriteString("## Simulated to 1e9\n\nWhat the library's own functions give for so many documents, none of which is stored: paths.Path for a deepest node of a tree in\n" +
		"which each node has ten children, or two, with ids of eight bytes; paths.Between for one node after the other; the _ids that Bucket's\n" +
		"Page asks for, and AppendTo's command, for that many elements of one key in pages of 100, as Outlier and SubsetPages have them. All in\n" +
		"bytes. Order keys are the longest of so many, and are made up to 10,000,000: in a tree they come to 48 bytes at\n" +
		"most, and then siblings get new ones.\n\n| of |")
	for _, n := range simulatedSizes {
		fmt.Fprintf(&b, " %s |", digits(n))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(simulatedSizes)) + "\n" + strings.Join(s.rows, "\n") + "\n")
	return b.String()
}

func simulated() (section, error) {
	var s simulation
	for _, row := range []struct {
		name string
		of   func(n int) (string, error)
	}{
		{"depth of a tree of ten children each", func(n int) (string, error) { return digits(depthOf(n, 10)), nil }},
		{"MaterializedPath of its deepest node", pathOf(10)},
		{"AncestorArray of its deepest node", ancestorsOf(10)},
		{"depth of a tree of two children each", func(n int) (string, error) { return digits(depthOf(n, 2)), nil }},
		{"MaterializedPath of its deepest node", pathOf(2)},
		{"AncestorArray of its deepest node", ancestorsOf(2)},
		{"order keys, each last", ordered(false)},
		{"order keys, each first", ordered(true)},
		{"Bucket: pages", func(n int) (string, error) { return digits((n-1)/elementsPerPage + 1), nil }},
		{"Bucket: _id of the last page", lastPage},
		{"Bucket: command of an append there", lastAppend},
	} {
		cells := []string{row.name}
		for _, n := range simulatedSizes {
			cell, err := row.of(n)
			if err != nil {
				return s, fmt.Errorf("%s, %d: %w", row.name, n, err)
			}
			cells = append(cells, cell)
		}
		s.rows = append(s.rows, "| "+strings.Join(cells, " | ")+" |")
	}
	return s, nil
}

// depthOf is how deep a tree of n nodes is that is filled level by level.
func depthOf(n, children int) (depth int) {
	for level, all := 1, 1; all < n; depth++ {
		level *= children
		all += level
	}
	return depth
}

// lineage are the ids of a node and all above it, in a tree of n nodes.
func lineage(n, children int) []string {
	var ids []string
	for i := range depthOf(n, children) + 1 {
		ids = append(ids, fmt.Sprintf("n%07d", i))
	}
	return ids
}

func pathOf(children int) func(n int) (string, error) {
	return func(n int) (string, error) {
		path, err := paths.Path(lineage(n, children)...)
		return digits(len(path)), err
	}
}

func ancestorsOf(children int) func(n int) (string, error) {
	return func(n int) (string, error) {
		raw, err := bson.Marshal(treeNode{Ancestors: lineage(n, children)})
		return digits(len(bson.Raw(raw).Lookup("ancestors").Value)), err
	}
}

// mostOrdered is how many order keys are made, one after the other.
const mostOrdered = 10_000_000

func ordered(first bool) func(n int) (string, error) {
	key, longest, made := "", 0, 0
	return func(n int) (string, error) {
		if n > mostOrdered {
			return "–", nil
		}
		for ; made < n; made++ {
			after, before := key, ""
			if first {
				after, before = "", key
			}
			next, err := paths.Between(after, before)
			if err != nil {
				return "", err
			}
			if made > 0 && cmp.Compare(next, key) > 0 == first {
				return "", fmt.Errorf("%q comes on the wrong side of %q", next, key)
			}
			key, longest = next, max(longest, len(next))
		}
		return digits(longest), nil
	}
}

const elementsPerPage = 100

var simulatedPages = bucket.New(model.NewCollection[page, string]("pages"), bucket.Spec{Max: elementsPerPage, ElementKey: "id"})

// pageID is the _id of a page, after it was held to be behind the page before it.
func pageID(seq int64) (string, error) {
	id := func(seq int64) (string, error) {
		f := simulatedPages.Page(tomeOf(1), seq)
		if f.Err != nil {
			return "", f.Err
		}
		id, ok := f.Filter[0].Value.(string)
		if !ok {
			return "", fmt.Errorf("page %d is found by %v", seq, f.Filter)
		}
		return id, nil
	}
	own, err := id(seq)
	if err != nil || seq == 0 {
		return own, err
	}
	before, err := id(seq - 1)
	if err == nil && before >= own {
		err = fmt.Errorf("page %s isn't behind %s", own, before)
	}
	return own, err
}

func lastPage(n int) (string, error) {
	id, err := pageID(int64(n-1) / elementsPerPage)
	return fmt.Sprintf("%s: %d", id, len(id)), err
}

func lastAppend(n int) (string, error) {
	w := simulatedPages.AppendTo(tomeOf(1), int64(n-1)/elementsPerPage, buyer{int64(n), 10})
	if w.Err != nil {
		return "", w.Err
	}
	update, ok := w.Model.(*mongo.UpdateOneModel)
	if !ok {
		return "", fmt.Errorf("an append is a %T", w.Model)
	}
	raw, err := bson.Marshal(bson.D{{Key: "q", Value: update.Filter}, {Key: "u", Value: update.Update}, {Key: "upsert", Value: true}})
	return digits(len(raw)), err
}
