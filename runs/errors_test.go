package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/runs"
)

func TestErrors(t *testing.T) {
	tests := []struct {
		err  error
		is   error
		want string
	}{
		{runs.RunNotFound(runs.RunRef{Project: "p", ID: "12"}), runs.ErrNotFound, "run 12 not found in project 'p'"},
		{runs.RunNotFound(runs.RunRef{ID: "12"}), runs.ErrNotFound, "run 12 not found"},
		{runs.JobNotFound(runs.JobRef{Project: "p", ID: "12/fix"}), runs.ErrNotFound, "job 12/fix not found in project 'p'"},
		{runs.JobNotFound(runs.JobRef{Project: "p", ID: strings.Repeat("x", 100) + "\x1b"}), runs.ErrNotFound, "job " + strings.Repeat("x", 80) + "... not found in project 'p'"},
	}
	for _, tt := range tests {
		if tt.err.Error() != tt.want || !errors.Is(tt.err, tt.is) || errors.Is(tt.err, runs.ErrForeign) {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
}
