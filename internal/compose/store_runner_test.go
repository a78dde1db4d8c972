package compose

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A machine draws random models of some techniques, and random actions through the stores of a model. A memory knows
// which documents must be stored then. M is the type of the memory.
//
// Outside transactions, a technique may refuse any action with model.ErrTransactional. Then nothing is written.
type machine[M memory[M]] struct {
	name    string
	base    []model.Technique // the collections
	picks   []pick
	isValid func(has picked) bool // reports whether these techniques can be together
	begin   func(w *world) M      // returns an empty memory with the stores of the world's model
	draws   []func(r *rand.Rand) action[M]
	marks   bool // the scope marks deleted documents, and the memory knows them

	// meetsPlain reports whether two actions of a model also meet without transactions, so
	// that nothing is lost. Some techniques promise this only without a deletion.
	meetsPlain func(has picked, deletes bool) bool
}

// A pick is a technique that a model can have.
type pick struct {
	code      string
	technique model.Technique
}

// picked tells which picks of a machine a model has.
type picked [16]bool

// A memory knows a world's documents.
type memory[M any] interface {
	self() *world
	clone() M
	differs(ctx context.Context, on model.DB) string // describes how the stored documents differ from the memory
}

// An action is one write through a store, and through a memory.
type action[M any] struct {
	name     string
	token    bson.ObjectID
	apply    func(m M, token bson.ObjectID) error
	run      func(ctx context.Context, on model.DB, m M) error
	repeated bool // a client sends it twice
	isLong   bool // other actions can come between its commands
}

// A world is a model, and the way in which it is used.
type world struct {
	picks     []pick
	chosen    []int // the indexes of the model's picks, in the order of declaration
	has       picked
	model     *model.Model
	tx, scope bool
	marks     bool // the scope marks deleted documents
}

func (w *world) self() *world { return w }

func (w *world) String() string {
	var parts []string
	for _, i := range w.chosen {
		parts = append(parts, w.picks[i].code)
	}
	return fmt.Sprintf("transactions %v, scope %v,\n\t%s", w.tx, w.scope, strings.Join(parts, "\n\t"))
}

// handle returns the database as the model is used on it.
func (w *world) handle(ctx context.Context, db model.DB) (model.DB, error) {
	on := w.model.On(db)
	if w.scope {
		scope := model.Scope{Tenant: bson.D{{Key: "tenant", Value: "ours"}}}
		if w.marks {
			scope.Delete = bson.D{{Key: "deletedAt", Value: int64(7)}}
		}
		on = scope.On(on)
	}
	if !w.tx {
		return on, nil
	}
	return model.WithTransactions(ctx, on)
}

// prepare returns the handle of a new database with the model's indexes.
func (w *world) prepare(ctx context.Context, db model.DB) (model.DB, error) {
	on, err := w.handle(ctx, db)
	if err == nil {
		err = w.model.Indexes().Ensure(ctx, on)
	}
	return on, err
}

// refuses reports whether an action was refused because it isn't in a transaction.
func (w *world) refuses(err error) bool { return !w.tx && errors.Is(err, model.ErrTransactional) }

// declare returns an empty memory of a model with these picks.
func (k machine[M]) declare(tx, scope bool, chosen ...int) M {
	w := &world{picks: k.picks, chosen: chosen, tx: tx, scope: scope, marks: scope && k.marks}
	techniques := slices.Clone(k.base)
	for _, i := range chosen {
		w.has[i] = true
		techniques = append(techniques, k.picks[i].technique)
	}
	w.model = model.New(k.name, techniques...)
	return k.begin(w)
}

// draw returns an empty memory of a random model with one to six picks.
func (k machine[M]) draw(r *rand.Rand) M {
	for {
		chosen := r.Perm(len(k.picks))[:1+r.IntN(min(6, len(k.picks)))]
		if k.allows(chosen) {
			return k.declare(r.IntN(3) > 0, r.IntN(3) == 0, chosen...)
		}
	}
}

func (k machine[M]) allows(chosen []int) bool {
	var has picked
	for _, i := range chosen {
		has[i] = true
	}
	return len(chosen) > 0 && (k.isValid == nil || k.isValid(has))
}

func (k machine[M]) drawAction(r *rand.Rand) action[M] {
	a := k.draws[r.IntN(len(k.draws))](r)
	for i := range a.token {
		a.token[i] = byte(r.IntN(256))
	}
	a.token[0] &= 0x7f // its time is before 2038
	return a
}

// drawActions returns n random actions. A part of them is repeated.
func (k machine[M]) drawActions(r *rand.Rand, n int) (out []action[M]) {
	for range n {
		a := k.drawAction(r)
		if a.repeated = r.IntN(4) == 0; a.repeated {
			a.name += ", twice"
		}
		out = append(out, a)
	}
	return out
}

// errUndrawn says that an action doesn't fit a memory, and isn't run.
var errUndrawn = errors.New("isn't drawn")

// errPartly says that an action is refused after a part of its writes.
var errPartly = errors.New("wrote a part")

// do runs an action, and returns the memory after it.
func (k machine[M]) do(ctx context.Context, on model.DB, m M, a action[M]) (_ M, problem string) {
	next := m.clone()
	want := a.apply(next, a.token)
	if errors.Is(want, errUndrawn) {
		return m, ""
	}
	got := a.run(model.WithToken(ctx, a.token), on, m)
	if a.repeated {
		if again := a.run(model.WithToken(ctx, a.token), on, m); !isTyped(again) {
			return m, fmt.Sprintf("the second run returned %v", again)
		}
	}
	if m.self().refuses(got) {
		return m, ""
	}
	if want == nil || errors.Is(want, errPartly) {
		m = next
	}
	return m, sameError(got, want)
}

