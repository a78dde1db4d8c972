package pipeline

// This file runs $densify. The documents come in the order of the field. For each partition:
//
//  1. Its first document begins the steps. With full and explicit bounds the steps begin at the lower bound, and the
//     documents that are missing before the first one are added.
//  2. When another document comes, the documents on the steps between the last value and its value are added.
//  3. If its value is on the steps, it is the last value now. Otherwise it is passed on, and the steps go on as before.
//  4. At the end, documents are added up to the upper bound. With the bounds "partition", and with "full" and one
//     partition only, the last document is the upper bound, and nothing is missing.
//
// With {step: 2, bounds: [0, 6]}, {n: 1} and {n: 4} become n = 0, 1, 2, 4: the values 0 and 2 are added.

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// densifyRun is the state of one run. A value is "on the steps" of a partition if a whole number of steps leads to it
// from the beginning of the range. Documents between two steps are passed on, and don't move the steps.
type densifyRun struct {
	*densify
	r        *run
	yield    func(bson.D, error) bool
	made     int                          // how many documents were added, of all partitions
	parts    map[string]*densifyPartition // by the key of their fields under the collation
	order    []*densifyPartition          // in the order of their first documents
	min, max any                          // with full bounds: the least and the greatest value so far
	last     any                          // the value on the steps that was reached last, in any partition
}

// densifyPartition is the state of a partition.
type densifyPartition struct {
	fields  bson.D // partitionByFields with their values, which added documents get
	reached any    // the last value on the steps; nil: none yet
}

// errStopped ends a run when the caller wants no more documents. It never leaves this file.
var errStopped = errors.New("no more documents are wanted")

