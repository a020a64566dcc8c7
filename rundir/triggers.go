package rundir

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

const (
	// childSize is the size of an entry of the file "children": the number of a target's run, 0 for none yet.
	childSize = 8
	// maxTargets is the largest size of the file "targets", in bytes, and maxTarget the largest size of a line.
	maxTargets = 1 << 30
	maxTarget  = 64 << 10
)

// targetName is the part of a line of the file "targets" that is needed for lists.
type targetName struct {
	ID string `json:"id"`
}

// Triggers implements [runs.Browser].
func (s *Store) Triggers(ctx context.Context, ref runs.RunRef, p runs.Paging) (runs.Page[runs.Trigger], error) {
	none := runs.PageOf([]runs.Trigger(nil), p)
	if err := p.Check(); err != nil {
		return none, err
	}
	l, err := s.find(ctx, ref)
	if err != nil || l.created.Fleet == nil || l.foreign {
		return none, err
	}
	page, _ := p.Numbers()
	from, to := p.Bounds(l.created.Fleet.Count)
	names, err := s.targets(ctx, l, from, to)
	if err != nil {
		return none, err
	}
	result := runs.Page[runs.Trigger]{Items: []runs.Trigger{}, Page: page, PerPage: none.PerPage,
		Total: l.created.Fleet.Count}
	for i, name := range names {
		t, err := s.trigger(l, from+i, name)
		if err != nil {
			return none, err
		}
		result.Items = append(result.Items, t)
	}
	if to > from && to < l.created.Fleet.Count {
		result.NextPage = page + 1
	}
	return result, nil
}

// trigger returns a target of a fleet as a trigger.
func (s *Store) trigger(l *loaded, index int, name string) (runs.Trigger, error) {
	t := runs.Trigger{Name: name, Status: runs.Created}
	if l.shownStatus().Ended() {
		t.Status = runs.Skipped
	}
	number, err := s.child(l.number, index)
	if err != nil || number == 0 {
		return t, err
	}
	child, err := s.look(number)
	switch {
	case errors.Is(err, errNoRun): // the run was removed, or never begun
		return t, nil
	case err != nil:
		return t, err
	case !child.isChild(l.number, index):
		return t, nil // the file is not signed: the run itself names its parent
	}
	r := child.run()
	t.Status, t.Run = r.Status, &r
	return t, nil
}

// child returns the number of the run of a target, 0 if it was not begun.
func (s *Store) child(parent int64, index int) (int64, error) {
	f, err := s.openToRead(parent, childrenFile)
	if err != nil {
		return 0, disk.UnlessAbsent(err)
	}
	defer f.Close()
	var b [childSize]byte
	n, err := f.ReadAt(b[:], int64(index)*childSize)
	switch {
	case n == childSize:
	case err == nil || errors.Is(err, io.EOF):
		return 0, nil // later targets were not begun
	default:
		return 0, err
	}
	number := binary.BigEndian.Uint64(b[:])
	if number > maxNumber {
		return 0, nil
	}
	return int64(number), nil
}

// setChild records the run of a target. It is for the writer of the parent; the child's own first record is the truth.
func (w *writer) setChild(index int, number int64) error {
	f, err := w.s.openFor(w.number, childrenFile, w.made)()
	if err != nil {
		return err
	}
	var b [childSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(number))
	_, err = f.WriteAt(b[:], int64(index)*childSize)
	return errors.Join(err, f.Close())
}

// syncChildren makes the file "children" of a fleet durable. Until a fleet has ended the children can be found again,
// see [fleetWork.find]; afterwards nobody does that.
func (w *writer) syncChildren() error {
	f, err := recordlog.Open(w.s.d.FS, w.s.run(w.number, childrenFile))
	if err != nil {
		return disk.UnlessAbsent(err)
	}
	w.made() // any process may have created it
	return errors.Join(f.Sync(), f.Close())
}

// isChild reports whether a run is the run of a target.
func (l *loaded) isChild(parent int64, index int) bool {
	c := l.created
	return c.Parent == parent && c.Child != nil && c.Child.Index == index && !l.foreign
}

// targets returns the names of a fleet's targets, from index from up to index to.
func (s *Store) targets(ctx context.Context, l *loaded, from, to int) (names []string, err error) {
	err = s.eachTarget(ctx, l.number, *l.created.Fleet, func(i int, line []byte) error {
		if i < from || i >= to {
			return nil
		}
		var t targetName
		if err := json.Unmarshal(line, &t); err != nil {
			return damaged(l.number, fmt.Errorf("target %d: %w", i, err))
		}
		names = append(names, t.ID)
		return nil
	})
	return names, err
}

// eachTarget calls do with each line of the file "targets". do must not keep the line; its error ends the loop. If the
// whole file does not match the run's first record, the error, at the end, matches [runs.ErrDamaged].
func (s *Store) eachTarget(ctx context.Context, parent int64, fleet fleetTargets,
	do func(i int, line []byte) error) error {
	f, err := s.openToRead(parent, targetsFile)
	if err != nil {
		return damaged(parent, err)
	}
	defer f.Close()
	if fleet.Length < 0 || fleet.Length > maxTargets {
		return damaged(parent, recordlog.ErrBytes)
	}
	h := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(io.NewSectionReader(f, 0, fleet.Length), h), maxTarget)
	lines := 0
	for ; ; lines++ {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err != nil {
			return damaged(parent, fmt.Errorf("target %d: %w", lines, err))
		}
		if lines%perShard == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if lines == fleet.Count {
			break // more lines than targets
		}
		if err := do(lines, bytes.TrimSpace(line)); err != nil {
			return err
		}
	}
	if hex.EncodeToString(h.Sum(nil)) != fleet.SHA256 || lines != fleet.Count {
		return damaged(parent, fmt.Errorf("targets: %w", recordlog.ErrBytes))
	}
	return nil
}
