package slots

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of unfinished transfers, of keys whose slots don't fit
// together, and of slots with wrong contents.
func (s *untypedSlots) listChecks() []model.Check {
	name := s.docs.Name()
	open, whole, single := name+": unfinished transfers", name+": slots of a key that don't fit together",
		name+": slots with wrong contents"
	all := &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: name, Pipeline: s.readSlots(nil)}}
	return commands.MarkChecksKeyed([]model.Check{{
		Name: open, Collection: name, Rule: "no transfer is left between two slots",
		Pipeline: found.FindMatching(bson.D{{Key: "out", Value: mql.Exists(true)}}, mql.E("key", 1),
			mql.E("n", 1), mql.E("out", 1)),
		Tell: found.DescribeRows(unfinished.describeFinding), Mend: found.MendRows(open, name, s.planFinish),
	}, {
		Name: whole, Collection: name, Rule: s.describeRule(),
		Read: s.findBrokenKeys, Queries: []*model.Aggregate[bson.Raw]{all},
		Mend: found.MendRows(whole, name, s.planCompletion),
	}, {
		Name: single, Collection: name, Rule: "a slot holds only its own tokens, and its stock isn't negative",
		Pipeline: s.findWrongSlots(), Tell: found.DescribeRows(wrongSlot.describeFinding),
	}}, name)
}

// describeRule is the rule of the second check.
func (s *untypedSlots) describeRule() string {
	rule := "each token belongs to one slot of its key"
	if s.spec.Stock {
		rule += ", and the stock in slots and transfers equals the sum of the slots"
	}
	return rule
}

// An unfinished is a slot with a transfer.
type unfinished struct {
	ID  string        `bson:"_id"`
	Key bson.RawValue `bson:"key"`
	N   int32         `bson:"n"`
	Out transfer      `bson:"out"`
}

func (u unfinished) describeFinding(f *model.Finding) {
	f.ID, f.Problem = f.Detail.Lookup("_id"), fmt.Sprintf("holds transfer %d to slot %d", u.Out.Seq, u.Out.To)
}

// parseID returns the key of a slot's _id. A key's text has no "#".
func parseID(id string, stored any) (key, bool) {
	i := strings.LastIndexByte(id, '#')
	if i <= 0 {
		return key{}, false
	}
	return key{id[:i], stored}, true
}

// planFinish finishes the transfers that were found.
func (s *untypedSlots) planFinish(rows []unfinished) (p model.Plan) {
	for i, u := range rows {
		k, ok := parseID(u.ID, u.Key)
		if !ok || u.Out.Seq == 0 {
			return model.NewPlan(found.RefuseFinding(s.docs.Name(), i, "transfer"))
		}
		p.Steps = append(append(p.Steps, s.ensureSlot(k, u.Out.To, 0)), s.finishTransfer(k, u.N, u.Out)...)
	}
	p.Leaves = "some transfers finished; the next check finds the others"
	return p
}

// findWrongSlots is the pipeline of slots that are wrong without regard to other slots.
func (s *untypedSlots) findWrongSlots() mongo.Pipeline {
	list := mql.Cond(mql.Op("$gt", "$of", 0), mql.List("ops"), bson.A{})
	divisor := mql.Op("$max", 1, "$of") // of a closed slot nothing is asked
	stray := mql.Op("$size", mql.Op("$filter", bson.D{
		{Key: "input", Value: list}, {Key: "as", Value: "t"},
		{Key: "cond", Value: mql.Op("$ne", mql.Op("$mod", "$$t.h", divisor), "$n")},
	}))
	return mongo.Pipeline{
		mql.Project(mql.E("free", 1), mql.E("stray", stray)),
		mql.Match(mql.E("$or", bson.A{
			bson.D{{Key: "free", Value: mql.Op("$lt", 0)}}, bson.D{{Key: "stray", Value: mql.Op("$gt", 0)}},
		})),
	}
}

// A wrongSlot is a slot with another slot's tokens or with negative stock.
type wrongSlot struct {
	Free  int64 `bson:"free"`
	Stray int64 `bson:"stray"` // tokens of other slots
}

func (w wrongSlot) describeFinding(f *model.Finding) {
	f.ID, f.Problem = f.Detail.Lookup("_id"), fmt.Sprintf("holds %d tokens of other slots", w.Stray)
	if w.Free < 0 {
		f.Problem = fmt.Sprintf("has %d in stock", w.Free)
	}
}

// readSlots is the pipeline of the slots that a filter matches, ordered by key.
func (s *untypedSlots) readSlots(filter bson.D) mongo.Pipeline {
	var p mongo.Pipeline
	if len(filter) > 0 {
		p = append(p, mql.Match(filter...))
	}
	return append(p, mql.SortID(), mql.Project(append(projectSlot(bson.ObjectID{}), mql.E("key", 1))...))
}

// A keyed is a slot with its key.
type keyed struct {
	Slot storedSlot    `bson:",inline"`
	Key  bson.RawValue `bson:"key"`
}

