package differ

import "go.mongodb.org/mongo-driver/v2/bson"

// walk calls f for each field of v, at any depth.
func walk(v any, f func(key string, value any)) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			f(e.Key, e.Value)
			walk(e.Value, f)
		}
	case bson.A:
		for _, x := range v {
			walk(x, f)
		}
	case []bson.D:
		for _, x := range v {
			walk(x, f)
		}
	}
}

// values calls f for each value in v, at any depth, v included.
func values(v any, f func(any)) {
	f(v)
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			values(e.Value, f)
		}
	case bson.A:
		for _, x := range v {
			values(x, f)
		}
	case []bson.D:
		for _, x := range v {
			values(x, f)
		}
	}
}
