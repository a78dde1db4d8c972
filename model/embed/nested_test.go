package embed_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
)

func TestEmbeddedNested(t *testing.T) {
	before := embPerson{
		ID: "p",
		Tasks: []embTask{
			{ID: "a", Due: 1, Steps: []embStep{{No: 1, Text: "x"}}},
			{ID: "b", Due: 2, Steps: []embStep{{No: 1, Text: "y"}, {No: 2, Text: "z"}}},
			{ID: "c"},
		},
	}
	list := func(a, b, c string) string {
		return "{_id: 'p', tasks: [{id: 'a', due: 1, steps: [" + a + "]}, {id: 'b', due: 2, steps: [" + b +
			"]}, {id: 'c', due: 0" + c + "}]}"
	}
	a, b := "{no: 1, text: 'x'}", "{no: 1, text: 'y'}, {no: 2, text: 'z'}"
	embRun(t, []embCase{
		{"added to one of them", before, embSteps.Add("p", "a", embStep{No: 2}), list(a+", {no: 2}", b, ""), nil, true},
		{
			reason: "added where there are none", before: before,
			write: embSteps.Add("p", "c", embStep{No: 1}, embStep{No: 2}),
			after: list(a, b, ", steps: [{no: 1}, {no: 2}]"), err: nil, once: true,
		},
		{"the very same", before, embSteps.Add("p", "a", embStep{No: 1, Text: "x"}), "", nil, true},
		{"the same key", before, embSteps.Add("p", "a", embStep{No: 1, Text: "q"}), "", model.ErrTaken, false},
		{"no room", before, embSteps.Add("p", "b", embStep{No: 3}), "", model.ErrFull, false},
		{"no such element", before, embSteps.Add("p", "q", embStep{No: 3}), "", model.ErrNotFound, false},
		{"nobody", nil, embSteps.Add("p", "a", embStep{No: 3}), "", model.ErrNotFound, false},
		{
			reason: "more than may be", before: before,
			write: embSteps.Add("p", "c", embStep{No: 1}, embStep{No: 2}, embStep{No: 3}),
			after: "", err: errEmbRefused, once: false,
		},
		{"added by null", before, embSteps.Add("p", nil, embStep{No: 3}), "", errEmbRefused, false},
		{
			reason: "set by two keys", before: before,
			write: embSteps.Update("p", "b", 1, d("$set", d("text", "new"))),
			after: list(a, "{no: 1, text: 'new'}, {no: 2, text: 'z'}", ""),
			err:   nil, once: true,
		},
		{
			reason: "updated by two keys", before: before,
			write: embSteps.Update("p", "a", 1, d("$unset", d("text", ""))),
			after: list("{no: 1}", b, ""), err: nil, once: true,
		},
		{
			reason: "no such inner element there", before: before,
			write: embSteps.Update("p", "a", 2, d("$set", d("text", "new"))),
			after: "", err: model.ErrNotFound, once: false,
		},
		{"its key set", before, embSteps.Update("p", "a", 1, d("$set", d("no", 2))), "", errEmbRefused, false},
		{
			reason: "set without an inner key", before: before,
			write: embSteps.Update("p", "a", nil, d("$set", d("text", "x"))),
			after: "", err: errEmbRefused, once: false,
		},
		{"removed", before, embSteps.Remove("p", "b", 1, 7), list(a, "{no: 2, text: 'z'}", ""), nil, true},
		{"removed where there are none", before, embSteps.Remove("p", "c", 1), "", nil, true},
		{"removed from none", before, embSteps.Remove("p", "q", 1), "", model.ErrNotFound, false},
		{"nothing removed", before, embSteps.Remove("p", "b"), "", errEmbRefused, false},
	})
}
