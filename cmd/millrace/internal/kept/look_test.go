package kept

import (
	"testing"
	"time"

	"github.com/millrace-go/millrace/runs"
)

// A step that a killed process had begun is repeated under a later number than the steps after it.
func TestInTime(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }
	jobs := []runs.Job{
		{ID: "1001", StartedAt: at(1)}, {ID: "1002"}, {ID: "1003", StartedAt: at(9)}, {ID: "1004"},
		{ID: "1005", StartedAt: at(5)},
	}
	inTime(jobs)
	var got string
	for _, j := range jobs {
		got += j.ID + " "
	}
	if want := "1001 1005 1003 1002 1004 "; got != want {
		t.Errorf("the jobs are in the order %s, not %s", got, want)
	}
}
