package runs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/runs"
)

func TestErrors(t *testing.T) {
	since := time.Date(2030, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	tests := []struct {
		err  error
		is   error
		want string
	}{
		{runs.RunNotFound(runs.RunRef{Project: "p", ID: "12"}), runs.ErrNotFound, "run 12 not found in project 'p'"},
		{runs.RunNotFound(runs.RunRef{ID: "12"}), runs.ErrNotFound, "run 12 not found"},
		{runs.JobNotFound(runs.JobRef{Project: "p", ID: "12/fix"}), runs.ErrNotFound, "job 12/fix not found in project 'p'"},
		{runs.JobNotFound(runs.JobRef{Project: "p", ID: strings.Repeat("x", 100) + "\x1b"}), runs.ErrNotFound, "job " + strings.Repeat("x", 80) + "... not found in project 'p'"},
		{&runs.BusyError{Run: "12", Process: 4711, Host: "host", Since: since}, runs.ErrBusy, "run 12 is worked on by process 4711 on 'host' since 2030-01-02T03:04:05Z"},
		{&runs.BusyError{Run: "12"}, runs.ErrBusy, "run 12 is worked on by another process"},
	}
	for _, tt := range tests {
		if tt.err.Error() != tt.want || !errors.Is(tt.err, tt.is) || errors.Is(tt.err, runs.ErrForeign) {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
}