// findBrokenKeys returns a finding for each key whose slots don't fit together, with the
// _id of its first slot. It reads such a key again until two reads are equal, because
// other clients write meanwhile.
func (s *untypedSlots) findBrokenKeys(
	ctx context.Context, db model.DB, filter bson.D,
) iter.Seq2[model.Finding, error] {
	return func(yield func(model.Finding, error) bool) {
		var k key
		var st keyState
		ended := func() bool { // whether to end
			if len(st.Slots) == 0 || s.findProblem(st).isEmpty() {
				return false
			}
			f, err := s.confirmProblem(ctx, db, k, st)
			return (f.Problem != "" || err != nil) && !yield(f, err) || err != nil
		}
		rows := &model.Aggregate[keyed]{
			Aggregation: model.Aggregation{
				Collection: s.docs.Name(), Pipeline: s.readSlots(filter), Keyed: []string{s.docs.Name()},
			},
		}
		for row, err := range rows.Each(ctx, db) {
			if err != nil {
				yield(model.Finding{}, err)
				return
			}
			of, _ := parseID(row.Slot.ID, row.Key)
			if of.text != k.text {
				if ended() {
					return
				}
				k, st = of, keyState{}
				k.stored = bson.RawValue{Type: row.Key.Type, Value: append([]byte(nil), row.Key.Value...)}
			}
			st.Slots = append(st.Slots, row.Slot)
		}
		ended()
	}
}

// confirmProblem reads a key again and returns its finding. The finding is zero if the
// key is right, or if its first slot belongs to another batch.
func (s *untypedSlots) confirmProblem(
	ctx context.Context, db model.DB, k key, seen keyState,
) (f model.Finding, _ error) {
	st, err := s.readKey(ctx, db, k.text, bson.ObjectID{})
	for range mostCollects {
		before := st
		if err != nil {
			return f, err
		}
		if st, err = s.readKey(ctx, db, k.text, bson.ObjectID{}); reflect.DeepEqual(before, st) {
			break
		}
	}
	p := s.findProblem(st)
	if err != nil || p.isEmpty() || len(st.Slots) == 0 || st.Slots[0].ID != seen.Slots[0].ID {
		return f, err
	}
	p.ID, p.Key = st.Slots[0].ID, k.stored.(bson.RawValue)
	f = model.Finding{Check: s.listChecks()[1].Name, Collection: s.docs.Name(), Problem: p.describeProblem()}
	if f.Detail, err = bson.Marshal(p); err == nil {
		f.ID = f.Detail.Lookup("_id")
	}
	return f, err
}

// A problem is what is wrong with the slots of a key.
type problem struct {
	ID      string        `bson:"_id"`
	Key     bson.RawValue `bson:"key"`
	Missing []int32       `bson:"missing"` // slots that are not stored
	// hashes that belong to a closed slot and to no other
	Closed int32 `bson:"closed"`
	// hashes that belong to several slots
	Shared int32 `bson:"shared"`
	Of     int32 `bson:"of"` // what they are divided by
	Sum    int64 `bson:"sum"`
	// with transfers; 0 without Stock
	Free int64 `bson:"free"`
}

func (p problem) isEmpty() bool {
	return len(p.Missing) == 0 && p.Closed == 0 && p.Shared == 0 && p.Sum == p.Free
}

func (p problem) describeProblem() string {
	var list []string
	if len(p.Missing) > 0 {
		list = append(list, fmt.Sprintf("%d slots of %d are missing", len(p.Missing), p.Of))
	}
	if p.Closed > 0 {
		list = append(list,
			fmt.Sprintf("%d slots of %d are closed, and no other slot counts their operations", p.Closed, p.Of))
	}
	if p.Shared > 0 {
		list = append(list,
			fmt.Sprintf("the operations of %d slots of %d are counted by more than one slot", p.Shared, p.Of))
	}
	if p.Sum != p.Free {
		list = append(list, fmt.Sprintf("the slots add up to %d, but their stock is %d", p.Sum, p.Free))
	}
	return strings.Join(list, "; ")
}

// findProblem compares the slots of a key with each other, after all transfers.
func (s *untypedSlots) findProblem(st keyState) (p problem) {
	now := st.applyTransfers()
	of := now.maxDivisor()
	for n := range of {
		holders := int32(0)
		for _, slot := range now.Slots {
			if slot.Of > 0 && n%slot.Of == slot.N {
				holders++
			}
		}
		switch {
		case holders > 1:
			p.Shared++
		case holders == 0 && now.findSlot(n) == nil:
			p.Missing = append(p.Missing, n)
		case holders == 0:
			p.Closed++
		}
	}
	sum, free := now.sumSlots(), int64(0)
	for _, slot := range now.Slots {
		free += slot.Free
	}
	if s.spec.Stock && sum != free {
		p.Sum, p.Free = sum, free
	}
	if !p.isEmpty() {
		p.Of = of
	}
	return p
}

// planCompletion stores missing slots. Other problems can't be repaired: the slots don't
// say which of them is right.
func (s *untypedSlots) planCompletion(rows []problem) (p model.Plan) {
	for i, row := range rows {
		k, ok := parseID(row.ID, row.Key)
		if !ok || row.Of == 0 {
			return model.NewPlan(found.RefuseFinding(s.docs.Name(), i, "number of slots"))
		}
		if len(row.Missing) == 0 || row.Closed > 0 || row.Shared > 0 {
			continue
		}
		p.Steps = append(p.Steps, s.completeSlots(k, row.Missing, row.Of)...)
	}
	return commands.PlanLeaving("some slots stored; the next check finds the others", p.Steps...)
}
