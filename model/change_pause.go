package model

import (
	"context"
	"math/rand/v2"
	"time"
)

// jitter waits after the n-th attempt, for a random time of up to twice the mean. So
// writers that collided once don't collide again.
func jitter(ctx context.Context, n int, mean, most time.Duration) error {
	if mean <= 0 {
		mean = 5 * time.Millisecond
	}
	if most <= 0 {
		most = 500 * time.Millisecond
	}
	for ; n > 1 && mean < most; n-- {
		mean *= 2
	}
	mean = max(min(mean, most/2), 1)
	timer := time.NewTimer(rand.N(2*mean) + 1)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
