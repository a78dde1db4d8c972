package checks

import (
	"time"

	"github.com/docmodel/docmodel/model/advise"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	partsSurvey  = advise.NewSurvey(products, parts, advise.SurveySpec{List: "parts"})
	stocksSurvey = advise.NewSurvey(portfolios, stocks, advise.SurveySpec{
		List: "holdings.stockId", Sample: 50, Scan: true,
	})
	logsSurvey     = advise.NewSurvey(hosts, logmsgs, advise.SurveySpec{Ref: "host"})
	holdingsSurvey = advise.NewSurvey(portfolios, portfolios, advise.SurveySpec{Embedded: "holdings", At: "note"})
)

// surveyed is when the latest child came.
var surveyed = time.Date(2024, 4, 1, 12, 0, 0, 0, time.UTC)

func init() { register(surveyReads()...) }

func surveyReads() []Case {
	ids := func(s string, use func(...bson.RawValue) any) ([]any, func() any) {
		list := roomy([]bson.RawValue{rawValue(s), rawValue(bson.D{{Key: "$gt", Value: s}})})
		return []any{list}, func() any { return use(list...) }
	}
	return []Case{
		{
			Method: "advise.Survey.Parents", Reason: "those that list their children",
			Make: func(string) any { return partsSurvey.Parents(false) },
		},
		{
			Method: "advise.Survey.Parents",
			Reason: "whose list is of documents, fewer of them",
			Make:   func(string) any { return stocksSurvey.Parents(false) },
		},
		{
			Method: "advise.Survey.Parents", Reason: "all of those that hold their children",
			Make: func(string) any { return holdingsSurvey.Parents(true) },
		},
		{
			Method: "advise.Survey.Parents", Reason: "those whose children refer to them",
			Make: func(string) any { return logsSurvey.Parents(false) },
		},
		{
			Method: "advise.Survey.Children", Reason: "those that refer to their parent",
			Make: func(string) any { return logsSurvey.Children(false) },
		},
		{
			Method: "advise.Survey.Children", Reason: "all of those that are listed",
			Make: func(string) any { return partsSurvey.Children(true) },
		},
		{
			Method: "advise.Survey.Children", Reason: "embedded ones are refused",
			Make: func(string) any { return holdingsSurvey.Children(true) },
		},
		{Method: "advise.Survey.Links", Reason: "how many parents list each child", From: func(s string) ([]any, func() any) {
			return ids(s, func(list ...bson.RawValue) any { return stocksSurvey.Links(list...) })
		}},
		{
			Method: "advise.Survey.Links", Reason: "how many children each parent has",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return logsSurvey.Links(list...) })
			},
		},
		{
			Method: "advise.Survey.Added",
			Reason: "how many came to each parent that lists them",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return stocksSurvey.Added(surveyed, list...) })
			},
		},
		{
			Method: "advise.Survey.Added", Reason: "how many came to each that holds them",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return holdingsSurvey.Added(surveyed, list...) })
			},
		},
		{
			Method: "advise.Survey.Added",
			Reason: "how many came that refer to each parent",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return logsSurvey.Added(surveyed, list...) })
			},
		},
		{
			Method: "advise.Survey.Existing", Reason: "which of the listed children there are",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return partsSurvey.Existing(list...) })
			},
		},
		{
			Method: "advise.Survey.Existing", Reason: "which of the parents there are",
			From: func(s string) ([]any, func() any) {
				return ids(s, func(list ...bson.RawValue) any { return logsSurvey.Existing(list...) })
			},
		},
	}
}
