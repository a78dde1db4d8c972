package window

// This file has $covariancePop and $covarianceSamp, and the sums that they move along with a window.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// covariance is $covariancePop or $covarianceSamp of pairs of numbers. A document without a pair doesn't count.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/covariancePop/
type covariance struct {
	pair   expr.Expr
	sample bool
	*bounds
}

// parseCovariance parses either function. The argument is an expression that gives pairs, [x, y].
func parseCovariance(name string, spec bson.D, s Stage) (Function, error) {
	arg, b, err := readParts(spec, s)
	if err != nil {
		return nil, err
	}
	e, err := expr.Parse(arg, s.Scope)
	return covariance{pair: e, sample: name == "$covarianceSamp", bounds: b}, err
}

// StartPartition slides over pairs.
func (x covariance) StartPartition(p *Partition) Values {
	return x.bounds.slide(p, &inputs{p: p, eval: x.pair.Eval}, &deviations{sample: x.sample})
}

// deviations sums, for each pair, the product of the distances of both numbers from their means. The means are those
// of the pairs so far: this is Welford's algorithm, which needs one pass and doesn't subtract large sums.
type deviations struct {
	sample  bool
	n       int64 // finite pairs
	x, y    expr.Running
	product expr.Running
	endless expr.Running // of pairs that aren't finite
}

// readPair returns the two numbers of a pair, false for any other value.
func readPair(v any) (x, y any, ok bool) {
	a, isArray := v.(bson.A)
	if !isArray || len(a) != 2 || !bsonval.IsNumber(a[0]) || !bsonval.IsNumber(a[1]) {
		return nil, nil, false
	}
	return a[0], a[1], true
}

// add multiplies the distance of x from the mean before the pair by the distance of y from the mean with the pair.
func (c *deviations) add(v any) error {
	x, y, ok := readPair(v)
	if !ok {
		return nil
	}
	// In the means, it would make the products of later pairs infinite or NaN.
	if v, infinite := findInfinity(x, y); infinite {
		c.endless.Add(v)
		return nil
	}
	c.n++
	k := calculation{}
	dx := k.apply("$subtract", x, c.x.Average()) // null of the first pair
	c.x.Add(x)
	c.y.Add(y)
	c.product.Add(k.apply("$multiply", dx, k.apply("$subtract", y, c.y.Average())))
	return k.err
}

// remove takes the steps of add back, in the opposite order.
func (c *deviations) remove(v any) error {
	x, y, ok := readPair(v)
	if !ok {
		return nil
	}
	if v, infinite := findInfinity(x, y); infinite {
		c.endless.Remove(v)
		return nil
	}
	// The sums of no pairs are set to 0, so that their rounding errors don't stay.
	if c.n--; c.n == 0 {
		*c = deviations{sample: c.sample, endless: c.endless}
		return nil
	}
	k := calculation{}
	c.x.Remove(x)
	dx, dy := k.apply("$subtract", x, c.x.Average()), k.apply("$subtract", y, c.y.Average())
	c.product.Remove(k.apply("$multiply", dx, dy))
	c.y.Remove(y)
	return k.err
}

// result divides by the number of finite pairs, or by one less for a sample. It returns null if that isn't above 0. A
// pair of the window that isn't finite decides the sum.
func (c *deviations) result() (any, error) {
	divisor := float64(c.n)
	if c.sample {
		divisor--
	}
	sum, infinite := c.endless.Infinite()
	if !infinite {
		sum = c.product.Sum()
	}
	_, isDecimal := sum.(bson.Decimal128)
	switch {
	case c.n == 1 && !c.sample:
		return 0.0, nil
	case divisor <= 0:
		return nil, nil
	case isDecimal:
		return bsonval.Div(sum, divisor), nil
	}
	f, _ := bsonval.Float(sum)
	return f / divisor, nil
}

// findInfinity returns the sum of a pair if it isn't finite, which is NaN or an infinity, else false.
func findInfinity(x, y any) (v any, ok bool) {
	var sum expr.Running
	sum.Add(x)
	sum.Add(y)
	return sum.Infinite()
}
