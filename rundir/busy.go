package rundir

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/runs"
)

// busyError is [runs.ErrBusy] with the process that works on the run.
type busyError struct {
	Run     string
	Process int    // the id of the process, 0 if it is not known
	Host    string // the name of its machine, "" if it is not known
	Since   time.Time
}

// Error returns "run 12 is worked on by process 4711 on 'host' since 2006-01-02T15:04:05Z". Unknown parts are left
// out.
func (e *busyError) Error() string {
	text := fmt.Sprintf("run %s is worked on by another process", e.Run)
	if e.Process != 0 {
		text = fmt.Sprintf("run %s is worked on by process %d", e.Run, e.Process)
	}
	if e.Host != "" {
		text += fmt.Sprintf(" on '%s'", fsutil.Visible(show.Short(e.Host, 80)))
	}
	if !e.Since.IsZero() {
		text += " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// MarshalJSON gives the code, the message and the paths.
func (e *busyError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.Locked, e) }

// Is makes it match [runs.ErrBusy].
func (e *busyError) Is(target error) bool { return target == runs.ErrBusy }

// busy reports who works on a run, as far as its records have it.
func (s *Store) busy(number int64, err error) error {
	e := &busyError{Run: strconv.FormatInt(number, 10)}
	if l, lerr := s.load(number); lerr == nil && l.take != nil {
		e.Process, e.Host, e.Since = l.take.PID, l.take.Host, l.takenAt
	}
	return errors.Join(e, err)
}
