package model

import "slices"

// inMendingOrder returns techniques in the order in which their checks run. A technique whose checks mend what another technique's checks
// derive from comes before it. Where that says nothing, and between techniques that derive from each other, the order given holds.
func inMendingOrder(techniques []Technique) []Technique {
	feeds := feeding(techniques)
	out, done := make([]Technique, 0, len(techniques)), make([]bool, len(techniques))
	for range techniques {
		for j, t := range techniques {
			if !done[j] && !waits(feeds, done, j) {
				out, done[j] = append(out, t), true
				break
			}
		}
	}
	return out
}

// waits reports whether a technique derives from another one that isn't done, and that doesn't derive from it.
func waits(feeds [][]bool, done []bool, j int) bool {
	for i := range feeds {
		if !done[i] && feeds[i][j] && !feeds[j][i] {
			return true
		}
	}
	return false
}

// feeding tells of each two techniques whether the second's checks derive from what the first's mend, at once or by way of others.
func feeding(techniques []Technique) [][]bool {
	feeds, derived := make([][]bool, len(techniques)), make([][]Footprint, len(techniques))
	for j, t := range techniques {
		derived[j] = derivedFrom(t)
	}
	for i, t := range techniques {
		feeds[i] = make([]bool, len(techniques))
		mended := mendedBy(t)
		for j := range techniques {
			feeds[i][j] = i != j && slices.ContainsFunc(derived[j], func(g Footprint) bool { return slices.ContainsFunc(mended, g.meets) })
		}
	}
	for k := range feeds {
		for i := range feeds {
			for j := range feeds {
				feeds[i][j] = feeds[i][j] || feeds[i][k] && feeds[k][j]
			}
		}
	}
	return feeds
}

// mendedBy are the footprints of what a technique's checks mend: what it owns or guards, and what it Mends in the collections of
// checks that can mend.
func mendedBy(t Technique) (out []Footprint) {
	var in []string
	for _, c := range t.Checks() {
		if c.Mend != nil || c.MendAll != nil {
			in = append(in, c.Collection)
		}
	}
	for _, f := range t.Footprints() {
		switch {
		case len(in) == 0:
		case f.Use == Owns, f.Use == Guards, f.Use == Mends && slices.Contains(in, f.Collection):
			out = append(out, f)
		}
	}
	return out
}

// derivedFrom are the footprints of what a technique's checks derive from: the paths that it shares with others, and the documents
// that its relations lead to.
func derivedFrom(t Technique) (out []Footprint) {
	if len(t.Checks()) == 0 {
		return nil
	}
	for _, f := range t.Footprints() {
		if f.Use == Reads || f.Path != Whole && (f.Use == Mends || f.Use == Writes) {
			out = append(out, f)
		}
	}
	for _, r := range t.Relations() {
		out = append(out, Footprint{Collection: r.To, Path: r.ToPath, Use: Reads})
	}
	return out
}
