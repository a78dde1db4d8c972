package checks

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// digest matches what a job's name has in the place of an id: 16 hexadecimal digits.
var digest = regexp.MustCompile(`(, source) [0-9a-f]{16}$`)

// A caseError says that a case can't be looked into: it is no refusal of what the case tries.
type caseError string

func (e caseError) Error() string { return string(e) }

// deferredParts takes apart what plans only once something was read: it shows the plan for the case's State.
func (c Case) deferredParts(v any, s string) ([]part, error) {
	if job, ok := v.(model.Job); ok {
		return c.jobParts(job, s)
	}
	if decides(v) {
		if err := errorOf(v); err != nil {
			return nil, err
		}
		p, err := c.decided(v, s)
		if err != nil {
			return nil, err
		}
		return planParts(p)
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		var out []part
		for i := range list.Len() {
			more, err := c.parts(list.Index(i).Interface(), s)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
	return nil, caseError(fmt.Sprintf("%s returns a %T, which the checks can't take apart", c.Method, v))
}

// decides reports whether a value is a model.Change or a model.ChangeOf.
func decides(v any) bool {
	if _, ok := v.(model.Change); ok {
		return true
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	return r.Kind() == reflect.Struct && r.FieldByName("Decide").IsValid()
}

// decided is the plan of a model.Change or model.ChangeOf.
func (c Case) decided(v any, s string) (model.Plan, error) {
	if c.State == nil {
		return model.Plan{}, caseError(c.Method + ": the case needs a State to decide from")
	}
	state := c.State(s)
	if err, refused := state.(error); refused {
		return model.Plan{}, err
	}
	if c, ok := v.(model.Change); ok {
		return c.Decide(state)
	}
	out := reflect.ValueOf(v).FieldByName("Decide").Call([]reflect.Value{reflect.ValueOf(state)})
	err, _ := out[1].Interface().(error)
	return out[0].Interface().(model.Plan), err
}

// jobParts are the reads of each stage, and what it plans for the State, where it plans from that alone.
func (c Case) jobParts(job model.Job, s string) ([]part, error) {
	if job.Err != nil {
		return nil, job.Err
	}
	out := []part{{"name", data, digest.ReplaceAllString(job.Name, "$1 of an id")}}
	for _, stage := range job.Stages {
		if stage.Do != nil {
			continue
		}
		out = append(out, part{"collection", names, stage.Collection},
			part{"filter", filter, orEmpty(stage.Filter)}, part{"projection", expression, orEmpty(stage.Projection)})
		if len(stage.Pipeline) > 0 {
			out = append(out, part{"stages", stages, stage.Pipeline})
		}
		p, err := c.planned(stage, s)
		if err != nil {
			return nil, err
		}
		more, err := planParts(p)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func (c Case) planned(stage model.Stage, s string) (model.Plan, error) {
	var docs []bson.Raw
	if c.State != nil {
		docs, _ = c.State(s).([]bson.Raw)
	}
	switch {
	case stage.Do != nil, stage.Plan == nil && stage.Work == nil: // the latter is a check's: what it plans is its Mend's
		return model.Plan{}, nil
	case stage.Work != nil && len(docs) > 0:
		return stage.Work(context.Background(), &model.Batch{Docs: docs})
	case stage.Work != nil:
		return model.Plan{}, nil // it reads more than the case can say
	case len(docs) == 0:
		return model.Plan{}, caseError(c.Method + ": the case needs a State of []bson.Raw to plan for")
	}
	return stage.Plan(docs)
}

// errorOf is the Err field of a value of any of the model's types.
func errorOf(v any) error {
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return nil
	}
	if f := r.FieldByName("Err"); f.IsValid() {
		err, _ := f.Interface().(error)
		return err
	}
	return nil
}

// indexOf is the Index field of a value of any of the model's types, or "".
func indexOf(v any) string {
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return ""
	}
	if f := r.FieldByName("Index"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

func orEmpty(d bson.D) bson.D {
	if d == nil {
		return bson.D{}
	}
	return d
}

// What plans only once something was read is taken apart by the plan for its State.
func TestDeferred(t *testing.T) {
	move := Case{
		Method: "x.T.Move",
		Make: func(s string) any {
			return model.ChangeOf[string]{
				Decide: func(read string) (model.Plan, error) { return model.NewPlan(from.MoveAll(read, s)), nil },
			}
		},
		State: func(s string) any { return s + "2" },
	}
	fill := Case{
		Method: "x.T.Fill",
		Make: func(s string) any {
			return model.Job{
				Name: "fill",
				Stages: []model.Stage{{
					Collection: "products", Filter: bson.D{{Key: "name", Value: s}},
					Plan: func(docs []bson.Raw) (model.Plan, error) {
						return model.NewPlan(uses.Add(docs[0].Lookup("_id").StringValue(), s)), nil
					},
				}},
			}
		},
		State: func(s string) any {
			raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: s}})
			return []bson.Raw{raw}
		},
	}
	for _, test := range []struct {
		c    Case
		want string
	}{
		{move, "db.logmsgs.updateMany({host: 'nut2'}, {$set: {host: 'nut'}})"},
		{fill, "db.products.find({name: 'nut'})"},
		{fill, "db.products.updateOne({_id: 'nut'}, {$addToSet: {parts: 'nut'}})"},
	} {
		if got := test.c.show(t, "nut"); !strings.Contains(got, test.want) {
			t.Errorf("%s shows\n%s\nwithout %s", test.c.Method, got, test.want)
		}
		if problems := test.c.underHostile(test.c.outcome(harmless), "$where"); len(problems) > 0 {
			t.Errorf("%s: %q", test.c.Method, problems)
		}
		missing := Case{Method: test.c.Method, Make: test.c.Make}
		if _, err := missing.parts(missing.value("nut"), "nut"); err == nil {
			t.Errorf("%s: a case without a State is taken apart", test.c.Method)
		}
		if len(missing.underHostile(missing.outcome(harmless), "$where")) == 0 {
			t.Errorf("%s: a case that can't be taken apart passes", test.c.Method)
		}
	}
}
