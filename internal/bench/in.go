package main

import (
	"github.com/chenmingyong0423/go-mongox/v2/builder/query"
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A statement is built and marshaled.
type statement struct {
	name string
	make func() ([]byte, error)
}

var (
	uses    = childrefs.New(products, "parts", parts)
	hundred = productOf(100)
)

func productOf(n int) product {
	p := product{ID: id(2, 0), Name: "left-handed smoke shifter"}
	for i := range n {
		p.Parts = append(p.Parts, id(1, i))
	}
	return p
}

// inStatements are the filter of the hundred parts that a product lists.
var inStatements = []statement{
	{"hand-written bson.D", func() ([]byte, error) {
		return bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: hundred.Parts}}}})
	}},
	{"docmodel ChildRefs.Children", func() ([]byte, error) {
		q := uses.Children(&hundred)
		if q.Err != nil {
			return nil, q.Err
		}
		return bson.Marshal(q.Filter)
	}},
	{"docmodel Collection.Find", func() ([]byte, error) {
		q := parts.Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: hundred.Parts}}}})
		if q.Err != nil {
			return nil, q.Err
		}
		return bson.Marshal(q.Filter)
	}},
	{"go-mongox query.In", func() ([]byte, error) {
		return bson.Marshal(query.In("_id", hundred.Parts...))
	}},
}

func inTable(rounds int) (table, error) {
	rows, err := compare(rounds, contenders(inStatements))
	return table{
		title: "Build and marshal $in of 100 ids",
		note:  "Target: at most 0.5 of the time of the hand-written bson.D. The bytes that come out are the same.",
		rows:  rows,
	}, err
}

func contenders(statements []statement) []contender {
	cs := make([]contender, len(statements))
	for i, s := range statements {
		cs[i] = contender{name: s.name, run: func() error { _, err := s.make(); return err }}
	}
	return cs
}
