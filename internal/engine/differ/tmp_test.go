package differ

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// triage: V=verbs filter
func TestTmp(t *testing.T) {
	b, _ := os.ReadFile("/tmp/differ-uri")
	cl, _ := mongo.Connect(options.Client().ApplyURI(strings.TrimSpace(string(b))))
	ctx := context.Background()
	p := pair{newEngine(t), newServer(t, cl, 9)}
	verbs := strings.Fields(os.Getenv("V"))
	lo, _ := strconv.Atoi(os.Getenv("LO"))
	n, _ := strconv.Atoi(os.Getenv("N"))
	max := 30
	r := &Report{Known: map[string]int{}, Found: map[string]*Found{}}
	skip := strings.Fields(os.Getenv("SKIP"))
	raw := map[string]int{}
	for i := lo; i < lo+n; i++ {
		c := Generate(1, i)
		if len(verbs) > 0 && !slices.Contains(verbs, c.verb()) || withheld(c) != "" {
			continue
		}
		if slices.ContainsFunc(skip, func(s string) bool { return slices.Contains(names(c), s) }) {
			continue
		}
		k, known, o, s, err := p.try(ctx, c)
		if err != nil {
			fmt.Println(i, err)
			continue
		}
		r.Compared++
		if known != "" {
			r.Known[known]++
			continue
		}
		if k == Same {
			if o.failed() { r.Failed++ }
			continue
		}
		if os.Getenv("NOCODES") != "" && k == Codes {
			raw[fmt.Sprintf("codes %d %d %.60s | %.60s", o.Code, s.Code, o.Text, s.Text)]++
			continue
		}
		if strings.Contains(o.Text, "no such command") || strings.Contains(o.Text, "nrecognized") || strings.Contains(o.Text, "Unknown") {
			raw["unknown "+o.Text]++
			continue
		}
		raw[string(k)]++
		if len(r.Found) < max {
			r.add(ctx, p, i, c, k)
		}
	}
	var ks []string
	for k := range raw { ks = append(ks, k) }
	sort.Slice(ks, func(i, j int) bool { return raw[ks[i]] > raw[ks[j]] })
	fmt.Println(r)
	for _, k := range ks { fmt.Println(raw[k], k) }
	ks = nil
	for k := range r.Found { ks = append(ks, k) }
	sort.Slice(ks, func(i, j int) bool { return r.Found[ks[i]].Like > r.Found[ks[j]].Like })
	for _, k := range ks {
		f := r.Found[k]
		fmt.Printf("#%d +%d %s\n  docs %s other %s\n  cmd %s\n  %s\n\n", f.Number, f.Like, k, Outcome{State: f.Case.Docs}.show(), Outcome{State: f.Case.Other}.show(), Outcome{Reply: f.Case.Command}.show(), show(f.Engine, f.Server))
	}
}
