package checks

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// Whatever is handed to an exported function or method, it doesn't panic: bad input is an error. Constructors panic
// with a *model.DeclarationError.
func TestNoPanics(t *testing.T) {
	w := &walker{t: t, db: mongotest.NewClient(t).Database("panics"), found: map[string]bool{}, walked: map[string]bool{}}
	for name, f := range walkedFunctions {
		w.try(name, reflect.ValueOf(f))
	}
	for _, r := range walkedValues {
		w.methods(reflect.ValueOf(r))
		if v := reflect.ValueOf(r); v.Kind() != reflect.Pointer && v.Kind() != reflect.Struct {
			for _, b := range w.bad(v.Type(), 0) {
				w.methods(b)
			}
		}
	}
	for next, ok := w.next(); ok; next, ok = w.next() { // what has no constructor of its own
		w.methods(next)
	}
	if w.work != nil {
		close(w.work)
	}
	t.Logf("%d functions, %d calls", len(w.walked), w.calls)
	if testing.Short() {
		return
	}
	for _, name := range methodsOf(t) {
		if !w.walked[name] && documentedPanics[name] == "" {
			t.Errorf("%s is not called with bad input: add a value of its type to walkedValues", name)
		}
	}
}

// Every exported function is walked.
func TestPanicsCoverage(t *testing.T) {
	for _, p := range libraries(t) {
		if p.Name() == "modeltest" {
			continue // it is for tests, and panics with what its documentation says
		}
		for _, name := range p.Scope().Names() {
			obj := p.Scope().Lookup(name)
			full := p.Name() + "." + name
			if f, ok := obj.(*types.Func); ok && f.Exported() && walkedFunctions[full] == nil && documentedPanics[full] == "" {
				t.Errorf("%s is not called with bad input: add it to walkedFunctions", full)
			}
		}
	}
}

// methodsOf are the exported methods of the library's exported types.
func methodsOf(t *testing.T) (out []string) {
	for _, p := range libraries(t) {
		for _, name := range p.Scope().Names() {
			obj, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || p.Name() == "modeltest" || !obj.Exported() || obj.IsAlias() || types.IsInterface(obj.Type()) {
				continue
			}
			set := types.NewMethodSet(types.NewPointer(obj.Type()))
			for i := range set.Len() {
				if m := set.At(i).Obj(); m.Exported() {
					out = append(out, p.Name()+"."+name+"."+m.Name())
				}
			}
		}
	}
	return out
}

const modulePath = "github.com/docmodel/docmodel"

// pkgOf is the package of a type, or of what a pointer points at.
func pkgOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// bareType is the name of a type without its arguments, and of what a pointer points at.
func bareType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.String(), "[")
	return name
}

// A walker calls functions with bad arguments, and methods of their results.
type walker struct {
	t     *testing.T
	db    *mongo.Database
	mu    sync.Mutex // of found, made and seen: a call that hangs goes on beside the others
	calls int
	work  chan func()     // to the goroutine that makes calls; nil before the first call and after one that hangs
	found map[string]bool // functions with a fault that was told

	walked map[string]bool // functions that were called
	made   []reflect.Value // what constructors and methods returned, of types that were not seen yet
	seen   map[reflect.Type]bool
}

// methods calls all methods of a value.
func (w *walker) methods(v reflect.Value) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	for i := range v.NumMethod() {
		w.try(bareType(v.Type())+"."+v.Type().Method(i).Name, v.Method(i))
	}
	if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface &&
		v.NumMethod() < reflect.PointerTo(v.Type()).NumMethod() {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		w.methods(p)
	}
}

// try calls a function with all arguments as they should be, then with each of the bad ones in its place, and with bad
// ones in all places.
func (w *walker) try(name string, f reflect.Value) {
	if documentedPanics[name] != "" {
		return
	}
	w.walked[name] = true
	typ := f.Type()
	n := typ.NumIn()
	good, bad := make([]reflect.Value, n), make([][]reflect.Value, n)
	most := 0
	for i := range n {
		good[i], bad[i] = w.good(typ.In(i)), w.bad(typ.In(i), 0)
		most = max(most, len(bad[i]))
	}
	w.call(name, f, good)
	for i := range n {
		for _, b := range bad[i] {
			args := append([]reflect.Value(nil), good...)
			args[i] = b
			w.call(name, f, args)
		}
	}
	for k := range most {
		args := make([]reflect.Value, n)
		for i := range n {
			args[i] = bad[i][k%len(bad[i])]
		}
		w.call(name, f, args)
	}
}

