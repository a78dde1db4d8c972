package engine

import "go.mongodb.org/mongo-driver/v2/bson"

// explainAggregate reads an aggregate command. If the plan does all stages, explain shows it like that of a find.
// Otherwise the plan is the first stage of a list, and the other stages follow as they were sent:
//
//	{stages: [{$cursor: {queryPlanner: {…}, executionStats: {…}}}, {$group: {_id: "$n"}}]}
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