// play tells a story on an empty database, and returns the first problem. It compares the database with the memory at
// the end, and after each action for which looks returns true.
func (k machine[M]) play(ctx context.Context, db *mongo.Database, s story[M], looks func() bool) string {
	defer func() { _ = db.Drop(context.Background()) }()
	on, err := s.begin.self().prepare(ctx, db)
	if err != nil {
		return err.Error()
	}
	m := s.begin
	for i, a := range s.actions {
		var problem string
		if m, problem = k.do(ctx, on, m, a); problem == "" && (i == len(s.actions)-1 || looks()) {
			problem = compareWith(ctx, on, m)
		}
		if problem != "" {
			return fmt.Sprintf("%s: %s", a.name, problem)
		}
	}
	return ""
}

// compareWith returns how the database differs from the memory, or what the audit finds. Events may wait for their
// roll-up.
func compareWith[M memory[M]](ctx context.Context, on model.DB, m M) string {
	if problem := m.differs(ctx, on); problem != "" {
		return problem
	}
	for f, err := range m.self().model.Audit().Each(ctx, on) {
		if err != nil || !strings.HasSuffix(f.Check, "events that aren't rolled up") {
			return fmt.Sprintf("the audit finds %s (%v)", f, err)
		}
	}
	return ""
}

// A story is a model, and actions on its documents.
type story[M memory[M]] struct {
	begin   M
	actions []action[M]
}

func (s story[M]) String() string {
	out := s.begin.self().String()
	for _, a := range s.actions {
		out += "\n\t" + a.name
	}
	return out
}

// smaller yields the stories with an action or a technique less, without repeats, or without a scope.
func (k machine[M]) smaller(s story[M]) iter.Seq[story[M]] {
	w := s.begin.self()
	return func(yield func(story[M]) bool) {
		for i := range s.actions {
			if !yield(story[M]{s.begin, slices.Delete(slices.Clone(s.actions), i, i+1)}) {
				return
			}
		}
		for i := range w.chosen {
			chosen := slices.Delete(slices.Clone(w.chosen), i, i+1)
			if k.allows(chosen) && !yield(story[M]{k.declare(w.tx, w.scope, chosen...), s.actions}) {
				return
			}
		}
		if w.scope && !yield(story[M]{k.declare(w.tx, false, w.chosen...), s.actions}) {
			return
		}
		for i, a := range s.actions {
			if a.repeated {
				actions := slices.Clone(s.actions)
				actions[i].repeated, actions[i].name = false, strings.TrimSuffix(a.name, ", twice")
				if !yield(story[M]{s.begin, actions}) {
					return
				}
			}
		}
	}
}

// findFailure plays random stories, and describes the first that fails, as small as it can be made.
func (k machine[M]) findFailure(ctx context.Context, client *mongo.Client, models int) string {
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		s := story[M]{k.draw(r), k.drawActions(r, 2+r.IntN(9))}
		db := client.Database(fmt.Sprintf("%s%d", k.name, seed))
		problem := k.play(ctx, db, s, func() bool { return r.IntN(8) == 0 })
		if problem == "" {
			continue
		}
		for found := true; found; {
			found = false
			for smaller := range k.smaller(s) {
				if p := k.play(ctx, db, smaller, func() bool { return true }); p != "" {
					s, problem, found = smaller, p, true
					break
				}
			}
		}
		return fmt.Sprintf("seed %d, %s\n%s", seed, s, problem)
	}
	return ""
}

// runModels tests the stories of some models, in a subtest.
func (k machine[M]) runModels(t *testing.T, models int) {
	t.Run(k.name, func(t *testing.T) {
		t.Parallel()
		if failure := k.findFailure(t.Context(), mongotest.NewClient(t), models); failure != "" {
			t.Error(failure)
		}
	})
}

// errRefused and errRestricted are the memory's errors for a *model.ValueError and a *ondelete.RestrictError.
var errRefused, errRestricted = errors.New("refused"), errors.New("restricted")

var errorKinds = []struct {
	want error
	is   func(got error) bool
}{
	{model.ErrTaken, func(got error) bool { return errors.Is(got, model.ErrTaken) || mongo.IsDuplicateKeyError(got) }},
	{model.ErrNotFound, func(got error) bool { return errors.Is(got, model.ErrNotFound) }},
	{model.ErrFull, func(got error) bool { return errors.Is(got, model.ErrFull) }},
	{model.ErrStale, func(got error) bool { return errors.Is(got, model.ErrStale) }},
	{errRefused, func(got error) bool { return errors.As(got, new(*model.ValueError)) }},
	{errGuarded, func(got error) bool { return errors.Is(got, errGuarded) }},
	{errRestricted, func(got error) bool { return errors.As(got, new(*ondelete.RestrictError)) }},
}

// sameError compares errors. want can join several errors, of which a store returns one. An insert of a document that
// is stored already may return nil, if nothing changes.
func sameError(got, want error) string {
	same := got == nil && (want == nil || errors.Is(want, model.ErrTaken))
	for _, kind := range errorKinds {
		same = same || errors.Is(want, kind.want) && kind.is(got)
	}
	if same {
		return ""
	}
	return fmt.Sprintf("the store returned %v, the memory %v", got, want)
}

// isOnly reports whether an error of the memory is of one kind, and of no other.
func isOnly(err, want error) bool {
	for _, kind := range errorKinds {
		if errors.Is(err, kind.want) != (kind.want == want) {
			return false
		}
	}
	return true
}

// isTyped reports whether a caller can tell an error from others.
func isTyped(err error) bool {
	ok := err == nil || errors.Is(err, model.ErrTransactional)
	for _, kind := range errorKinds {
		ok = ok || kind.is(err)
	}
	return ok
}
