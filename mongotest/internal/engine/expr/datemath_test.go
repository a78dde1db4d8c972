// These tests hold the expressions that make, read and add up dates.

package expr_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestDates(t *testing.T) {
	check(t, []testCase{
		{"$year", "{$year: '$d'}", "2024", 0},
		{"$month", "{$month: '$d'}", "2", 0},
		{"$dayOfMonth in a zone", "{$dayOfMonth: {date: '$d', timezone: '+12:00'}}", "1", 0},
		{"$hour in a zone", "{$hour: {date: '$d', timezone: 'Europe/Berlin'}}", "14", 0},
		{"$minute", "{$minute: '$d'}", "14", 0},
		{"$second", "{$second: '$d'}", "15", 0},
		{"$millisecond", "{$millisecond: '$d'}", "678", 0},
		{"$dayOfWeek", "{$dayOfWeek: '$d'}", "5", 0},
		{"$dayOfYear", "{$dayOfYear: '$d'}", "60", 0},
		{"$week", "{$week: '$d'}", "8", 0},
		{"$isoWeek", "{$isoWeek: '$d'}", "9", 0},
		{"$isoWeekYear", "{$isoWeekYear: '$d'}", "{$numberLong: '2024'}", 0},
		{"$isoDayOfWeek", "{$isoDayOfWeek: '$d'}", "4", 0},
		{"of an ObjectId", "{$year: '$id'}", "2012", 0},
		{"of null", "{$year: '$e'}", "null", 0},
		{"of a string", "{$year: '$s'}", "", 16006},
		{"unknown zone", "{$year: {date: '$d', timezone: 'Mars/X'}}", "", 40485},
		{"$dateToString", "{$dateToString: {date: '$d'}}", "'2024-02-29T13:14:15.678Z'", 0},
		{
			reason: "$dateToString format",
			expr:   "{$dateToString: {date: '$d', format: '%d/%m/%Y %H:%M %j %u %V %G %z%%', timezone: '-05:30'}}",
			want:   "'29/02/2024 07:44 060 4 09 2024 -0530%'", code: 0,
		},
		{"$dateToString onNull", "{$dateToString: {date: '$e', onNull: '-'}}", "'-'", 0},
		{"$dateToString unknown specifier", "{$dateToString: {date: '$d', format: '%x'}}", "", 18536},
		{
			reason: "$dateAdd month to a shorter one",
			expr:   "{$dateAdd: {startDate: {$toDate: '2024-01-31'}, unit: 'month', amount: 1}}",
			want:   "{$date: '2024-02-29T00:00:00Z'}", code: 0,
		},
		{
			reason: "$dateAdd day by the zone's clock",
			expr: "{$dateAdd: {startDate: {$toDate: '2024-03-30T12:00:00Z'}, unit: 'day', amount: 1, " +
				"timezone: 'Europe/Berlin'}}",
			want: "{$date: '2024-03-31T11:00:00Z'}", code: 0,
		},
		{
			reason: "$dateSubtract",
			expr:   "{$dateSubtract: {startDate: '$d', unit: 'hour', amount: 1}}",
			want:   "{$date: '2024-02-29T12:14:15.678Z'}", code: 0,
		},
		{"$dateAdd a fraction", "{$dateAdd: {startDate: '$d', unit: 'day', amount: 0.5}}", "", 5166405},
		{"$dateAdd unknown unit", "{$dateAdd: {startDate: '$d', unit: 'eon', amount: 1}}", "", mongoerr.FailedToParse},
		{
			reason: "$dateDiff counts boundaries",
			expr: "{$dateDiff: {startDate: {$toDate: '2023-12-31T23:59:00Z'}, " +
				"endDate: {$toDate: '2024-01-01T00:00:00Z'}, unit: 'year'}}",
			want: "{$numberLong: '1'}", code: 0,
		},
		{
			reason: "$dateDiff days",
			expr:   "{$dateDiff: {startDate: {$toDate: '2024-01-01'}, endDate: '$d', unit: 'day'}}",
			want:   "{$numberLong: '59'}", code: 0,
		},
		{
			reason: "$dateDiff weeks from Sunday",
			expr:   "{$dateDiff: {startDate: {$toDate: '2024-02-24'}, endDate: {$toDate: '2024-02-25'}, unit: 'week'}}",
			want:   "{$numberLong: '1'}", code: 0,
		},
		{
			reason: "$dateDiff weeks from Monday",
			expr: "{$dateDiff: {startDate: {$toDate: '2024-02-24'}, endDate: {$toDate: '2024-02-25'}, unit: 'week', " +
				"startOfWeek: 'monday'}}",
			want: "{$numberLong: '0'}", code: 0,
		},
		{
			reason: "$dateDiff back",
			expr:   "{$dateDiff: {startDate: '$d', endDate: {$toDate: '2024-02-29T12:59:59Z'}, unit: 'hour'}}",
			want:   "{$numberLong: '-1'}", code: 0,
		},
		{"$dateTrunc day", "{$dateTrunc: {date: '$d', unit: 'day'}}", "{$date: '2024-02-29T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc day in a zone",
			expr:   "{$dateTrunc: {date: '$d', unit: 'day', timezone: 'America/New_York'}}",
			want:   "{$date: '2024-02-29T05:00:00Z'}", code: 0,
		},
		{"$dateTrunc week", "{$dateTrunc: {date: '$d', unit: 'week'}}", "{$date: '2024-02-25T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc week from Monday",
			expr:   "{$dateTrunc: {date: '$d', unit: 'week', startOfWeek: 'mon'}}",
			want:   "{$date: '2024-02-26T00:00:00Z'}", code: 0,
		},
		{"$dateTrunc month", "{$dateTrunc: {date: '$d', unit: 'month'}}", "{$date: '2024-02-01T00:00:00Z'}", 0},
		{"$dateTrunc quarter", "{$dateTrunc: {date: '$d', unit: 'quarter'}}", "{$date: '2024-01-01T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc bins of hours",
			expr:   "{$dateTrunc: {date: '$d', unit: 'hour', binSize: 6}}",
			want:   "{$date: '2024-02-29T12:00:00Z'}", code: 0,
		},
		{
			reason: "$dateTrunc before 2000",
			expr:   "{$dateTrunc: {date: {$toDate: '1999-12-31T13:00:00Z'}, unit: 'hour', binSize: 6}}",
			want:   "{$date: '1999-12-31T12:00:00Z'}", code: 0,
		},
		{"$dateTrunc bin 0", "{$dateTrunc: {date: '$d', unit: 'hour', binSize: 0}}", "", 5439018},
		{
			reason: "$dateFromParts",
			expr:   "{$dateFromParts: {year: 2024, month: 14, day: 1, hour: 2}}",
			want:   "{$date: '2025-02-01T02:00:00Z'}", code: 0,
		},
		{
			reason: "$dateFromParts in a zone",
			expr:   "{$dateFromParts: {year: 2024, timezone: 'Europe/Berlin'}}",
			want:   "{$date: '2023-12-31T23:00:00Z'}", code: 0,
		},
		{"$dateFromParts year 0", "{$dateFromParts: {year: 0}}", "", 40523},
		{"$dateFromParts fraction", "{$dateFromParts: {year: 2024.5}}", "", 40515},
	})
}
