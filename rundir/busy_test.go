package rundir

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/runs"
)

func TestBusy(t *testing.T) {
	t.Parallel()
	since := time.Date(2030, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	for _, test := range []struct {
		err  *busyError
		want string
	}{
		{&busyError{Run: "12", Process: 4711, Host: "host", Since: since},
			"run 12 is worked on by process 4711 on 'host' since 2030-01-02T03:04:05Z"},
		{&busyError{Run: "12", Process: 4711}, "run 12 is worked on by process 4711"},
		{&busyError{Run: "12"}, "run 12 is worked on by another process"},
	} {
		if test.err.Error() != test.want || !errors.Is(test.err, runs.ErrBusy) || errors.Is(test.err, runs.ErrNotFound) {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
		data, err := json.Marshal(test.err)
		if err != nil || !strings.HasPrefix(string(data), `{"code":"locked","message":"run 12 is`) {
			t.Errorf("%s, %v", data, err)
		}
	}
}
