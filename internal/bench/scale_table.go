package main

import (
	"fmt"
	"slices"
	"strings"
)

// techniques are in the order of docs/TYPES.md.
var techniques = []string{
	"embed.Embedded", "bounded.Bounded", "embed.Versioned", "childrefs.ChildRefs", "parentref.ParentRef", "twosided.TwoWay", "twosided.ManyToMany",
	"joincollection.JoinCollection", "join.Join", "dangling.Dangling", "ondelete.OnDelete", "copies.Copy", "feed.Feed", "subset.Subset",
	"bucket.Bucket", "outlier.Outlier", "widerow.WideRow", "counter.Counter", "uniquecount.UniqueCount", "approximate.Approximate",
	"indextable.IndexTable", "inverted.Inverted", "attributes.Attributes", "geofield.Field", "keys.Sequence", "schema.Expiry", "keys.Composite",
}

// trials are all of them, in the order of techniques.
func trials() (all []trial) {
	for _, k := range stocks() {
		all = append(all, k.trials...)
	}
	slices.SortStableFunc(all, func(a, b trial) int {
		return slices.Index(techniques, a.technique) - slices.Index(techniques, b.technique)
	})
	return all
}

func (a *scale) partly() {}

func (a *scale) heading() string { return "Operations as collections grow, on " + a.on.name }

// String is a row for each operation, with its times at all sizes.
func (a *scale) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", a.heading())
	b.WriteString("The sizes are documents of a technique's largest collection, or of its two or three of equal size together; of Bucket, Outlier\n" +
		"and WideRow they are elements, 5 to 20 to a document. What belongs together stays as large: 20 children to a parent, 20 documents\n" +
		"to a value, 100 to a sequence, 6 places to a km². Each run takes other documents. Times are medians of one operation; what takes\n" +
		"it back, where something does, isn't timed. Commands and documents written are counted; several figures are of the sizes, where\n" +
		"they differ. ")
	if a.on.uri == "" {
		b.WriteString("Examined is what explain says of the operation's queries and updates, run again after it: keys of indexes and documents,\n" +
			"without what a $lookup reads; it isn't told where something was deleted. ")
	}
	b.WriteString("The last column is what the technique promises that the time grows with.\n" + a.on.note + "\n\n| technique | operation |")
	for _, n := range a.sizes {
		fmt.Fprintf(&b, " %s |", digits(n))
	}
	b.WriteString(" commands, written |")
	columns := len(a.sizes) + 1
	if a.on.uri == "" {
		b.WriteString(" keys, documents examined |")
		columns++
	}
	b.WriteString(" grows with |\n| --- | --- |" + strings.Repeat(" ---: |", columns) + " --- |\n")
	last := ""
	for _, t := range trials() {
		name := t.technique
		if name == last {
			name = ""
		}
		last = t.technique
		fmt.Fprintf(&b, "| %s | %s |%s %s |\n", name, t.name, a.cells(t), t.grows)
	}
	return b.String()
}

// cells are the times of an operation, and its costs.
func (a *scale) cells(t trial) string {
	var b strings.Builder
	var costs, examined []string
	for i := range a.sizes {
		f, ok := a.figure(t, i)
		fmt.Fprintf(&b, " %s |", f.text(ok))
		if !ok || f.runs == 0 {
			continue
		}
		costs = append(costs, fmt.Sprintf("%s, %s", digits(f.cost.Commands), digits(f.cost.Written)))
		if f.known {
			examined = append(examined, fmt.Sprintf("%s, %s", digits(f.keys), digits(f.docs)))
		}
	}
	fmt.Fprintf(&b, " %s |", joint(costs))
	if a.on.uri == "" {
		fmt.Fprintf(&b, " %s |", joint(examined))
	}
	return b.String()
}

// figure is what an operation took at the i-th size, if it came so far.
func (a *scale) figure(t trial, i int) (scaled, bool) {
	all := a.figures[t.key()]
	if i >= len(all) || all[i].runs == 0 && all[i].time == 0 {
		return scaled{}, false
	}
	return all[i], true
}

// joint is the one text, where all are the same.
func joint(texts []string) string {
	if len(texts) == 0 {
		return "–"
	}
	return strings.Join(slices.Compact(texts), " / ")
}
