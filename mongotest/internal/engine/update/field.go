package update

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// parseSet parses $set and $setOnInsert, which take any value.
func parseSet(_ string, arg any, _ *collation.Collator) (action, error) {
	return action{creates: true, apply: func(any, *state) (any, error) { return arg, nil }}, nil
}

// parseUnset parses $unset, whose argument doesn't matter.
func parseUnset(string, any, *collation.Collator) (action, error) {
	return action{tolerant: true, apply: func(any, *state) (any, error) { return bsonval.Missing, nil }}, nil
}

// parseMin parses $min.
func parseMin(_ string, arg any, by *collation.Collator) (action, error) {
	return makeBounded(arg, -1, by), nil
}

// parseMax parses $max.
func parseMax(_ string, arg any, by *collation.Collator) (action, error) {
	return makeBounded(arg, +1, by), nil
}

// makeBounded returns the action of $min (sign -1) and $max (sign +1): it sets the value if arg compares so with the
// old value. A value of any type can be compared.
func makeBounded(arg any, sign int, by *collation.Collator) action {
	return action{creates: true, apply: func(old any, _ *state) (any, error) {
		if bsonval.IsMissing(old) || by.Compare(arg, old) == sign {
			return arg, nil
		}
		return old, nil
	}}
}

// parseCurrentDate parses $currentDate: true or false for a date, or {$type: "date"} or {$type: "timestamp"}. The time
// is Input.Now. A timestamp's increment is always 1, unlike a server's.
func parseCurrentDate(_ string, arg any, _ *collation.Collator) (action, error) {
	timestamp := false
	switch x := arg.(type) {
	case bool:
	case bson.D:
		for _, f := range x {
			if f.Key != "$type" {
				return action{}, mongoerr.New(mongoerr.BadValue, "Unrecognized $currentDate option: %s", f.Key)
			}
			switch f.Value {
			case "date":
			case "timestamp":
				timestamp = true
			default:
				return action{}, mongoerr.New(mongoerr.BadValue,
					"The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : "+
						"{$type: 'date'}}}")
			}
		}
	default:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"%s is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: "+
				"'timestamp/date'}).", bsonval.TypeName(arg))
	}
	return action{creates: true, apply: func(_ any, s *state) (any, error) {
		if timestamp {
			return bson.Timestamp{T: uint32(s.in.Now.Unix()), I: 1}, nil
		}
		return bson.NewDateTimeFromTime(s.in.Now), nil
	}}, nil
}

// parseRename checks the argument of $rename, the new path. The action does nothing: applyRename moves the value.
func parseRename(path string, arg any, _ *collation.Collator) (action, error) {
	to, ok := arg.(string)
	switch {
	case !ok:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The 'to' field for $rename must be a string: %s: %s", path, show(arg))
	case to == path:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The source and target field for $rename must differ: %s: %q", path, to)
	case isDynamic(path):
		return action{}, mongoerr.New(mongoerr.BadValue, "The source field for $rename may not be dynamic: %s", path)
	case isDynamic(to):
		return action{}, mongoerr.New(mongoerr.BadValue, "The destination field for $rename may not be dynamic: %s", to)
	}
	return action{}, nil
}

// isDynamic reports whether a path has a part that stands for elements of an array.
func isDynamic(path string) bool {
	for _, f := range bsonval.ParsePath(path) {
		if f.Name == "$" || isArrayOperator(f.Name) {
			return true
		}
	}
	return false
}

// applyRename moves what v has at c.from to c.path. If there is nothing, it does nothing. A value that is at the
// destination is overwritten. Neither path may go through an array, because MongoDB doesn't rename fields of elements.
func applyRename(v any, c change, s *state) (any, error) {
	if err := checkTraversable(v, c.from); err != nil {
		return nil, err
	}
	moved, err := readPlain(v, c.from, "source", s)
	if err != nil || bsonval.IsMissing(moved) {
		return v, err
	}
	// The destination is checked even though its value doesn't matter.
	if _, err := readPlain(v, c.path, "destination", s); err != nil {
		return nil, err
	}
	unset, _ := parseUnset("", nil, nil)
	if v, err = unset.applyAt(v, c.from, 0, s); err != nil {
		return nil, err
	}
	set, _ := parseSet("", moved, nil)
	return set.applyAt(v, c.path, 0, s)
}

// checkTraversable refuses a path that leads into a value without fields. A path that ends before is fine.
func checkTraversable(v any, p bsonval.Path) error {
	for i, f := range p {
		switch x := v.(type) {
		case bson.D:
		case bson.A:
			if f.Index < 0 {
				return newNotTraversable(p, i, x)
			}
		default:
			if bsonval.IsMissing(v) {
				return nil
			}
			return newNotTraversable(p, i, v)
		}
		v = stepInto(v, f)
	}
	return nil
}

// readPlain returns what v has at the path, and refuses an array on the way. role is "source" or "destination", for the
// error.
func readPlain(v any, p bsonval.Path, role string, s *state) (any, error) {
	for i, f := range p {
		if _, isArray := v.(bson.A); isArray {
			return nil, mongoerr.New(mongoerr.BadValue,
				"The %s field cannot be an array element, '%s' in doc with _id: %s has an array field called '%s'",
				role, p, show(s.id), p[i-1].Name)
		}
		v = stepInto(v, f)
	}
	return v, nil
}
