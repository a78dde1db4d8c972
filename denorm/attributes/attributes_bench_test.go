package attributes_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What one of many elements, values or findings costs to plan.
func BenchmarkAttributesPlans(b *testing.B) {
	for reason, prepare := range map[string]func(n int) (run func() error){
		"Attributes.Checks": func(n int) func() error {
			check, found := specs.Checks()[0], make([]model.Finding, n)
			for i := range found {
				found[i] = model.Finding{
					Check:  check.Name,
					Detail: testkit.Marshal(bson.D{testkit.E("id", int32(i)), testkit.E("name", "x")}),
				}
			}
			return func() error { return testkit.Priced(check.Mend(found)) }
		},
	} {
		b.Run(reason, func(b *testing.B) { testkit.PerValue(b, prepare) })
	}
}
