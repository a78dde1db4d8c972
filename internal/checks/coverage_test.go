package checks

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
)

// Every function that generates a command has a case, and every case is of such a function.
func TestCoverage(t *testing.T) {
	byMethod := map[string][]Case{}
	for _, c := range registered {
		byMethod[c.Method] = append(byMethod[c.Method], c)
	}
	found, some := 0, partsOf(t)
	for _, f := range generators(t) {
		found++
		cases := byMethod[f.name]
		delete(byMethod, f.name)
		switch {
		case f.part && !some[f.name]: // the technique has none
		case f.part && !strings.Contains(docOf(t, f.name), f.name[strings.LastIndexByte(f.name, '.')+1:]+" returns"):
			t.Errorf("%s comes from model.Parts, so go doc doesn't list it: say in the comment of the type what it returns", f.name)
		case len(cases) == 0:
			t.Errorf("%s returns a %s and has no case: register one in internal/checks", f.name, f.returns)
		case f.mutable != "" && !slices.ContainsFunc(cases, func(c Case) bool { return c.From != nil }):
			t.Errorf("%s is handed a %s and has no case with From: nothing tells whether it changes or keeps it",
				f.name,
				f.mutable)
		}
	}
	for name := range byMethod {
		t.Errorf("%s has a case, but no exported function of that name generates anything", name)
	}
	if found < 30 {
		t.Errorf("found only %d functions: something is wrong with the search", found)
	}
	t.Logf("%d functions, %d cases", found, len(registered))
}

// Cases say what they are, once.
func TestCasesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range registered {
		switch {
		case c.Reason == "":
			t.Errorf("%s: a case has no reason", c.Method)
		case (c.Make == nil) == (c.From == nil):
			t.Errorf("%s: a case gives either Make or From", c.name())
		case seen[c.name()]:
			t.Errorf("%s: is registered twice", c.name())
		}
		seen[c.name()] = true
	}
}

// generator is an exported function or method that returns something to be sent.
type generator struct {
	name    string // as Case.Method
	returns string
	mutable string // the type of a parameter that the caller could change afterwards
	part    bool   // it is one of the Parts that a technique embeds
}

// partsOf are the methods by which the techniques among the walked values return indexes or checks, and that return
// some.
func partsOf(t *testing.T) map[string]bool {
	some := map[string]bool{}
	for _, v := range walkedValues {
		x, ok := v.(interface {
			Indexes() []model.Index
			Checks() []model.Check
		})
		if !ok {
			continue
		}
		name := strings.TrimPrefix(bareType(reflect.TypeOf(v)), "*")
		some[name+".Indexes"] = some[name+".Indexes"] || len(x.Indexes()) > 0
		some[name+".Checks"] = some[name+".Checks"] || len(x.Checks()) > 0
	}
	if len(some) < 10 {
		t.Errorf("found only %d methods of techniques: something is wrong with the search", len(some))
	}
	return some
}

// generators finds them in every package of the library.
func generators(t *testing.T) (out []generator) {
	for _, p := range libraries(t) {
		for _, name := range p.Scope().Names() {
			obj := p.Scope().Lookup(name)
			if !obj.Exported() {
				continue
			}
			switch obj := obj.(type) {
			case *types.Func:
				out = appendGenerator(out, p, p.Name()+"."+name, obj)
			case *types.TypeName:
				if obj.IsAlias() || types.IsInterface(obj.Type()) {
					continue // the methods of an interface are those of its types
				}
				set := types.NewMethodSet(types.NewPointer(obj.Type()))
				for i := range set.Len() {
					if m, ok := set.At(i).Obj().(*types.Func); ok && m.Exported() {
						out = appendGenerator(out, p, p.Name()+"."+name+"."+m.Name(), m)
					}
				}
			}
		}
	}
	return out
}

func appendGenerator(out []generator, p *types.Package, name string, f *types.Func) []generator {
	sig := f.Signature()
	if sig.Params().Len() > 0 && types.TypeString(sig.Params().At(0).Type(), nil) == "context.Context" {
		return out // it runs something
	}
	for i := range sig.Results().Len() {
		if r := generated(sig.Results().At(i).Type(), p.Path()); r != "" {
			_, part, _ := strings.Cut(f.FullName(), modelPath+".Parts).")
			g := generator{name: name, returns: r, part: part != ""}
			for v := range sig.Params().Variables() {
				if isMutable(v.Type(), nil) {
					g.mutable = types.TypeString(v.Type(), func(p *types.Package) string { return p.Name() })
				}
			}
			return append(out, g)
		}
	}
	return out
}

// generated names what a result is, if it is something to be sent; lists of it count too. In a technique's package a
// bare document or pipeline counts as well: it is a stage, a filter or a schema.
func generated(t types.Type, pkg string) string {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		return generated(u.Elem(), pkg)
	case *types.Slice:
		return generated(u.Elem(), pkg)
	case *types.Map:
		return generated(u.Elem(), pkg)
	case *types.Named:
		obj := u.Obj()
		if obj.Pkg() == nil {
			return ""
		}
		switch full := obj.Pkg().Path() + "." + obj.Name(); strings.TrimPrefix(full, modelPath+".") {
		case "Find", "Aggregate", "Modify", "Write", "MergeInto", "Plan", "Change", "ChangeOf", "Check",
			"Job", "Stream", "Index",
			"IndexSet", "Validation":
			return "model." + obj.Name()
		case geofieldPath + ".Within", geofieldPath + ".Nearest": // they show what they send
			return "geofield." + obj.Name()
		case driver + "bson.D", driver + "mongo.Pipeline":
			if pkg != modelPath {
				return obj.Pkg().Name() + "." + obj.Name()
			}
		}
	}
	return ""
}

const (
	driver       = "go.mongodb.org/mongo-driver/v2/"
	geofieldPath = module + "/geohash/geofield"
)

// isMutable reports whether a value of the type shares memory with the caller's. What the model generates is a value of
// its own: copies of a Find share their filter, and nothing writes to it.
func isMutable(t types.Type, seen []types.Type) bool {
	t = types.Unalias(t)
	if _, isParam := t.(*types.TypeParam); isParam || slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	switch types.TypeString(t, nil) {
	case "time.Time", "error":
		return false
	}
	if _, isStruct := t.Underlying().(*types.Struct); isStruct && generated(t, modelPath) != "" {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		s, isStruct := u.Elem().Underlying().(*types.Struct)
		settable := func(f *types.Var) bool { return f.Exported() && f.Name() != "Parts" }
		// else a declaration, with nothing to set
		return !isStruct || slices.ContainsFunc(slices.Collect(s.Fields()), settable)
	case *types.Slice, *types.Map, *types.Interface:
		return true
	case *types.Array:
		return isMutable(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && isMutable(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}
