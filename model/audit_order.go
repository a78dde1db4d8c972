package model

import "slices"

// inMendingOrder returns the techniques in the order in which their checks run: see
// [Model.Audit].
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

// waits reports whether technique j derives from a technique that isn't done and that
// doesn't derive from j.
func waits(feeds [][]bool, done []bool, j int) bool {
	for i := range feeds {
		if !done[i] && feeds[i][j] && !feeds[j][i] {
			return true
		}
	}
	return false
}

// feeding reports for each pair of techniques whether the checks of the second derive
// from what the first repairs, directly or through other techniques.
func feeding(techniques []Technique) [][]bool {
	feeds, derived := make([][]bool, len(techniques)), make([][]Footprint, len(techniques))
	for j, t := range techniques {
		derived[j] = derivedFrom(t)
	}
	for i, t := range techniques {
		feeds[i] = make([]bool, len(techniques))
		mended := mendedBy(t)
		for j := range techniques {
			feeds[i][j] = i != j &&
				slices.ContainsFunc(derived[j], func(g Footprint) bool { return slices.ContainsFunc(mended, g.meets) })
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

// mendedBy returns the footprints of what a technique's checks repair: the paths that it
// owns or guards, and the paths that it Mends in collections of checks that can repair.
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

// derivedFrom returns the footprints of what a technique's checks derive from: the paths
// that it shares with other techniques, and the documents that its relations point to.
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
