package checks

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Case is one call of a function that generates a command. It gives Make or From.
type Case struct {
	Method string // package, type and method, or package and function: childrefs.ChildRefs.Add, model.Merge
	Reason string // why this case is there

	// Make calls the function. s is a string that a caller's user typed: it goes wherever a value goes.
	Make func(s string) any

	// From is Make for a function that is handed slices, pointers, maps or interfaces. It returns fresh inputs, and a
	// call that uses them, so that a test can see whether the call changes them or keeps hold of them.
	From func(s string) (inputs []any, call func() any)

	// State is what a model.Change decides from, or the error of its Read, or the []bson.Raw that a model.Job plans for.
	State func(s string) any

	// MayRefuse says why a strange string may be refused here. "" means that every string must pass.
	MayRefuse string
}

var registered []Case

// register adds cases. It is called by init functions alone.
func register(cases ...Case) { registered = append(registered, cases...) }

// value calls the function with s.
func (c Case) value(s string) any {
	if c.From != nil {
		_, call := c.From(s)
		return call()
	}
	return c.Make(s)
}

// name is the case's name as a subtest.
func (c Case) name() string {
	return c.Method + "/" + strings.ReplaceAll(c.Reason, "/", "|")
}

// group is the name of the type whose method it is, or of the package whose function it is.
func (c Case) group() string {
	return c.Method[:strings.LastIndexByte(c.Method, '.')]
}

// place says how the server reads a document.
type place uint8

const (
	data       place = iota // stored or compared as it is
	filter                  // a query
	expression              // strings that begin with $ are paths
	stages                  // a pipeline
	names                   // of fields, indexes and collections: no value belongs there
	pattern                 // a regular expression
)

// A part is one document of a generated value.
type part struct {
	name  string
	place place
	value any
}

// parts takes a generated value apart.
func (c Case) parts(v any, s string) ([]part, error) {
	switch v := v.(type) {
	case model.Write:
		return writeParts(v), v.Err
	case model.MergeInto:
		return []part{{"pipeline", stages, v.Pipeline}, {"once", data, v.Idempotent}}, v.Err
	case model.Plan:
		return planParts(v)
	case model.Check:
		out := []part{{"name", names, v.Name}, {"rule", data, v.Rule}}
		for _, q := range v.Queries {
			out = append(out, commandParts(q.Command())...)
		}
		if v.Pipeline == nil {
			return out, v.Err
		}
		return append(out, commandParts(v.Find().Command())...), v.Err
	case model.Index:
		return indexParts(v), nil
	case []model.Index:
		return manyParts(v, indexParts), nil
	case model.IndexSet:
		return append(manyParts(v.Needed, indexParts), manyParts(v.Dropped, func(d model.DroppedIndex) []part {
			return append(indexParts(d.Index), part{"dropped", data, d.By + d.Why})
		})...), nil
	case model.Validation:
		return []part{validationPart(v)}, nil
	case []model.Validation:
		return manyParts(v, func(v model.Validation) []part { return []part{validationPart(v)} }), nil
	case mongo.Pipeline:
		return []part{{"pipeline", stages, v}}, nil
	case bson.D:
		return []part{documentPart(v)}, nil
	case interface{ Command() bson.D }:
		return commandParts(v.Command()), errorOf(v)
	}
	return c.deferredParts(v, s)
}

func manyParts[T any](list []T, f func(T) []part) (out []part) {
	for _, x := range list {
		out = append(out, f(x)...)
	}
	return out
}

func planParts(p model.Plan) (out []part, err error) {
	for _, step := range p.Steps {
		if _, err = (Case{}).parts(step, ""); err != nil {
			break
		}
	}
	out = append(stepParts("", p.Steps), stepParts("if stale ", p.IfStale)...)
	out = append(out, stepParts("in a transaction ", p.InTx)...)
	return append(out, part{"options", data, fmt.Sprint(p.Options.Comment, p.Transactional, p.Leaves)}), err
}

