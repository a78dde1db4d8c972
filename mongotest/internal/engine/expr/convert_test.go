package expr_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestConversions(t *testing.T) {
	check(t, []testCase{
		{"$toString a double", "{$toString: 2.5}", "'2.5'", 0},
		{"$toString a whole double", "{$toString: 2.0}", "'2'", 0},
		{"$toString a date", "{$toString: '$d'}", "'2024-02-29T13:14:15.678Z'", 0},
		{"$toString an ObjectId", "{$toString: '$id'}", "'507f1f77bcf86cd799439011'", 0},
		{"$toString an array", "{$toString: '$a'}", "", mongoerr.ConversionFailure},
		{"$toString a document", "{$toString: '$o'}", "", mongoerr.ConversionFailure},
		{"$toInt", "{$toInt: '12'}", "12", 0},
		{"$toInt truncates", "{$toInt: -2.9}", "-2", 0},
		{"$toInt a fraction's text", "{$toInt: '1.5'}", "", mongoerr.ConversionFailure},
		{"$toInt too big", "{$toInt: '$big'}", "", mongoerr.ConversionFailure},
		{"$toLong a date", "{$toLong: '$d'}", "{$numberLong: '1709212455678'}", 0},
		{"$toDouble", "{$toDouble: '1e3'}", "1000.0", 0},
		{"$toDouble text", "{$toDouble: 'x'}", "", mongoerr.ConversionFailure},
		{"$toDecimal", "{$toDecimal: '1.50'}", "{$numberDecimal: '1.50'}", 0},
		{"$toBool", "{$toBool: 'false'}", "true", 0},
		{"$toBool zero", "{$toBool: 0}", "false", 0},
		{"$toDate", "{$toDate: '2020-01-02'}", "{$date: '2020-01-02T00:00:00Z'}", 0},
		{"$toDate an ObjectId", "{$toDate: '$id'}", "{$date: '2012-10-17T21:13:27Z'}", 0},
		{"$toDate an int", "{$toDate: 5}", "", mongoerr.ConversionFailure},
		{"$toObjectId", "{$toObjectId: '507f1f77bcf86cd799439011'}", "{$oid: '507f1f77bcf86cd799439011'}", 0},
		{"$toObjectId short", "{$toObjectId: '50'}", "", mongoerr.ConversionFailure},
		{"null stays", "{$toInt: '$e'}", "null", 0},
		{"$convert onError", "{$convert: {input: 'x', to: 'int', onError: -1}}", "-1", 0},
		{"$convert onNull", "{$convert: {input: '$nope', to: 'int', onNull: 0}}", "0", 0},
		{"$convert by number", "{$convert: {input: '5', to: 16}}", "5", 0},
		{"$convert to the unknown", "{$convert: {input: '5', to: 'x'}}", "", mongoerr.BadValue},
		{"$type", "{$type: '$id'}", "'objectId'", 0},
		{"$type of nothing", "{$type: '$nope'}", "'missing'", 0},
	})
}
