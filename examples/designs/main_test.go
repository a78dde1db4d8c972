package main

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/model/design/designtest"
)

// The best layout has at most the measured cost of layouts by people. Prices equal
// measured costs.
func TestLayouts(t *testing.T) {
	t.Run("rubis", func(t *testing.T) { compare(t, auction(), 0.1, auctionExpert, auctionCareful) })
	t.Run("blog", func(t *testing.T) { compare(t, blog(), 0.05, blogExpert) })
}

func compare(t *testing.T, w design.Workload, scale float64, layouts ...design.Layout) {
	d, err := w.Design()
	if err != nil {
		t.Fatal(err)
	}
	report := designtest.Try(t, w.Scaled(scale), append([]design.Layout{d.Best.Layout, d.Normalized.Layout}, layouts...)...)
	t.Log("\n" + report.String())
	best := map[string]designtest.Trial{}
	for _, trial := range report.Trials {
		if trial.Layout.Name == "best" {
			best[trial.Backend] = trial
		}
	}
	for _, trial := range report.Trials {
		if trial.Time < best[trial.Backend].Time {
			t.Errorf("%s: %s takes %v, the best layout %v", trial.Backend, trial.Layout.Name, trial.Time, best[trial.Backend].Time)
		}
		var documents, priced, took float64
		for _, m := range trial.Operations {
			p := trial.Priced.Operation(m.Operation)
			if math.Abs(m.Commands-p.Commands) > 0.005 {
				t.Errorf("%s, %s, %s: %.2f commands, priced %.2f", trial.Backend, trial.Layout.Name, m.Operation, m.Commands, p.Commands)
			}
			if off := (m.Read+m.Written)/(p.Read+p.Written) - 1; math.Abs(off) > 0.05 {
				t.Errorf("%s, %s, %s: %.2f documents, priced %.2f", trial.Backend, trial.Layout.Name, m.Operation,
					m.Read+m.Written, p.Read+p.Written)
			}
			documents += m.Rate * (m.Read + m.Written)
			priced += m.Rate * (p.Read + p.Written)
			took += m.Rate * float64(m.Took)
		}
		t.Logf("%s, %s: %v by what was measured, %v priced; %.1f documents measured, %.1f priced; took %v", trial.Backend, trial.Layout.Name,
			trial.Time, trial.Priced.Time, documents, priced, time.Duration(took))
	}
	if file := os.Getenv("DOCMODEL_REPORT"); file != "" { // write a page
		if err := os.WriteFile(file+"-"+w.Name+".html", []byte(report.HTML()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
