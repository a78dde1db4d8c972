package rules

import (
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
