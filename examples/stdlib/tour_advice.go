package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model/advise"
)

// What the data says about two relations, and whether their techniques still fit.
var (
	importsSurvey = advise.NewSurvey(packages, packages, advise.SurveySpec{List: "imports", Scan: true})
	insideSurvey  = advise.NewSurvey(packages, files, advise.SurveySpec{Ref: "package", Scan: true})

	packageBudget = advise.NewBudget(packages,
		advise.Bound{Path: "_id", Bytes: 100}, advise.Bound{Path: "name", Bytes: 50}, advise.Bound{Path: "doc", Bytes: 300},
		advise.Bound{Path: "largest", Items: 3}, advise.Bound{Path: "largest.name", Bytes: 100},
		advise.Bound{Path: "top", Items: 3}, advise.Bound{Path: "top._id", Bytes: 200}, advise.Bound{Path: "top.name", Bytes: 100},
		advise.Bound{Path: "imports", Bytes: 100}, advise.Bound{Path: "importedBy", Bytes: 100}, advise.Bound{Path: "files", Bytes: 200})
)

func (t *tour) advice(ctx context.Context) error {
	for _, relation := range []struct {
		name   string
		survey *advise.Survey
		known  func(r *advise.Relation) // not in any collection
	}{
		{"imports", importsSurvey, func(r *advise.Relation) {
			r.Parent.Name, r.Child.Name = "packages", "imported packages"
			r.Child.Alone, r.Child.Shows, r.ReadsPerAdd = 0.5, advise.None, 1000
		}},
		{"files", insideSurvey, func(r *advise.Relation) {
			r.Child.Alone, r.Child.Shows, r.Parent.Shows, r.ReadsPerAdd = 0.5, 0.5, 0.05, 1000
		}},
	} {
		err := t.sent("survey a package and its "+relation.name, "", func() (string, error) {
			found, err := relation.survey.Run(ctx, t.db)
			if err != nil {
				return "", err
			}
			relation.known(&found.Relation)
			advice := advise.Choose(found.Relation)
			t.shown = append(t.shown, shown{name: firstLine(advice), page: advice.HTML()})
			return indented(found.String() + advice.String()), advice.Err
		})
		if err != nil {
			return err
		}
	}
	t.shown = append(t.shown, shown{name: firstLine(packageBudget.Worst()), page: packageBudget.HTML()})
	fmt.Fprintf(t.out, "\nhow large a package gets\n  → %s\n", indented(packageBudget.Worst().String()))
	fmt.Fprintf(t.out, "\nwhat is declared, as a diagram that Mermaid draws\n  → %s\n", indented(everything.Diagram()))
	return nil
}

// indented prints several lines as one result.
func indented(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") }
