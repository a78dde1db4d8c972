package advise

// Decide is Choose's choice, without reasons and flips; none for a relation that is refused.
func Decide(r Relation) Choice {
	f, err := r.facts()
	if err != nil {
		return 0
	}
	return f.decide(false).choice
}

// GrowthOf concludes from what parents gained in the thirds of a window.
func GrowthOf(gained [][3]int64, days, confidence float64) Growth {
	return growthOf(gained, days, confidence)
}
