package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// slotRun is how long writers add to one number in a round.
const slotRun = 2 * time.Second

var (
	slotWriters = []int{1, 16, 64}
	slotted     = model.NewCollection[slots.Doc[string], string]("slots")
)

// An adder adds one to a number, once for each token.
type adder struct {
	name string
	add  func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error
}

// adders are one document by hand, with the tokens that a slot keeps, and the technique.
func adders() []adder {
	out := []adder{{"one document, hand-written $inc with tokens", func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
		token := bson.D{{Key: "op", Value: op}, {Key: "n", Value: int64(1)}, {Key: "h", Value: int32(0)}}
		res, err := db.Collection("slots").UpdateOne(ctx, bson.D{{Key: "_id", Value: "one"}, {Key: "ops.op", Value: bson.D{{Key: "$ne", Value: op}}}}, bson.D{
			{Key: "$inc", Value: bson.D{{Key: "sum", Value: int64(1)}}},
			{Key: "$push", Value: bson.D{{Key: "ops", Value: bson.D{{Key: "$each", Value: bson.A{token}}, {Key: "$slice", Value: -100}}}}},
		})
		if err == nil && res.MatchedCount != 1 {
			err = errors.New("matched nothing")
		}
		return err
	}}}
	for _, n := range []int{1, 16} {
		s := slots.New(slotted, slots.Spec{Slots: n})
		key := fmt.Sprint("in", n)
		out = append(out, adder{fmt.Sprintf("docmodel Slots %d", n), func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			_, err := s.Add(key, 1, op).Run(ctx, db)
			return err
		}})
	}
	return out
}

// slotFigures are operations in a second.
type slotFigures struct {
	backend backend
	figures map[int][][]float64 // by writers, contenders, rounds
}

func (s slotFigures) heading() string { return "Adding to one number, on " + s.backend.name }

func (s slotFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\nOperations in a second of so many writers at once, for %s a round: median (least–most). Each has a token and is counted once; a\n"+
		"document keeps the latest 100 tokens. A ratio is to the first contender in the same round: the median. %s\n\n", s.heading(), slotRun, s.backend.note)
	b.WriteString("| writers | contender | operations/s | ratio |\n| ---: | --- | ---: | ---: |\n")
	for _, writers := range slotWriters {
		for i, a := range adders() {
			list := s.figures[writers][i]
			ratios := make([]float64, len(list))
			for round := range list {
				ratios[round] = list[round] / s.figures[writers][0][round]
			}
			fmt.Fprintf(&b, "| %d | %s | %.0f (%.0f–%.0f) | %.2f |\n", writers, a.name, middle(list), slices.Min(list), slices.Max(list), middle(ratios))
		}
	}
	return b.String()
}

func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// slotsTable has the contenders take turns.
func slotsTable(ctx context.Context, rounds int, b backend) (slotFigures, error) {
	out := slotFigures{b, map[int][][]float64{}}
	db, stop, err := b.open(nil)
	if err != nil {
		return out, err
	}
	defer stop()
	if _, err := db.Collection("slots").InsertOne(ctx, bson.D{{Key: "_id", Value: "one"}, {Key: "sum", Value: int64(0)}}); err != nil {
		return out, err
	}
	for _, writers := range slotWriters {
		out.figures[writers] = make([][]float64, len(adders()))
		for range rounds {
			for i, a := range adders() {
				if err := a.add(ctx, db, bson.NewObjectID()); err != nil { // its documents are there
					return out, err
				}
				n, err := adding(ctx, db, writers, a)
				if err != nil {
					return out, fmt.Errorf("%s, %d writers: %w", a.name, writers, err)
				}
				out.figures[writers][i] = append(out.figures[writers][i], n)
			}
		}
	}
	return out, nil
}

// adding is how many operations so many writers do in a second.
func adding(ctx context.Context, db *mongo.Database, writers int, a adder) (float64, error) {
	var done atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, writers)
	begun := time.Now()
	for w := range writers {
		all.Go(func() {
			for time.Since(begun) < slotRun && errs[w] == nil {
				if errs[w] = a.add(ctx, db, bson.NewObjectID()); errs[w] == nil {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds(), errors.Join(errs...)
}