// run adds documents while the input comes. It holds no documents.
func (s *densify) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		x := &densifyRun{densify: s, r: r, yield: yield, parts: map[string]*densifyPartition{}}
		var err error
		for d, failed := range in {
			if err = failed; err == nil {
				err = x.addDocument(d)
			}
			if err != nil {
				break
			}
		}
		if err == nil {
			err = x.finish()
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// addDocument passes on a document. Before it, it adds the documents that are missing. A document without a value has
// no place on the steps, and is only passed on.
func (x *densifyRun) addDocument(d bson.D) error {
	v := getPath(d, x.field)
	if bsonval.IsNullish(v) {
		return x.emit(d)
	}
	if err := x.checkValue(v); err != nil {
		return err
	}
	p, seen, err := x.findPartitionOf(d)
	if err != nil {
		return err
	}
	if x.min == nil {
		x.min = v
	}
	x.max = v
	if x.kind == explicitBounds {
		return x.addExplicit(p, d, v)
	}
	// The first document of a partition. Its value begins the range, unless the range is that of all partitions.
	if !seen {
		// With full bounds, a partition that begins later has the documents before it added.
		if x.kind == partitionBounds || bsonval.Compare(v, x.min) == 0 {
			p.reached, x.last = v, v
			return x.emit(d)
		}
		if err := x.generate(p, x.min, v); err != nil {
			return err
		}
		return x.addReached(p, d, v)
	}
	return x.fillUpTo(p, d, v, v)
}

// checkValue refuses a value that isn't of the kind of the steps: a number, or with a unit a date.
func (x *densifyRun) checkValue(v any) error {
	_, isDate := v.(bson.DateTime)
	switch {
	case !isDate && !bsonval.IsNumber(v):
		return mongoerr.New(5733201, "Densify field type must be numeric or a date")
	case x.unit != "" && !isDate:
		return mongoerr.New(6053600, "Encountered numeric densify value in collection when step has a date unit.")
	case x.unit == "" && isDate:
		return mongoerr.New(6053600,
			"Encountered date densify value in collection when step does not have a date unit.")
	}
	return nil
}

// addExplicit is addDocument for explicit bounds. Documents outside of them are passed on.
func (x *densifyRun) addExplicit(p *densifyPartition, d bson.D, v any) error {
	switch c := bsonval.Compare(v, x.low); {
	case c < 0:
		return x.emit(d)
	case c == 0:
		p.reached = v
		return x.emit(d)
	}
	// Beyond the bounds, steps up to the upper bound are still missing.
	to := v
	if bsonval.Compare(v, x.high) > 0 {
		to = x.high
	}
	if p.reached == nil {
		if err := x.generate(p, x.low, to); err != nil {
			return err
		}
		return x.addReached(p, d, v)
	}
	return x.fillUpTo(p, d, v, to)
}

// fillUpTo adds the documents that are missing between the value that a partition has reached and to, which isn't
// included. Then it passes on document d with value v.
func (x *densifyRun) fillUpTo(p *densifyPartition, d bson.D, v, to any) error {
	next, err := x.stepFrom(p.reached)
	if err != nil {
		return err
	}
	if bsonval.Compare(next, to) < 0 {
		if err := x.generate(p, next, to); err != nil {
			return err
		}
	}
	return x.addReached(p, d, v)
}

// addReached passes on a document. If its value is the next one on the steps, the partition has reached it, and no
// document is made for it.
func (x *densifyRun) addReached(p *densifyPartition, d bson.D, v any) error {
	if p.reached == nil {
		return x.emit(d) // the range is empty
	}
	next, err := x.stepFrom(p.reached)
	if err != nil {
		return err
	}
	if bsonval.Compare(next, v) == 0 {
		p.reached, x.last = v, v
	}
	return x.emit(d)
}

// finish adds the documents that are missing after the last document of each partition. With explicit bounds and
// without partitionByFields, the range is filled even if there were no documents.
func (x *densifyRun) finish() error {
	to := x.high
	switch {
	case x.kind == partitionBounds || x.kind == fullBounds && x.partitions == nil:
		return nil
	case x.kind == fullBounds && x.max == nil:
		return nil
	case x.kind == fullBounds:
		// The greatest value is in the range if it is on the steps. generate stops before its end.
		to = x.max
		onStep, err := x.isOnStep(x.max)
		if err != nil {
			return err
		}
		if onStep {
			if to, err = x.stepFrom(x.max); err != nil {
				return err
			}
		}
	// Explicit bounds without partitionByFields: there is one partition, even without documents.
	case x.partitions == nil:
		x.findPartition(bson.D{})
	}
	for _, p := range x.order {
		from := x.low
		if p.reached != nil {
			var err error
			if from, err = x.stepFrom(p.reached); err != nil {
				return err
			}
		}
		if err := x.generate(p, from, to); err != nil {
			return err
		}
	}
	return nil
}

// isOnStep reports whether whole steps lead from the value that was reached last to v.
func (x *densifyRun) isOnStep(v any) (bool, error) {
	if x.unit == "" {
		distance, err := expr.Arithmetic("$subtract", v, x.last)
		return err == nil && bsonval.Compare(bsonval.Mod(distance, x.step), int32(0)) == 0, err
	}
	// Units up to weeks have a fixed length in milliseconds.
	if ms := dates.UnitLength(x.unit); ms > 0 {
		n, _ := bsonval.Int64(x.step)
		return int64(v.(bson.DateTime)-x.last.(bson.DateTime))%(ms*n) == 0, nil
	}
	// Months have different lengths, so the steps are made one by one.
	at := x.last
	for bsonval.Compare(at, v) < 0 {
		var err error
		if at, err = x.stepFrom(at); err != nil {
			return false, err
		}
	}
	return bsonval.Compare(at, v) == 0, nil
}

// stepFrom returns the value a step after v.
func (x *densifyRun) stepFrom(v any) (any, error) {
	if x.unit == "" {
		return expr.Arithmetic("$add", v, x.step)
	}
	n, _ := bsonval.Int64(x.step)
	return dates.AddToDate(v.(bson.DateTime), x.unit, n)
}

// generate adds the documents of a partition on the steps from one value to another, which isn't included.
func (x *densifyRun) generate(p *densifyPartition, from, to any) error {
	if bsonval.Compare(from, to) >= 0 {
		return nil
	}
	if err := x.checkPath(p.fields); err != nil {
		return err
	}
	for bsonval.Compare(from, to) < 0 {
		if x.made++; x.made > maxDensified {
			return mongoerr.New(5897900, "Generated %d documents in $densify, which is over the limit of %d. "+
				"Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents",
				x.made, maxDensified)
		}
		if err := x.emit(setPath(p.fields, x.field, from)); err != nil {
			return err
		}
		p.reached, x.last = from, from
		next, err := x.stepFrom(from)
		if err != nil {
			return err
		}
		// A step that rounding loses, such as 1e-20 from 1, would never end.
		if bsonval.Compare(next, from) == 0 {
			return mongoerr.New(mongoerr.BadValue, "the step of $densify is too small for %s", bsonval.Show(from))
		}
		from = next
	}
	return nil
}

// checkPath refuses to set the field if an array or another value is on the way to it. d is the partition's fields.
func (x *densifyRun) checkPath(d bson.D) error {
	for i := range x.field {
		v, ok := bsonval.Get(d, x.field[i])
		if !ok {
			return nil
		}
		if _, isArray := v.(bson.A); isArray {
			return mongoerr.New(5733307, "$densify cannot generate fields nested inside arrays")
		}
		if d, ok = v.(bson.D); !ok && i < len(x.field)-1 {
			return mongoerr.New(5733308, "$densify cannot overwrite non-object values with objects")
		}
	}
	return nil
}

// emit passes on a document, and counts a step of the watch: many documents may be added for one of the input.
func (x *densifyRun) emit(d bson.D) error {
	if err := x.r.watch.Step(); err != nil {
		return err
	}
	if !x.yield(d, nil) {
		return errStopped
	}
	return nil
}

// findPartitionOf returns the partition of a document. seen is false for its first document.
func (x *densifyRun) findPartitionOf(d bson.D) (p *densifyPartition, seen bool, err error) {
	fields := bson.D{}
	if x.partitions != nil {
		v, err := x.partitions.Eval(x.r.base.ForDocument(d))
		if err != nil {
			return nil, false, err
		}
		fields, _ = v.(bson.D)
	}
	p, seen = x.findPartition(fields)
	return p, seen, nil
}

// findPartition returns the partition of the documents that have the fields, and makes it if it wasn't there.
func (x *densifyRun) findPartition(fields bson.D) (p *densifyPartition, seen bool) {
	key := string(x.r.by.AppendKey(nil, fields))
	p, seen = x.parts[key]
	if !seen {
		p = &densifyPartition{fields: fields}
		x.parts[key] = p
		x.order = append(x.order, p)
	}
	return p, seen
}
