package checks

import (
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
)

// A technique of which some plan is transactional says that it needs transactions, and names the method. What says so
// has such a plan.
func TestNeeds(t *testing.T) {
	said := map[string][]string{} // by technique
	for _, technique := range declaredTechniques {
		for _, n := range model.New("test", technique).Needs() {
			if n.Feature == "transactions" {
				said[n.Technique] = append(said[n.Technique], n.Why)
			}
		}
	}
	done := map[string]bool{}
	for _, c := range registered {
		v := c.value(harmless)
		plan, isPlan := v.(model.Plan)
		if job, isJob := v.(model.Job); isJob && job.Err == nil && len(job.Stages) == 1 && job.Stages[0].Do == nil {
			plan, _ = c.planned(job.Stages[0], harmless)
		} else if !isPlan && decides(v) && errorOf(v) == nil {
			plan, _ = c.decided(v, harmless)
		}
		if plan.Guarantee() != model.Transactional || plan.Options.AllowPartial || strings.HasPrefix(c.Method, "model.") {
			continue
		}
		parts := strings.Split(c.Method, ".")
		name := parts[0] + "." + parts[1]
		if done[name] = true; !slices.ContainsFunc(said[name], func(why string) bool {
			return strings.HasPrefix(why, parts[2]+" ") || strings.HasPrefix(why, "operations ")
		}) {
			t.Errorf("%s is transactional, and the needs are %q", c.name(), said[name])
		}
	}
	for name, why := range said {
		if !done[name] {
			t.Errorf("%s says that it needs transactions for %q, and no case is transactional", name, why)
		}
	}
	if len(done) < 3 {
		t.Errorf("only %d techniques have transactional plans: something is wrong with the search", len(done))
	}
}
