package rundir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// The time between two checks for requests by an owner, the time between two checks for the effect by the caller, and
// the limits for reading.
const (
	listenWait   = 100 * time.Millisecond
	effectWait   = 10 * time.Millisecond
	mostRequests = 100
	maxRequest   = 4 << 10
)

const requestEnd = ".json"

// request is a request of another process to the owner of a run. It is signed like a record.
type request struct {
	// Run is the id of the run. Takes is the number of times that it had been taken: a request is for one owner.
	Run   string    `json:"run"`
	Takes int       `json:"takes"`
	Verb  runs.Verb `json:"verb"`
	User  string    `json:"user,omitempty"`
	Time  time.Time `json:"time"`
}

// listen ends the session when another process requests that.
func (s *session) listen() {
	ticker := time.NewTicker(listenWait)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		if r := s.requested(); r != nil {
			if err := s.cancel(r.User); err != nil {
				s.m.log("a cancel cannot be recorded", s.w.number, err)
			}
			return
		}
	}
}

// nextRequests returns the names of the requests to read now: each time the next ones, and after the last again from
// the beginning. So a request is read even if a stranger has put many files there.
func (s *session) nextRequests(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, requestEnd) })
	if len(names) <= mostRequests {
		return names
	}
	slices.Sort(names)
	from, _ := slices.BinarySearch(names, s.heard+"\x00") // after it, even if it no longer exists
	if from == len(names) {
		from = 0
	}
	names = names[from:min(from+mostRequests, len(names))]
	s.heard = names[len(names)-1]
	return names
}

// requested returns a request to cancel for this owner, nil if not found. An unsigned request is ignored.
func (s *session) requested() *request {
	store, number := s.m.store, s.w.number
	dir := store.run(number, controlDir)
	if at, err := store.d.Look(dir); err != nil || at.Kind != change.Dir {
		return nil
	}
	names, err := store.d.Names(dir)
	if err != nil {
		return nil
	}
	var id string
	var takes int
	s.w.state(func(f *folded) { id, takes = f.created.ID, f.takes })
	for _, name := range s.nextRequests(names) {
		r, err := store.readRequest(number, name)
		if err != nil || r.Run != id {
			continue
		}
		_ = store.d.Remove(store.run(number, controlDir, name)) // if it stays it does no harm: it is only for this owner
		if r.Takes == takes && r.Verb == runs.VerbCancel {
			return r
		}
	}
	return nil
}

func (s *Store) readRequest(number int64, name string) (*request, error) {
	key, err := s.readKey()
	if err != nil {
		return nil, err
	}
	file, err := s.d.Read(s.run(number, controlDir, name), maxRequest)
	if err != nil {
		return nil, err
	}
	reader := recordlog.NewReader(file, key)
	text, ok := reader.Next()
	if !ok {
		return nil, reader.Stop()
	}
	r := new(request)
	return r, json.Unmarshal(text, r)
}

// writeRequest writes a request to the owner of a run. The file gets its name when it is complete.
func (s *Store) writeRequest(number int64, r *request) (name string, err error) {
	key, err := s.writeKey()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	if err := s.makeDir(s.run(number, controlDir)); err != nil {
		return "", err
	}
	id := journal.NewID(r.Time)
	temp, name := s.run(number, controlDir, id), s.run(number, controlDir, id+requestEnd)
	f, err := recordlog.Create(s.d.FS, temp)
	if err != nil {
		return "", err
	}
	w := recordlog.NewWriter(f, key, recordlog.Start())
	if err := errors.Join(w.Append(text), w.Close()); err != nil {
		return "", errors.Join(err, s.d.Remove(temp))
	}
	return name, s.d.FS.Rename(temp, name)
}

// cancel records that the run will end, and ends its work. It does nothing if the run already waits.
func (s *session) cancel(user string) error {
	s.canceling.Lock()
	defer s.canceling.Unlock()
	if s.ctx.Err() != nil || s.waits {
		return nil
	}
	if err := s.w.append(&record{Kind: kindCancel, Cancel: &cancel{User: user}}); err != nil {
		return err
	}
	s.stop(&canceledBy{user})
	return nil
}

// Cancel implements [runs.Manager]. It waits until the run has ended. If ctx is done before, the error reports that the
// cancel was requested, and matches the cause.
func (m *Manager) Cancel(ctx context.Context, ref runs.RunRef) (runs.Run, error) {
	l, err := m.store.find(ctx, ref)
	if err != nil {
		return runs.Run{}, err
	}
	check := func(r shownRun) error {
		err := r.run().Check(runs.VerbCancel)
		if err != nil && m.leftOver(ctx, r) {
			return nil
		}
		return err
	}
	if err := m.cancel(ctx, l.number, check); err != nil {
		return runs.Run{}, err
	}
	return m.store.Get(ctx, ref)
}