// call makes one call, and goes on with what it returns.
func (w *walker) call(name string, f reflect.Value, args []reflect.Value) {
	if w.told(name, false) {
		return
	}
	w.calls++
	if w.work == nil { // its stack stays as large as the deepest call needs it
		w.work = make(chan func())
		go func(work <-chan func()) {
			for f := range work {
				f()
			}
		}(w.work)
	}
	done := make(chan bool)
	w.work <- func() {
		defer close(done)
		defer func() { w.recovered(name, args, recover()) }()
		results := f.Call
		if f.Type().IsVariadic() {
			results = f.CallSlice
		}
		for _, r := range results(args) {
			w.results(name, r)
		}
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		w.work = nil
		w.told(name, true)
		w.t.Errorf("%s hangs with %s", name, describe(args))
	}
}

// recovered reports a panic that isn't documented.
func (w *walker) recovered(name string, args []reflect.Value, p any) {
	if p == nil {
		return
	}
	if err, ok := p.(error); ok {
		if declared := (*model.DeclarationError)(nil); errors.As(err, &declared) {
			return
		}
	}
	if w.told(name, true) {
		return
	}
	w.t.Errorf("%s panics with %s: %v\n%s", name, describe(args), p, ours(debug.Stack()))
}

// ours are the first lines of a stack that are the library's.
func ours(stack []byte) string {
	var out []string
	lines := strings.Split(string(stack), "\n")
	for _, l := range lines {
		if strings.Contains(l, modulePath+"/") && strings.Contains(l, ".go:") &&
			!strings.Contains(l, "panics_test.go") && len(out) < 5 {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

func describe(args []reflect.Value) string {
	out := make([]string, len(args))
	for i, a := range args {
		text := a.Type().String()
		switch a.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan:
			if a.IsNil() {
				text += "(nil)"
			}
		case reflect.String, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Bool, reflect.Uint8:
			text = clip(fmt.Sprintf("%s(%#v)", text, a.Interface()))
		}
		out[i] = text
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// results runs and prints what was returned, and goes through iterators.
func (w *walker) results(name string, v reflect.Value) {
	if !v.IsValid() || v.Kind() == reflect.Interface && v.IsNil() || v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	if v.Kind() == reflect.Func && v.Type().NumIn() == 1 && v.Type().In(0).Kind() == reflect.Func && !v.IsNil() {
		yields := 0
		v.Call([]reflect.Value{reflect.MakeFunc(v.Type().In(0), func([]reflect.Value) []reflect.Value {
			yields++
			return []reflect.Value{reflect.ValueOf(yields < 10)}
		})})
		return
	}
	if text, ok := v.Interface().(fmt.Stringer); ok && strings.HasPrefix(pkgOf(v.Type()), modulePath) {
		_ = text.String() // the driver's own types are the driver's affair
	}
	if err, ok := v.Interface().(error); ok {
		_ = err.Error()
	}
	if priced, ok := v.Interface().(interface{ Cost() model.Cost }); ok {
		priced.Cost()
	}
	w.changes(v)
	w.collect(v)
}

// collect keeps a value of a type of the library's that was not seen yet, for its methods to be called, too.
func (w *walker) collect(v reflect.Value) {
	t := v.Type()
	base := t
	if base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if !strings.HasPrefix(base.PkgPath(), modulePath) || strings.HasPrefix(base.PkgPath(), modulePath+"/internal/") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[reflect.Type]bool{}
		for _, r := range walkedValues {
			w.seen[reflect.TypeOf(r)] = true
		}
	}
	if !w.seen[t] {
		w.seen[t] = true
		w.made = append(w.made, v)
	}
}

// changes runs what a Change, Plan or Write does, and Decide with what wasn't read.
func (w *walker) changes(v reflect.Value) {
	s := reflect.Indirect(v)
	if s.Kind() != reflect.Struct || !strings.HasPrefix(bareType(s.Type()), "model.") {
		return
	}
	if err := s.FieldByName("Err"); err.IsValid() && !err.IsNil() {
		return // it was refused
	}
	if c, ok := v.Interface().(model.Change); ok {
		_, _ = c.Decide(nil)
	}
	for _, name := range []string{"Decide", "Plan"} {
		if f := s.FieldByName(name); f.IsValid() && f.Kind() == reflect.Func && !f.IsNil() && f.Type().NumIn() == 1 {
			f.Call([]reflect.Value{reflect.Zero(f.Type().In(0))})
		}
	}
	run := v.MethodByName("Run")
	if !run.IsValid() || run.Type().NumIn() != 2 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	none := reflect.Zero(reflect.TypeFor[context.Context]())
	for _, args := range [][]reflect.Value{
		{none, reflect.ValueOf(w.db)}, {reflect.ValueOf(ctx), reflect.Zero(reflect.TypeOf(w.db))},
		{reflect.ValueOf(ctx), reflect.ValueOf(w.db)},
	} {
		run.Call(args)
	}
}

// next is a value that collect has kept.
func (w *walker) next() (v reflect.Value, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.made) == 0 {
		return v, false
	}
	v, w.made = w.made[0], w.made[1:]
	return v, true
}

// told reports whether a fault of a function was told, and notes one.
func (w *walker) told(name string, fault bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.found[name]
	w.found[name] = was || fault
	return was
}
