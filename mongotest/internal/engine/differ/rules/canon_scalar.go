// Canonical forms of numbers and texts, called as the forms in canon.go are. simplifyZeros and simplifyDecimals also
// remove nModified: of a write that leaves an equal number, the two sides may count one and none.

package rules

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// simplifyZeros makes -0 a 0, and removes the reply's count of changed documents.
func simplifyZeros(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	if f, ok := v.(float64); ok && f == 0 {
		return 0.0
	}
	return v
}

// simplifyDecimals removes the zeros at the end of decimals: 1.50 is 1.5.
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

// stripZeros returns the decimal n × 10^exp without zeros at its end. It serves simplifyDecimals. 150 × 10^-2 becomes
// 15 × 10^-1, and 0 × 10^-15 becomes 0.
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

// convertToDoubles makes a double of an int or a long. 1 and NumberLong(1) become 1.0. A decimal stays.
func convertToDoubles(v any) any {
	switch n := v.(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	}
	return v
}

// convertToFloats makes a double of any number. 1 and Decimal128("1.0") become 1.0.
func convertToFloats(v any) any {
	if n, ok := v.(bson.Decimal128); ok {
		if f, err := strconv.ParseFloat(n.String(), 64); err == nil {
			return f
		}
	}
	return convertToDoubles(v)
}

// widenInts makes a long of an int. It serves the depthField of $graphLookup: 0 becomes NumberLong(0).
func widenInts(v any) any {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

// roundDigits rounds a double or decimal to 13 digits. A decimal becomes a text, so that it stays another value than
// the double.
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

// roundTexts rounds texts that are numbers with a fraction to six digits. "1.23456789" becomes "1.23457", which is the
// text that the server makes of this double.
func roundTexts(v any) any {
	if s, ok := v.(string); ok && strings.Contains(s, ".") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(f, 'g', 6, 64)
		}
	}
	return v
}

// dropZ removes Z at the end of texts, also as $toLower writes it. "2020-01-01T00:00:00.000Z" becomes
// "2020-01-01T00:00:00.000".
func dropZ(v any) any {
	if s, ok := v.(string); ok {
		return strings.TrimRight(s, "Zz") // $toLower may follow
	}
	return v
}

// dropNumerals makes null of texts that consist of the characters of numbers. "1e+15" and "1000000000000000" become
// null, and "12 cats" stays.
func dropNumerals(v any) any {
	if s, ok := v.(string); ok {
		if strings.Trim(s, "0123456789.eE+-") == "" {
			return nil
		}
	}
	return v
}

// dropNumbers makes null of numbers. It is for results such as lengths of texts, which depend on a difference that a
// rule allows.
func dropNumbers(v any) any {
	switch v.(type) {
	case int32, int64, float64, bson.Decimal128:
		return nil
	}
	return v
}
