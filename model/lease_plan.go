package model

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// storedWrite is a write as stored in an intent. The intent stores it as bytes, because
// some servers refuse names with $.
type storedWrite struct {
	Collection   string        `bson:"c"`
	Kind         string        `bson:"kind"`
	Document     bson.Raw      `bson:"document,omitempty"`
	Filter       bson.Raw      `bson:"filter,omitempty"`
	Update       bson.RawValue `bson:"update,omitempty"`
	ArrayFilters []bson.Raw    `bson:"arrayFilters,omitempty"`
	Upsert       bool          `bson:"upsert,omitempty"`
	One          bool          `bson:"one,omitempty"`
	Done         bson.Raw      `bson:"done,omitempty"`
	Once         bool          `bson:"once,omitempty"`
	Tenant       bson.D        `bson:"tenant,omitempty"`
	Index        string        `bson:"index,omitempty"`
}

// storedPlan is a plan as stored in an intent. AllowPartial isn't stored: a plan under a
// lease is rerunnable.
type storedPlan struct {
	Steps   []storedWrite `bson:"steps"`
	Comment any           `bson:"comment,omitempty"`
	Bypass  bool          `bson:"bypass,omitempty"`
}

// encodePlan encodes a plan of writes. It refuses a write concern, and driver options
// other than upsert and arrayFilters.
func encodePlan(p Plan) ([]byte, error) {
	if p.Options.WriteConcern != nil {
		return nil, &ValueError{
			Field:  "Options.WriteConcern",
			Reason: "can't be stored with an intent: set it on the database or the client",
		}
	}
	steps := make([]storedWrite, len(p.Steps))
	for i, s := range p.Steps {
		w, ok := s.(Write)
		if !ok {
			return nil, &StepError{
				Step: i,
				Err:  &ValueError{Field: "Steps", Reason: "a step with $merge or $out can't be stored"},
			}
		}
		out, err := encodeWrite(w)
		if err != nil {
			return nil, &StepError{Step: i, Err: err}
		}
		steps[i] = out
	}
	return bson.Marshal(storedPlan{steps, p.Options.Comment, p.Options.BypassDocumentValidation})
}

func encodeWrite(w Write) (storedWrite, error) {
	out := storedWrite{
		Collection: w.Collection, One: w.Expect == One, Once: w.Idempotent, Index: w.Index, Tenant: w.scoping().tenant,
	}
	m, _, err := encodeModel(w)
	if err != nil {
		return out, err
	}
	if w.Done != nil {
		if out.Done, err = (*core.Codec)(nil).Document(w.Done); err != nil {
			return out, err
		}
	}
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch name := v.Type().Field(i).Name; name {
		case "Document", "Replacement":
			out.Document = f.Interface().(bson.Raw)
		case "Filter":
			out.Filter = f.Interface().(bson.Raw)
		case "Update":
			if out.Update.Type, out.Update.Value, err = bson.MarshalValue(f.Interface()); err != nil {
				return out, err
			}
		case "ArrayFilters":
			for j := range f.Len() {
				raw, err := bson.Marshal(f.Index(j).Interface())
				if err != nil {
					return out, err
				}
				out.ArrayFilters = append(out.ArrayFilters, raw)
			}
		case "Upsert":
			out.Upsert = !f.IsNil() && f.Elem().Bool()
		default:
			if !f.IsZero() {
				return out, &ValueError{Collection: w.Collection, Field: name, Reason: "can't be stored with an intent"}
			}
		}
	}
	out.Kind = v.Type().Name()
	return out, nil
}

func decodePlan(data []byte) (Plan, error) {
	var stored storedPlan
	if err := bson.Unmarshal(data, &stored); err != nil {
		return Plan{}, err
	}
	p := Plan{Options: PlanOptions{Comment: stored.Comment, BypassDocumentValidation: stored.Bypass}}
	for _, s := range stored.Steps {
		w, err := s.write()
		if err != nil {
			return p, err
		}
		p.Steps = append(p.Steps, w)
	}
	return p, nil
}

func (s storedWrite) write() (w Write, err error) {
	w = Write{Collection: s.Collection, Idempotent: s.Once, Index: s.Index, under: &scoped{tenant: s.Tenant}}
	if s.One {
		w.Expect = One
	}
	filter, err := asD(s.Filter)
	if err != nil {
		return w, err
	}
	if w.Done, err = asD(s.Done); err != nil {
		return w, err
	}
	var filters []any
	for _, f := range s.ArrayFilters {
		filters = append(filters, f)
	}
	var upsert *bool
	if s.Upsert {
		upsert = &s.Upsert
	}
	var update any
	if s.Update.Type == bson.TypeArray {
		stages := mongo.Pipeline{}
		err = s.Update.Unmarshal(&stages)
		update = stages
	} else if s.Update.Type != 0 {
		ops := bson.D{}
		err = s.Update.Unmarshal(&ops)
		update = ops
	}
	switch s.Kind {
	case "InsertOneModel":
		w.Model = &mongo.InsertOneModel{Document: s.Document}
	case "UpdateOneModel":
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: filters, Upsert: upsert}
	case "UpdateManyModel":
		w.Model = &mongo.UpdateManyModel{Filter: filter, Update: update, ArrayFilters: filters, Upsert: upsert}
	case "ReplaceOneModel":
		w.Model = &mongo.ReplaceOneModel{Filter: filter, Replacement: s.Document, Upsert: upsert}
	case "DeleteOneModel":
		w.Model = &mongo.DeleteOneModel{Filter: filter}
	case "DeleteManyModel":
		w.Model = &mongo.DeleteManyModel{Filter: filter}
	default:
		return w, fmt.Errorf("docmodel: a stored write is of the unknown kind %q", s.Kind)
	}
	return w, err
}

func asD(raw bson.Raw) (bson.D, error) {
	if raw == nil {
		return nil, nil
	}
	d := bson.D{}
	return d, bson.Unmarshal(raw, &d)
}