// stepParts takes the steps of a plan apart, and names them after what they are for.
func stepParts(of string, steps []model.Step) (out []part) {
	for i, step := range steps {
		more, _ := Case{}.parts(step, "")
		for _, x := range more {
			x.name = fmt.Sprintf("%sstep %d %s", of, i, x.name)
			out = append(out, x)
		}
	}
	return out
}

func indexParts(x model.Index) []part {
	out := []part{
		{"collection", names, x.Collection}, {"name", names, x.Name}, {"keys", names, x.Keys},
		{"unique", data, x.Unique}, {"expire", data, int64(x.ExpireAfter)}, {"why", data, x.Why},
	}
	if x.Partial != nil {
		out = append(out, part{"partial", filter, x.Partial})
	}
	return out
}

func writeParts(w model.Write) []part {
	out := []part{
		{"collection", names, w.Collection}, {"index", names, w.Index},
		{"expect", data, []string{"any", "one"}[w.Expect]}, {"once", data, w.Idempotent},
	}
	if w.Done != nil {
		out = append(out, part{"done", filter, w.Done})
	}
	for i, r := range w.Reasons {
		name := fmt.Sprintf("reason %d ", i)
		out = append(out, part{name + "if", filter, orEmpty(r.If)})
		out = append(out, stepParts(name, r.Instead)...)
	}
	flag := func(upsert *bool) part { return part{"upsert", data, upsert != nil && *upsert} }
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		out = append(out, part{"document", data, m.Document})
	case *mongo.UpdateOneModel:
		out = append(out, part{"filter", filter, m.Filter}, updatePart(m.Update),
			arrayFilters(m.ArrayFilters), flag(m.Upsert))
	case *mongo.UpdateManyModel:
		out = append(out, part{"filter", filter, m.Filter}, updatePart(m.Update),
			arrayFilters(m.ArrayFilters), flag(m.Upsert))
	case *mongo.ReplaceOneModel:
		out = append(out, part{"filter", filter, m.Filter}, part{"replacement", data, m.Replacement}, flag(m.Upsert))
	case *mongo.DeleteOneModel:
		out = append(out, part{"filter", filter, m.Filter})
	case *mongo.DeleteManyModel:
		out = append(out, part{"filter", filter, m.Filter})
	}
	return out
}

func updatePart(u any) part {
	switch u.(type) {
	case mongo.Pipeline, []bson.D, bson.A:
		return part{"update", stages, u}
	}
	return part{"update", data, u}
}

func arrayFilters(list []any) part { return part{"arrayFilters", filter, bson.A(list)} }

// commandParts takes a find, aggregate or findAndModify command apart.
func commandParts(cmd bson.D) []part {
	out := make([]part, 0, len(cmd))
	for _, e := range cmd {
		if list, ok := e.Value.(bson.A); ok && (e.Key == "updates" || e.Key == "deletes") {
			for _, w := range list {
				out = append(out, commandParts(w.(bson.D))...)
			}
			continue
		}
		p := part{e.Key, data, e.Value}
		switch e.Key {
		case "filter", "query", "q", "arrayFilters":
			p.place = filter
		case "projection", "fields", "let":
			p.place = expression
		case "pipeline":
			p.place = stages
		case "update", "u":
			p = updatePart(e.Value)
		case "find", "aggregate", "findAndModify", "findandmodify", "sort", "hint":
			p.place = names
		}
		out = append(out, p)
	}
	return out
}

// documentPart tells a stage from a filter.
func documentPart(d bson.D) part {
	if len(d) == 1 && strings.HasPrefix(d[0].Key, "$") {
		switch d[0].Key {
		case "$and", "$or", "$nor", "$expr", "$jsonSchema", "$text", "$comment":
		default:
			return part{"stage", stages, bson.A{d}}
		}
	}
	return part{"document", filter, d}
}

// validationPart is the command that sets a validation.
func validationPart(v model.Validation) part {
	return documentPart(bson.D{
		{Key: "collMod", Value: v.Collection}, {Key: "validator", Value: v.Validator},
		{Key: "validationLevel", Value: v.Level}, {Key: "validationAction", Value: v.Action},
	})
}
