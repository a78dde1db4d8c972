package pipeline

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// densifying is a $densify at work.
type densifying struct {
	*densify
	r        *run
	yield    func(bson.D, error) bool
	made     int
	parts    map[string]*densified
	order    []*densified // as they were first seen
	min, max any          // the values of all documents so far; nil: there were none
	last     any          // the value on the steps that was reached last, in any partition
}

// densified is a partition.
type densified struct {
	fields  bson.D // of its documents
	reached any    // the last value on the steps; nil: none yet
}

// errStopped ends a run of which no more documents are wanted.
var errStopped = errors.New("no more documents are wanted")

func (s *densify) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		x := &densifying{densify: s, r: r, yield: yield, parts: map[string]*densified{}}
		var err error
		for d, failed := range in {
			if err = failed; err == nil {
				err = x.add(d)
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

func (x *densifying) add(d bson.D) error {
	v := getPath(d, x.field)
	if bsonval.IsNullish(v) {
		return x.emit(d)
	}
	if err := x.check(v); err != nil {
		return err
	}
	p, seen, err := x.partition(d)
	if err != nil {
		return err
	}
	if x.min == nil {
		x.min = v
	}
	x.max = v
	if x.kind == explicitBounds {
		return x.within(p, d, v)
	}
	if !seen {
		if x.kind == partitionBounds || bsonval.Compare(v, x.min) == 0 {
			p.reached, x.last = v, v
			return x.emit(d)
		}
		if err := x.generate(p, x.min, v); err != nil {
			return err
		}
		return x.reach(p, d, v)
	}
	return x.upTo(p, d, v, v)
}

// check refuses a value that has no place on the steps.
func (x *densifying) check(v any) error {
	_, isDate := v.(bson.DateTime)
	switch {
	case !isDate && !bsonval.IsNumber(v):
		return mongoerr.New(5733201, "Densify field type must be numeric or a date")
	case x.unit != "" && !isDate:
		return mongoerr.New(6053600, "Encountered numeric densify value in collection when step has a date unit.")
	case x.unit == "" && isDate:
		return mongoerr.New(6053600, "Encountered date densify value in collection when step does not have a date unit.")
	}
	return nil
}

// within adds a document where the bounds are explicit.
func (x *densifying) within(p *densified, d bson.D, v any) error {
	switch c := bsonval.Compare(v, x.low); {
	case c < 0:
		return x.emit(d)
	case c == 0:
		p.reached = v
		return x.emit(d)
	}
	to := v
	if bsonval.Compare(v, x.high) > 0 {
		to = x.high
	}
	if p.reached == nil {
		if err := x.generate(p, x.low, to); err != nil {
			return err
		}
		return x.reach(p, d, v)
	}
	return x.upTo(p, d, v, to)
}

// upTo makes what is missing between the value that a partition has reached and a bound, and adds a document.
func (x *densifying) upTo(p *densified, d bson.D, v, to any) error {
	next, err := x.next(p.reached)
	if err != nil {
		return err
	}
	if bsonval.Compare(next, to) < 0 {
		if err := x.generate(p, next, to); err != nil {
			return err
		}
	}
	return x.reach(p, d, v)
}

// reach adds a document. The partition has reached its value if that is a step from the one before.
func (x *densifying) reach(p *densified, d bson.D, v any) error {
	if p.reached == nil {
		return x.emit(d) // the range is empty
	}
	next, err := x.next(p.reached)
	if err != nil {
		return err
	}
	if bsonval.Compare(next, v) == 0 {
		p.reached, x.last = v, v
	}
	return x.emit(d)
}

// finish makes what is missing after the last documents.
func (x *densifying) finish() error {
	to := x.high
	switch {
	case x.kind == partitionBounds || x.kind == fullBounds && x.partitions == nil:
		return nil
	case x.kind == fullBounds && x.max == nil:
		return nil
	case x.kind == fullBounds:
		to = x.max
		onStep, err := x.onStep(x.max)
		if err != nil {
			return err
		}
		if onStep {
			if to, err = x.next(x.max); err != nil {
				return err
			}
		}
	case x.partitions == nil:
		x.part(bson.D{})
	}
	for _, p := range x.order {
		from := x.low
		if p.reached != nil {
			var err error
			if from, err = x.next(p.reached); err != nil {
				return err
			}
		}
		if err := x.generate(p, from, to); err != nil {
			return err
		}
	}
	return nil
}

// onStep reports whether steps from the value that was reached last lead to a value.
func (x *densifying) onStep(v any) (bool, error) {
	if x.unit == "" {
		distance, err := expr.Arithmetic("$subtract", v, x.last)
		return err == nil && bsonval.Compare(bsonval.Mod(distance, x.step), int32(0)) == 0, err
	}
	if ms := dates.UnitLength(x.unit); ms > 0 {
		n, _ := bsonval.Int64(x.step)
		return int64(v.(bson.DateTime)-x.last.(bson.DateTime))%(ms*n) == 0, nil
	}
	at := x.last
	for bsonval.Compare(at, v) < 0 {
		var err error
		if at, err = x.next(at); err != nil {
			return false, err
		}
	}
	return bsonval.Compare(at, v) == 0, nil
}

// next returns the value a step later.
func (x *densifying) next(v any) (any, error) {
	if x.unit == "" {
		return expr.Arithmetic("$add", v, x.step)
	}
	n, _ := bsonval.Int64(x.step)
	return dates.AddToDate(v.(bson.DateTime), x.unit, n)
}

// generate makes the documents from one value up to, but not, another.
func (x *densifying) generate(p *densified, from, to any) error {
	if bsonval.Compare(from, to) >= 0 {
		return nil
	}
	if err := x.checkPath(p.fields); err != nil {
		return err
	}
	for bsonval.Compare(from, to) < 0 {
		if x.made++; x.made > maxDensified {
			return mongoerr.New(5897900, "Generated %d documents in $densify, which is over the limit of %d. Increase the "+
				"'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents", x.made, maxDensified)
		}
		if err := x.emit(setPath(p.fields, x.field, from)); err != nil {
			return err
		}
		p.reached, x.last = from, from
		next, err := x.next(from)
		if err != nil {
			return err
		}
		if bsonval.Compare(next, from) == 0 { // a step that is lost in rounding
			return mongoerr.New(mongoerr.BadValue, "the step of $densify is too small for %s", expr.Show(from))
		}
		from = next
	}
	return nil
}

// checkPath refuses a field that isn't in documents only.
func (x *densifying) checkPath(d bson.D) error {
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

func (x *densifying) emit(d bson.D) error {
	if err := x.r.watch.Step(); err != nil {
		return err
	}
	if !x.yield(d, nil) {
		return errStopped
	}
	return nil
}

// partition returns the partition of a document, and whether it was there.
func (x *densifying) partition(d bson.D) (*densified, bool, error) {
	fields := bson.D{}
	if x.partitions != nil {
		v, err := x.partitions.Eval(x.r.base.ForDocument(d))
		if err != nil {
			return nil, false, err
		}
		fields, _ = v.(bson.D)
	}
	p, seen := x.part(fields)
	return p, seen, nil
}

// part returns the partition of the documents that have the fields, and whether it was there.
func (x *densifying) part(fields bson.D) (*densified, bool) {
	key := string(x.r.by.AppendKey(nil, fields))
	p, seen := x.parts[key]
	if !seen {
		p = &densified{fields: fields}
		x.parts[key] = p
		x.order = append(x.order, p)
	}
	return p, seen
}
