package slots_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	slotDoc      = slots.Doc[string]
	numbersSlots = slots.Slots[string]
	operation    = func(context.Context, *mongo.Database) error
)

var (
	stored = model.NewCollection[slotDoc, string]("numbers")
	likes  = slots.New(stored, slots.Spec{Slots: 4, Keep: 3})
	places = slots.New(stored, slots.Spec{Slots: 4, Stock: true})
	lone   = slots.New(stored, slots.Spec{Slots: 1, Stock: true})
	pair   = slots.New(stored, slots.Spec{Slots: 2, Stock: true})
)

// token is the n-th token.
func token(n int) (op bson.ObjectID) {
	binary.BigEndian.PutUint32(op[8:], uint32(n)+1)
	return op
}

// tokenOf is the n-th token, from 0, whose slot is a number of so many.
func tokenOf(slot, of int32, n int) bson.ObjectID {
	for i := 0; ; i++ {
		if op := token(i); slots.HashToken(op)%of == slot {
			if n--; n < 0 {
				return op
			}
		}
	}
}

func run(c model.Change) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := c.Run(ctx, db)
		return err
	}
}

func inTurn(list ...model.Change) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range list {
			if err := run(c)(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

func must(t testing.TB, db *mongo.Database, list ...model.Change) {
	t.Helper()
	if err := inTurn(list...)(context.Background(), db); err != nil {
		t.Fatal(err)
	}
}

// wantSum wants the sum of a key, and that its slots go together.
func wantSum(t testing.TB, db *mongo.Database, s *numbersSlots, key string, want int64) {
	t.Helper()
	got, err := s.Totals(key).One(context.Background(), db)
	if errors.Is(err, model.ErrNotFound) {
		err = nil
	}
	if err != nil || got.Sum != want {
		t.Errorf("%s: sum %d, %v; want %d", key, got.Sum, err, want)
	}
	wantWhole(t, db, s)
}

// wantWhole wants no finding but transfers.
func wantWhole(t testing.TB, db *mongo.Database, s *numbersSlots) {
	t.Helper()
	for _, c := range s.Checks()[1:] {
		found, err := c.All(context.Background(), db)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", c.Name, found, err)
		}
	}
}

// wantFree is [wantSum] of a stock in which all is free: no transfer is left.
func wantFree(t testing.TB, db *mongo.Database, s *numbersSlots, key string, want int64) {
	t.Helper()
	wantSum(t, db, s, key, want)
	got, err := s.Totals(key).One(context.Background(), db)
	if err != nil || got.Free != want {
		t.Errorf("%s: free %d, %v; want %d", key, got.Free, err, want)
	}
}

func TestSlotsAdd(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		must(t, db, likes.Add("p", 3, token(1)), likes.Add("p", -5, token(2)), likes.Add("p#", 7, token(1)),
			likes.Add("p", 10, token(3)))
		wantSum(t, db, likes, "p", 8)
		wantSum(t, db, likes, "p#", 7)
		must(t, db, likes.Add("p", 3, token(1)), likes.Add("p", -5, token(2)))
		wantSum(t, db, likes, "p", 8)
		_, err := likes.Add("p", 4, token(1)).Run(t.Context(), db)
		testkit.WantError(t, err, denorm.ErrToken)
		_, err = likes.Totals("x").One(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		all, err := likes.Totals().All(t.Context(), db)
		if err != nil || len(all) != 2 ||
			all[0] != (slots.Total[string]{Key: "p", Sum: 8, Slots: 4}) || all[1].Sum != 7 {
			t.Errorf("totals %+v, %v", all, err)
		}
		some, err := likes.Totals("p#", "nobody", "p").All(t.Context(), db)
		if err != nil || !slices.Equal(some, all) {
			t.Errorf("totals of two keys and of an unknown one %+v, %v", some, err)
		}
		op := tokenOf(1, 4, 9)
		must(t, db, likes.Add("max", math.MaxInt64, tokenOf(1, 4, 8)))
		if _, err := likes.Add("max", 1, op).Run(t.Context(), db); err == nil {
			t.Error("a sum beyond 64 bits")
		}
	})
}

