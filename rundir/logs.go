package rundir

import (
	"context"
	"io"
	"strings"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// Logs implements [runs.Browser].
func (s *Store) Logs(ctx context.Context, ref runs.JobRef, r runs.LogRange) (runs.Log, error) {
	if err := r.Check(); err != nil {
		return runs.Log{}, err
	}
	l, j, err := s.findJob(ctx, ref)
	if err != nil {
		return runs.Log{}, err
	}
	// The status of the job is read first: if lines are written later, the log is not reported as complete.
	complete := l.job(j, nil).Status.Ended()
	f, err := s.openToRead(l.number, logFile)
	if disk.IsAbsent(err) {
		return r.Log(0, "", complete), nil
	}
	if err != nil {
		return runs.Log{}, damaged(l.number, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return runs.Log{}, err
	}
	// Both passes see the same lines, even if lines are appended between them.
	lines := func(each func(line []byte)) error {
		return recordlog.ReadText(io.NewSectionReader(f, 0, info.Size()), func(line recordlog.Line) bool {
			if line.Ordinal == j.ordinal {
				each(line.Text)
			}
			return ctx.Err() == nil
		})
	}
	total := 0
	if err := lines(func([]byte) { total++ }); err != nil {
		return runs.Log{}, err
	}
	first, count := r.Bounds(total)
	var trace strings.Builder
	at := 0
	err = lines(func(line []byte) {
		if at++; at >= first && at < first+count {
			trace.Write(line)
			trace.WriteByte('\n')
		}
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return r.Log(total, strings.ToValidUTF8(trace.String(), "\uFFFD"), complete), err
}
