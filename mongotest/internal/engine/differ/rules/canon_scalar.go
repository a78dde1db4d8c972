package rules

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func simplifyZeros(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	if f, ok := v.(float64); ok && f == 0 {
		return 0.0
	}
	return v
}

// plainDecimals writes decimals without their trailing zeros.
func simplifyDecimals(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	decimal, ok := v.(bson.Decimal128)
	if !ok {
		return v
	}
	n, exp, err := decimal.BigInt()
	if err != nil {
		return v
	}
	return stripZeros(n, exp)
}

// stripZeros is the decimal n × 10^exp without trailing zeros.
func stripZeros(n *big.Int, exp int) bson.Decimal128 {
	ten, rest := big.NewInt(10), new(big.Int)
	for n.Sign() != 0 {
		quotient, _ := new(big.Int).QuoRem(n, ten, rest)
		if rest.Sign() != 0 {
			break
		}
		n, exp = quotient, exp+1
	}
	if n.Sign() == 0 {
		exp = 0
	}
	out, ok := bson.ParseDecimal128FromBigInt(n, exp)
	if !ok {
		panic("a decimal with fewer digits doesn't fit")
	}
	return out
}

func convertToDoubles(v any) any {
	switch n := v.(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	}
	return v
}

// asFloats makes a double of any number.
func convertToFloats(v any) any {
	if n, ok := v.(bson.Decimal128); ok {
		if f, err := strconv.ParseFloat(n.String(), 64); err == nil {
			return f
		}
	}
	return convertToDoubles(v)
}

// widened makes a long of an int.
func widenInts(v any) any {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

// fewerDigits rounds a double, and a decimal, to what all but the last few digits say.
func roundDigits(v any) any {
	switch x := v.(type) {
	case float64:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 13, 64), 64)
		return f
	case bson.Decimal128:
		if f, err := strconv.ParseFloat(x.String(), 64); err == nil && !math.IsInf(f, 0) && f != 0 {
			return strconv.FormatFloat(f, 'g', 13, 64)
		}
	}
	return v
}

// sixDigits rounds texts that are fractions.
func roundTexts(v any) any {
	if s, ok := v.(string); ok && strings.Contains(s, ".") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(f, 'g', 6, 64)
		}
	}
	return v
}

func dropZ(v any) any {
	if s, ok := v.(string); ok {
		return strings.TrimRight(s, "Zz") // $toLower may follow
	}
	return v
}

// dropNumerals makes null of texts that are written numbers, or parts of some.
func dropNumerals(v any) any {
	if s, ok := v.(string); ok {
		if strings.Trim(s, "0123456789.eE+-") == "" {
			return nil
		}
	}
	return v
}

func dropNumbers(v any) any {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return nil
	}
	return v
}
