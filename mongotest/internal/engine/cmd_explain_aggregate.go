package engine

import "go.mongodb.org/mongo-driver/v2/bson"

// explainAggregate shows the plan of the first stages, and the other stages
// after it.
func explainAggregate(r *request) (*explained, error) {
	a, err := readAggregate(r)
	if err != nil {
		return nil, err
	}
	x := &explained{ns: a.ns, plan: a.plan}
	if len(a.tail) == 0 && !a.near {
		return x, nil
	}
	source := "$cursor"
	if a.near {
		source = "$geoNearCursor"
	}
	x.wrap = func(planner, stats bson.D) reply {
		cursor := bson.D{{Key: "queryPlanner", Value: planner}}
		if stats != nil {
			cursor = append(cursor, bson.E{Key: "executionStats", Value: stats})
		}
		stages := append(bson.A{bson.D{{Key: source, Value: cursor}}}, a.tail...)
		return reply{{Key: "stages", Value: stages}}
	}
	return x, nil
}
