package graph_test

import (
	"math"
	"math/rand/v2"
	"strings"
)

// graphOf reads "a:bc b:c c:" as the accounts a, which follows b and c, b, which follows
// c, and c, which follows nobody.
func graphOf(notation string) []account {
	var out []account
	for _, s := range strings.Fields(notation) {
		id, to, _ := strings.Cut(s, ":")
		a := account{ID: id}
		for _, r := range to {
			a.Follows = append(a.Follows, string(r))
		}
		out = append(out, a)
	}
	return out
}

// randomGraph has accounts with self loops, parallel edges, edges that lead nowhere,
// accounts that follow nobody, and groups that have nothing to do with each other.
func randomGraph(r *rand.Rand, n int) []account {
	odd := []string{"", "$x", "a.b", "|", "é", "{$gt: 1}", "$$ROOT"}
	id := func(i int) string { return odd[i%len(odd)] + "#" + string(rune('a'+i%26)) + string(rune('0'+i/26)) }
	out := make([]account, n)
	parts := 1 + r.IntN(4)
	for i := range out {
		out[i].ID = id(i)
		for range r.IntN(4) * min(r.IntN(4), 1) {
			to := (i + parts*r.IntN(n)) % n
			if n%parts != 0 && to%parts != i%parts {
				to = i % parts
			}
			out[i].Follows = append(out[i].Follows, id(to))
			if r.IntN(8) == 0 {
				out[i].Follows = append(out[i].Follows, id(to))
			}
		}
		if r.IntN(6) == 0 {
			out[i].Follows = append(out[i].Follows, out[i].ID)
		}
		if r.IntN(6) == 0 {
			out[i].Follows = append(out[i].Follows, "nobody")
		}
	}
	return out
}

// edgesOf are the edges as a graph counts them: each once, none that leads nowhere.
func edgesOf(all []account) map[string][]string {
	is := map[string]bool{}
	for _, a := range all {
		is[a.ID] = true
	}
	out := map[string][]string{}
	for _, a := range all {
		seen := map[string]bool{}
		for _, to := range a.Follows {
			if is[to] && !seen[to] {
				seen[to] = true
				out[a.ID] = append(out[a.ID], to)
			}
		}
	}
	return out
}

func distancesOf(all []account, from ...string) map[string]int64 {
	edges, out := edgesOf(all), map[string]int64{}
	var queue []string
	for _, a := range all {
		for _, id := range from {
			if _, seen := out[id]; a.ID == id && !seen {
				out[id] = 0
				queue = append(queue, id)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, to := range edges[queue[0]] {
			if _, seen := out[to]; !seen {
				out[to] = out[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return out
}

// componentsOf unites the ends of each edge, under the least id.
func componentsOf(all []account) map[string]string {
	parent := map[string]string{}
	for _, a := range all {
		parent[a.ID] = a.ID
	}
	var root func(id string) string
	root = func(id string) string {
		if parent[id] == id {
			return id
		}
		return root(parent[id])
	}
	for from, list := range edgesOf(all) {
		for _, to := range list {
			a, b := root(from), root(to)
			parent[max(a, b)] = min(a, b)
		}
	}
	out := map[string]string{}
	for _, a := range all {
		out[a.ID] = root(a.ID)
	}
	return out
}

// ranksOf iterates until nothing changes any more.
func ranksOf(all []account, damping float64) map[string]float64 {
	edges, n := edgesOf(all), float64(len(all))
	now := map[string]float64{}
	for _, a := range all {
		now[a.ID] = 1 / n
	}
	for range 2000 {
		next, dangling := map[string]float64{}, 0.0
		for _, a := range all {
			if len(edges[a.ID]) == 0 {
				dangling += now[a.ID]
			}
		}
		for _, a := range all {
			next[a.ID] = (1-damping)/n + damping*dangling/n
		}
		for _, a := range all {
			for _, to := range edges[a.ID] {
				next[to] += damping * now[a.ID] / float64(len(edges[a.ID]))
			}
		}
		delta := 0.0
		for id := range next {
			delta += math.Abs(next[id] - now[id])
		}
		if now = next; delta < 1e-15 {
			break
		}
	}
	return now
}