// cancel ends a run if check allows it.
func (m *Manager) cancel(ctx context.Context, number int64, check func(shownRun) error) error {
	if err := m.cancelAs(ctx, number, check, false); err != nil {
		return err
	}
	if l, err := m.store.load(number); err == nil && l.created.Parent > 0 {
		if err := m.endFleet(ctx, l.created.Parent); err != nil && !errors.Is(err, runs.ErrNotFound) {
			m.log("what became of a fleet cannot be recorded", l.created.Parent, err)
		}
	}
	return nil
}

// cancelAs is cancel. Within a fleet it works even if the manager is closed.
func (m *Manager) cancelAs(ctx context.Context, number int64, check func(shownRun) error, within bool) error {
	for asked := false; ; asked = true {
		l, err := m.store.look(number)
		switch {
		case err != nil:
			return err
		case l.foreign:
			return fmt.Errorf("run %d: %w", number, runs.ErrForeign)
		case asked && l.status.Ended():
			return nil
		}
		if !l.dead || l.status == runs.Created {
			if err := check(l.shownRun); err != nil {
				return err
			}
		}
		if s := m.session(number); s != nil {
			if err := s.cancel(m.host.User); err != nil && !errors.Is(err, os.ErrClosed) { // otherwise it has just ended
				return err
			}
			select {
			case <-s.over:
				continue // it may wait now; a run that is being canceled does not wait
			case <-ctx.Done():
				return requestedOnly(ctx)
			}
		}
		again, err := false, error(runs.ErrBusy)
		if !l.status.Active() || l.dead { // otherwise its lock is held
			again, err = m.cancelOwned(ctx, number, check, within)
		}
		if errors.Is(err, runs.ErrBusy) {
			again, err = true, m.ask(ctx, l)
		}
		if err != nil || !again {
			return err
		}
	}
}

func requestedOnly(ctx context.Context) error {
	return fmt.Errorf("cancel requested: %w", context.Cause(ctx))
}

// cancelOwned cancels a run that no process works on.
func (m *Manager) cancelOwned(ctx context.Context, number int64, check func(shownRun) error,
	within bool) (again bool, err error) {
	release, err := m.claimAs(ctx, number, within)
	if err != nil {
		return false, err
	}
	defer release()
	if m.session(number) != nil {
		return true, nil
	}
	w, err := m.store.own(number)
	if err != nil {
		return false, err
	}
	if w.status().Active() {
		err = m.settle(ctx, w, false)
	}
	if err == nil && w.status() == runs.Canceled {
		return false, w.close() // its process had received a cancel before it died
	}
	if err == nil {
		w.state(func(f *folded) { err = check(shownRun{folded: f, number: number}) })
	}
	if err == nil {
		err = w.append(&record{Kind: kindCancel, Cancel: &cancel{User: m.host.User}})
	}
	if err == nil {
		by := &canceledBy{m.host.User}
		r := &record{Kind: kindEnd, Status: runs.Canceled, Reason: by.Error(), End: &end{Child: w.childEnd(nil, by)}}
		var spec *fleetTargets
		w.state(func(f *folded) { spec = f.created.Fleet })
		if spec != nil {
			r, err = m.cancelChildren(ctx, w, *spec, by)
		}
		if err == nil {
			err = w.append(r)
		}
	}
	return false, also(err, w.close())
}

// ask requests the cancel of a run that another process works on, and waits until that process releases it. By then the
// run may have ended, or wait, or have another owner, or none. If the run is only being looked at, no request is
// written.
func (m *Manager) ask(ctx context.Context, l *loaded) (err error) {
	name := ""
	if l.takes > 0 && l.status.Active() {
		name, err = m.store.writeRequest(l.number, &request{
			Run: l.created.ID, Takes: l.takes, Verb: runs.VerbCancel, User: m.host.User, Time: m.store.now().UTC(),
		})
		if err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return requestedOnly(ctx)
		case <-time.After(effectWait):
		}
		now, err := m.store.look(l.number)
		switch {
		case err != nil && !errors.Is(err, errNoRun):
			return err
		case err == nil && now.takes == l.takes && now.status.Active() && !now.dead:
			continue
		case name != "":
			return disk.UnlessAbsent(m.store.d.Remove(name))
		}
		return nil
	}
}