func TestSlotsTake(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		_, err := places.Take("s", 1, token(1)).Run(t.Context(), db)
		testkit.WantError(t, err, model.ErrFull)
		must(t, db, places.Add("s", 10, tokenOf(2, 4, 0)), places.Take("s", 3, tokenOf(2, 4, 1)))
		wantFree(t, db, places, "s", 7)
		must(t, db, places.Take("s", 2, tokenOf(0, 4, 0)))
		wantFree(t, db, places, "s", 5)
		must(t, db, places.Take("s", 2, tokenOf(0, 4, 0)), places.Take("s", 3, tokenOf(2, 4, 1)))
		wantFree(t, db, places, "s", 5)
		var short *slots.ShortError
		_, err = places.Take("s", 6, tokenOf(1, 4, 0)).Run(t.Context(), db)
		if testkit.WantError(t, err, model.ErrFull); !errors.As(err, &short) || short.Left != 5 || short.Asked != 6 {
			t.Errorf("error %v", err)
		}
		must(t, db, places.Take("s", 5, tokenOf(1, 4, 0)))
		wantFree(t, db, places, "s", 0)
		_, err = places.Take("s", 2, tokenOf(1, 4, 0)).Run(t.Context(), db)
		testkit.WantError(t, err, denorm.ErrToken)
		_, err = places.Add("s", 5, tokenOf(1, 4, 0)).Run(t.Context(), db)
		testkit.WantError(t, err, denorm.ErrToken)
	})
}

// Each number of slots becomes each other, and every operation is still known.
func TestSlotsResize(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.WantError(t, run(places.Resize("none", 4))(t.Context(), db), model.ErrNotFound)
		var want int64
		for i := range 30 {
			must(t, db, places.Add("s", int64(i+1), token(i)))
			want += int64(i + 1)
		}
		n := 30
		for _, of := range []int{8, 8, 2, 1, 16, 4} {
			must(t, db, places.Resize("s", of))
			got, err := places.Totals("s").One(t.Context(), db)
			if err != nil || got.Slots != int64(of) {
				t.Fatalf("%d slots, %v; want %d", got.Slots, err, of)
			}
			wantFree(t, db, places, "s", want)
			for i := range 30 {
				must(t, db, places.Add("s", int64(i+1), token(i)))
			}
			must(t, db, places.Take("s", 7, token(n)))
			n++
			want -= 7
			wantFree(t, db, places, "s", want)
		}
		must(t, db, places.Take("s", want, token(n)))
		wantFree(t, db, places, "s", 0)
	})
}

func TestSlotsRefuses(t *testing.T) {
	testkit.Parallel(t)
	for reason, err := range map[string]error{
		"an empty key":              likes.Add("", 1, token(1)).Err,
		"no token":                  likes.Add("p", 1, bson.NilObjectID).Err,
		"nothing to add":            likes.Add("p", 0, token(1)).Err,
		"a negative stock":          places.Add("p", -1, token(1)).Err,
		"nothing to take":           places.Take("p", 0, token(1)).Err,
		"less than nothing to take": places.Take("p", -1, token(1)).Err,
		"take from a counter":       likes.Take("p", 1, token(1)).Err,
		"take from an empty key":    places.Take("", 1, token(1)).Err,
		"take without a token":      places.Take("p", 1, bson.NilObjectID).Err,
		"total of an empty key":     places.Totals("").Err,
		"resize of an empty key":    places.Resize("", 4).Err,
		"resize to none":            places.Resize("p", 0).Err,
		"resize to three":           places.Resize("p", 3).Err,
		"resize to too many":        places.Resize("p", 2048).Err,
		"a negative resize":         places.Resize("p", -2).Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

// Tokens of any kind are spread evenly over the slots.
func TestSlotsHash(t *testing.T) {
	testkit.Parallel(t)
	for reason, op := range map[string]func(i int) bson.ObjectID{
		"one after the other": token,
		"new ones":            func(int) bson.ObjectID { return bson.NewObjectID() },
		"by their first bytes": func(i int) (op bson.ObjectID) {
			binary.BigEndian.PutUint32(op[:], uint32(i)+1)
			return op
		},
	} {
		var in [16]int
		for i := range 16 * 100 {
			in[slots.HashToken(op(i))%16]++
		}
		for slot, n := range in {
			if n < 55 || n > 150 {
				t.Errorf("%s: slot %d has %d of 100", reason, slot, n)
			}
		}
	}
}
