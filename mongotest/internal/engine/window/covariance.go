package window

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// covariance is $covariancePop or $covarianceSamp of pairs of numbers.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/covariancePop/
type covariance struct {
	pair   expr.Expr
	sample bool
	*bounds
}

func parseCovariance(name string, spec bson.D, s Stage) (Function, error) {
	arg, b, err := readParts(spec, s)
	if err != nil {
		return nil, err
	}
	e, err := expr.Parse(arg, s.Scope)
	return covariance{e, name == "$covarianceSamp", b}, err
}

func (x covariance) Over(p *Partition) Values {
	return x.bounds.slide(p, &inputs{p: p, eval: x.pair.Eval}, &deviations{sample: x.sample})
}

// deviations sums the products of how far both numbers of a pair are from their means, which are those so far.
type deviations struct {
	sample  bool
	n       int64
	x, y    expr.Running
	product expr.Running
	endless expr.Running // what isn't finite
}

// readPair returns two numbers. Whatever else a document gives doesn't count.
func readPair(v any) (x, y any, ok bool) {
	a, isArray := v.(bson.A)
	if !isArray || len(a) != 2 || !bsonval.IsNumber(a[0]) || !bsonval.IsNumber(a[1]) {
		return nil, nil, false
	}
	return a[0], a[1], true
}

func (c *deviations) add(v any) error {
	x, y, ok := readPair(v)
	if !ok {
		return nil
	}
	if v, infinite := findInfinity(x, y); infinite {
		c.endless.Add(v)
		return nil
	}
	c.n++
	k := calculation{}
	dx := k.do("$subtract", x, c.x.Average()) // null of the first pair
	c.x.Add(x)
	c.y.Add(y)
	c.product.Add(k.do("$multiply", dx, k.do("$subtract", y, c.y.Average())))
	return k.err
}

func (c *deviations) remove(v any) error {
	x, y, ok := readPair(v)
	if !ok {
		return nil
	}
	if v, infinite := findInfinity(x, y); infinite {
		c.endless.Remove(v)
		return nil
	}
	if c.n--; c.n == 0 {
		*c = deviations{sample: c.sample, endless: c.endless}
		return nil
	}
	k := calculation{}
	c.x.Remove(x)
	dx, dy := k.do("$subtract", x, c.x.Average()), k.do("$subtract", y, c.y.Average())
	c.product.Remove(k.do("$multiply", dx, dy))
	c.y.Remove(y)
	return k.err
}

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

// findInfinity returns what a pair adds that isn't finite: NaN, or the infinity of its sign.
func findInfinity(x, y any) (v any, ok bool) {
	var sum expr.Running
	sum.Add(x)
	sum.Add(y)
	return sum.Infinite()
}
