package checks

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// operatorUses finds the operators in generated commands, each with its kind, which follows from where it stands.
type operatorUses map[operatorKind]map[string]map[string]bool // by kind, name and package

// collector is what finds them for one package.
type collector struct {
	uses operatorUses
	pkg  string
}

func (u collector) add(k operatorKind, name string) {
	if u.uses[k] == nil {
		u.uses[k] = map[string]map[string]bool{}
	}
	if u.uses[k][name] == nil {
		u.uses[k][name] = map[string]bool{}
	}
	u.uses[k][name][u.pkg] = true
}

// part takes in a part of a generated value.
func (u collector) part(p part) {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: p.value}})
	if err != nil {
		return // what can't be encoded is for other tests
	}
	var d bson.D
	if bson.Unmarshal(raw, &d) != nil {
		return
	}
	v := d[0].Value
	fields := strings.Fields(p.name)
	switch name := fields[len(fields)-1]; {
	case p.place == filter:
		u.filter(v)
	case p.place == stages:
		u.stages(v)
	case name == "projection" || name == "fields":
		u.projection(v)
	case p.place == expression:
		u.expression(v)
	case name == "update":
		u.update(v)
	}
}

func isOperator(name string) bool { return strings.HasPrefix(name, "$") }

func (u collector) filter(v any) {
	switch v := v.(type) {
	case bson.A:
		for _, x := range v {
			u.filter(x)
		}
	case bson.D:
		for _, f := range v {
			if isOperator(f.Key) {
				u.add(queryOperator, f.Key)
			}
			switch f.Key {
			case "$expr":
				u.expression(f.Value)
			case "$geoWithin":
				for _, area := range f.Value.(bson.D) {
					u.add(areaOperator, area.Key)
				}
			case "$and", "$or", "$nor", "$not", "$elemMatch", "$all":
				u.filter(f.Value)
			default:
				if !isOperator(f.Key) {
					u.filter(f.Value)
				}
			}
		}
	}
}

func (u collector) expression(v any) {
	switch v := v.(type) {
	case bson.A:
		for _, x := range v {
			u.expression(x)
		}
	case bson.D:
		for _, f := range v {
			if isOperator(f.Key) {
				u.add(expressionOperator, f.Key)
			}
			if f.Key != "$literal" {
				u.expression(f.Value)
			}
		}
	}
}

func (u collector) projection(v any) {
	d, _ := v.(bson.D)
	for _, f := range d {
		op, _ := f.Value.(bson.D)
		switch {
		case strings.HasSuffix(f.Key, ".$"):
			u.add(projectionOperator, "$")
		case len(op) == 1 && (op[0].Key == "$slice" || op[0].Key == "$elemMatch"):
			u.add(projectionOperator, op[0].Key)
		default:
			u.expression(f.Value)
		}
	}
}

func (u collector) stages(v any) {
	list, _ := v.(bson.A)
	for _, x := range list {
		if s, ok := x.(bson.D); ok && len(s) == 1 {
			u.add(stageOperator, s[0].Key)
			u.stage(s[0].Key, s[0].Value)
		}
	}
}

func (u collector) stage(name string, arg any) {
	d, _ := arg.(bson.D)
	switch name {
	case "$match":
		u.filter(arg)
	case "$group":
		u.fields(d, accumulatorOperator)
	case "$facet":
		for _, f := range d {
			u.stages(f.Value)
		}
	case "$lookup", "$graphLookup", "$unionWith", "$merge", "$bucket", "$setWindowFields":
		for _, f := range d {
			switch f.Key {
			case "pipeline", "whenMatched":
				u.stages(f.Value)
			case "restrictSearchWithMatch":
				u.filter(f.Value)
			case "output":
				kind := accumulatorOperator
				if name == "$setWindowFields" {
					kind = windowOperator
				}
				out, _ := f.Value.(bson.D)
				u.fields(out, kind)
			default:
				u.expression(f.Value)
			}
		}
	default:
		u.expression(arg)
	}
}

// fields takes in fields of which each has an operator of the kind, but for the _id of a group.
func (u collector) fields(d bson.D, k operatorKind) {
	for _, f := range d {
		op, ok := f.Value.(bson.D)
		if f.Key == "_id" || !ok || len(op) == 0 {
			u.expression(f.Value)
			continue
		}
		u.add(k, op[0].Key)
		u.expression(op[0].Value)
	}
}

func (u collector) update(v any) {
	d, ok := decoded(v).(bson.D)
	if !ok {
		u.stages(v)
		return
	}
	for _, op := range d {
		fields, ok := op.Value.(bson.D)
		if !isOperator(op.Key) || !ok {
			continue
		}
		u.add(updateOperator, op.Key)
		for _, f := range fields {
			u.path(f.Key)
			switch arg, _ := f.Value.(bson.D); op.Key {
			case "$pull":
				u.filter(f.Value)
			case "$push", "$addToSet":
				for _, m := range arg {
					if isOperator(m.Key) {
						u.add(modifierOperator, m.Key)
					}
				}
			}
		}
	}
}

func (u collector) path(path string) {
	for part := range strings.SplitSeq(path, ".") {
		switch {
		case part == "$" || part == "$[]":
			u.add(modifierOperator, part)
		case strings.HasPrefix(part, "$["):
			u.add(modifierOperator, "$[<identifier>]")
		}
	}
}
