package advise

import "github.com/docmodel/docmodel/internal/core"

// Decide is Choose's choice, without reasons and flips; none for a relation that is refused.
func Decide(r Relation) Choice {
	f, err := r.facts()
	if err != nil {
		return 0
	}
	return f.decide(false).choice
}

// ArrayBytes is the size of an array of n elements.
func ArrayBytes(n, each int64) int64 { return arrayBytes(n, each) }

// Size is the size in BSON of a document or an array, as the driver stores it by default.
func Size(v any) (int64, error) { return sizeOf(&core.Docs{}, v) }

// GrowthOf concludes from what parents gained in the thirds of a window.
func GrowthOf(gained [][3]int64, days, confidence float64) Growth {
	return growthOf(gained, days, confidence)
}
