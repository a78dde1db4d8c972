package window

// This file reads the document of a function: its argument and its window. The errors of MongoDB
// differ between functions, so there are three ways to read it.

import "go.mongodb.org/mongo-driver/v2/bson"

// readParts reads a function's argument and window. The bounds are nil if it has no window. A second window replaces
// the first.
func readParts(spec bson.D, s Stage) (arg any, b *bounds, err error) {
	seen := false
	for _, f := range spec {
		switch {
		case f.Key == "window":
			if b, err = parseBounds(f.Value, s); err != nil {
				return nil, nil, err
			}
		case s.isFunction(f.Key) && seen:
			return nil, nil, newError("Cannot specify two functions in window function spec")
		case s.isFunction(f.Key):
			arg, seen = f.Value, true
		default:
			return nil, nil, newError("Window function found an unknown argument: %s", f.Key)
		}
	}
	return arg, b, nil
}

// readNamedParts is readParts for functions that name themselves in errors. For them a second function is an unexpected
// argument.
func readNamedParts(name string, spec bson.D, s Stage) (arg any, b *bounds, err error) {
	for _, f := range spec {
		switch {
		case f.Key == "window" && b != nil:
			return nil, nil, newError("saw multiple 'window' fields in '%s' expression", name)
		case f.Key == "window":
			if b, err = parseBounds(f.Value, s); err != nil {
				return nil, nil, err
			}
		case f.Key == name:
			arg = f.Value
		default:
			return nil, nil, newError("%s got unexpected argument: %s", name, f.Key)
		}
	}
	return arg, b, nil
}

// readArgument reads the argument of a function that takes no window. A window is refused last: another mistake is
// reported first.
func readArgument(name string, spec bson.D, s Stage) (arg any, err error) {
	windowed, seen := false, false
	for _, f := range spec {
		switch {
		case f.Key == "window":
			windowed = true
		case s.isFunction(f.Key) && seen:
			return nil, newError("Cannot specify two functions in window function spec")
		case s.isFunction(f.Key):
			arg, seen = f.Value, true
		default:
			return nil, newError("Window function found an unknown argument: %s", f.Key)
		}
	}
	if windowed {
		return nil, newError("'window' field is not allowed in %s", name)
	}
	return arg, nil
}
