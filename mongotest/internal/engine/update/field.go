package update

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

func parseSet(_ string, arg any, _ *collation.Collator) (action, error) {
	return action{creates: true, apply: func(any, *state) (any, error) { return arg, nil }}, nil
}

func parseUnset(string, any, *collation.Collator) (action, error) {
	return action{tolerant: true, apply: func(any, *state) (any, error) { return bsonval.Missing, nil }}, nil
}

func parseMin(_ string, arg any, by *collation.Collator) (action, error) {
	return bounded(arg, -1, by), nil
}
func parseMax(_ string, arg any, by *collation.Collator) (action, error) {
	return bounded(arg, +1, by), nil
}

// bounded sets the value when it compares as sign against the old one.
func bounded(arg any, sign int, by *collation.Collator) action {
	return action{creates: true, apply: func(old any, _ *state) (any, error) {
		if bsonval.IsMissing(old) || by.Compare(arg, old) == sign {
			return arg, nil
		}
		return old, nil
	}}
}

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
					"The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
			}
		}
	default:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"%s is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).", bsonval.TypeName(arg))
	}
	return action{creates: true, apply: func(_ any, s *state) (any, error) {
		if timestamp {
			return bson.Timestamp{T: uint32(s.in.Now.Unix()), I: 1}, nil
		}
		return bson.NewDateTimeFromTime(s.in.Now), nil
	}}, nil
}

func parseRename(path string, arg any, _ *collation.Collator) (action, error) {
	to, ok := arg.(string)
	switch {
	case !ok:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The 'to' field for $rename must be a string: %s: %s", path, show(arg))
	case to == path:
		return action{}, mongoerr.New(mongoerr.BadValue,
			"The source and target field for $rename must differ: %s: %q", path, to)
	case dynamic(path):
		return action{}, mongoerr.New(mongoerr.BadValue, "The source field for $rename may not be dynamic: %s", path)
	case dynamic(to):
		return action{}, mongoerr.New(mongoerr.BadValue, "The destination field for $rename may not be dynamic: %s", to)
	}
	return action{}, nil
}

func dynamic(path string) bool {
	for _, f := range bsonval.ParsePath(path) {
		if f.Name == "$" || isArrayOperator(f.Name) {
			return true
		}
	}
	return false
}

// rename moves what v has at c.from to c.path.
func rename(v any, c change, s *state) (any, error) {
	if err := traversable(v, c.from); err != nil {
		return nil, err
	}
	moved, err := plain(v, c.from, "source", s)
	if err != nil || bsonval.IsMissing(moved) {
		return v, err
	}
	if _, err := plain(v, c.path, "destination", s); err != nil {
		return nil, err
	}
	unset, _ := parseUnset("", nil, nil)
	if v, err = unset.at(v, c.from, 0, s); err != nil {
		return nil, err
	}
	set, _ := parseSet("", moved, nil)
	return set.at(v, c.path, 0, s)
}

// traversable refuses a path that leads into something without fields.
func traversable(v any, p bsonval.Path) error {
	for i, f := range p {
		switch x := v.(type) {
		case bson.D:
		case bson.A:
			if f.Index < 0 {
				return notTraversable(p, i, x)
			}
		default:
			if bsonval.IsMissing(v) {
				return nil
			}
			return notTraversable(p, i, v)
		}
		v = step(v, f)
	}
	return nil
}

// plain returns what v has at the path, and refuses an array on the way.
func plain(v any, p bsonval.Path, role string, s *state) (any, error) {
	for i, f := range p {
		if _, isArray := v.(bson.A); isArray {
			return nil, mongoerr.New(mongoerr.BadValue,
				"The %s field cannot be an array element, '%s' in doc with _id: %s has an array field called '%s'",
				role, p, show(s.id), p[i-1].Name)
		}
		v = step(v, f)
	}
	return v, nil
}
