package rundir

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// An owner obeys only requests signed with this user's key: requests that a stranger has written, that are for another
// run, or for an earlier owner, are ignored.
func TestRequests(t *testing.T) {
	t.Parallel()
	fsys := fstest.OpenRoot(t, t.TempDir())
	s := openStore(t, fsys, Options{})
	w := createRun(t, s, twoSteps())
	defer w.close()
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	own := &session{m: &Manager{store: s}, w: w}
	if own.requested() != nil {
		t.Fatal("requested, and nothing is there")
	}
	id := w.run.created.ID
	whole := request{Run: id, Takes: 1, Verb: runs.VerbCancel, User: "bob", Time: began}
	write := func(by *Store, change func(r *request)) string {
		t.Helper()
		r := whole
		change(&r)
		name, err := by.writeRequest(1, &r)
		fstest.Must(t, err)
		return name
	}
	stranger := openStore(t, fsys, Options{Key: []byte(strings.Repeat("other", 8))})
	write(stranger, func(*request) {})
	write(s, func(r *request) { r.Run = "20250213_120000_0123456789" })
	write(s, func(r *request) { r.Takes = 0 })
	write(s, func(r *request) { r.Verb = runs.VerbRetry })
	noise := s.run(1, controlDir, "noise.json")
	fstest.Must(t, afero.WriteFile(fsys, noise, []byte(strings.Repeat("noise ", 2_000)), 0o600))
	fstest.Must(t, fsys.Mkdir(s.run(1, controlDir, "dir.json"), 0o700))
	fstest.Must(t, fsys.SymlinkIfPossible("../run", s.run(1, controlDir, "link.json")))
	if r := own.requested(); r != nil {
		t.Errorf("it has heard %+v", r)
	}
	name := write(s, func(*request) {})
	half, err := afero.ReadFile(fsys, name)
	fstest.Must(t, err)
	fstest.Must(t, afero.WriteFile(fsys, name, half[:len(half)-2], 0o600))
	if r := own.requested(); r != nil {
		t.Errorf("it has heard half of %+v", r)
	}
	write(s, func(*request) {})
	if r := own.requested(); r == nil || r.User != "bob" {
		t.Errorf("it has not heard what is for it: %+v", r)
	}
	if own.requested() != nil {
		t.Error("it hears it twice")
	}
	if _, err := fsys.Stat(noise); err != nil {
		t.Error("it has touched what is not for it:", err)
	}
	fstest.Must(t, fsys.RemoveAll(s.run(1, controlDir)))
	fstest.Must(t, fsys.SymlinkIfPossible("..", s.run(1, controlDir)))
	if own.requested() != nil {
		t.Error("it reads a directory by a link")
	}
	if _, err := s.writeRequest(1, &whole); err == nil || os.IsNotExist(err) {
		t.Error("a request is written through a link:", err)
	}
}

// With any number of files from a stranger, each look reads a hundred, and the request is found.
func TestRequests_many(t *testing.T) {
	t.Parallel()
	fsys := fstest.OpenRoot(t, t.TempDir())
	s := openStore(t, fsys, Options{})
	w := createRun(t, s, twoSteps())
	defer w.close()
	fstest.Must(t, w.append(&record{Kind: kindTake, Status: runs.Pending, Take: w.me()}))
	own := &session{m: &Manager{store: s}, w: w}
	_, err := s.writeRequest(1, &request{Run: w.run.created.ID, Takes: 1, Verb: runs.VerbCancel, User: "bob", Time: began})
	fstest.Must(t, err)
	for i := range 450 {
		// The files are on both sides of the request, and not all look like a request.
		name := s.run(1, controlDir, fmt.Sprintf("%c%03d%s", "0z"[i%2], i, []string{requestEnd, requestEnd, ""}[i%3]))
		fstest.Must(t, afero.WriteFile(fsys, name, []byte("noise"), 0o600))
	}
	looks := 0
	for r := (*request)(nil); r == nil && looks < 4; looks++ {
		r = own.requested()
		if r == nil && looks == 3 {
			t.Error("it is not heard")
		}
	}
	if looks < 2 {
		t.Errorf("it is heard at look %d: more is read at once than there should be", looks)
	}
}
