package choice

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/design/designtest"
)

func Example_relation() {
	advice := advise.Choose(announcements)
	fmt.Println(advice.Choice, advice.Types())
	for _, reason := range advice.Reasons {
		fmt.Println("-", reason.Text)
	}
	few := announcements // and if a course had at most twenty?
	few.Parent.Has = advise.Count{Typical: 5, Max: 20}
	fmt.Println(advise.Choose(few).Choice)
	// Output:
	// parent reference [parentref.ParentRef]
	// - nothing ends the number of announcements, and an array should not grow without bound
	// - a join by id and index costs little more than one on the server would
	// - each of the announcements belongs to one of the courses, and holds its id
	// embed
}

func Example_workload() {
	d, err := school.Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d)
	// Output:
	// school: 42.7 ms in each unit of time, with references only 83.6 ms; the best of 5 layouts
	//   announcements.course reference with the newest 3 by at in the parent: saves 40.9 ms (show a course 41.3 ms, announce -445 µs)
	//   next 1, 43.6 ms, with announcements.course paged with the newest 3 by at in the parent and 100 to a document
	//   next 2, 61.5 ms, with announcements.course embedded; better if show a course comes less than 0.02 times as often
	//   next 3, 83.6 ms, with announcements.course reference; better if announce comes more than 92.9 times as often
	//
	//       operation  rate  commands  read  written  index entries    KB    time
	//   show a course   100         1     1        0              0  1.16  418 µs
	//        announce     1         2     0        2              2     0  902 µs
	//
	// courses: 1000 documents of 1189 bytes, the largest 1189
	// announcements: 50000 documents of 365 bytes, the largest 365; indexes course_1_at_-1__id_-1
}

// The choice holds for as long as this test passes.
func TestChoice(t *testing.T) {
	advise.Choose(announcements).Want(t, advise.ParentRef)

	d, err := school.Design()
	if err != nil {
		t.Fatal(err)
	}
	report := designtest.Try(t, school.Scaled(0.05), d.Best.Layout, d.Normalized.Layout)
	report.Want(t, "best", "show a course", 1, 1) // at most one command and one document
	report.Want(t, "best", "announce", 2, 2)
	report.Want(t, "normalized", "show a course", 2, 4)
	t.Log("\n" + report.String())
}
