package fsutil_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// snapshot returns all that is in a file system as text: names, kinds, modes, times of files, contents.
func snapshot(t interface {
	Helper()
	Fatal(...any)
}, fsys afero.Fs, root string) string {
	t.Helper()
	var b strings.Builder
	err := afero.Walk(fsys, root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", name, info.Mode())
		if info.Mode().IsRegular() {
			data, err := afero.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime().UnixNano(), data)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(t *testing.T, fsys afero.Fs, name, data string) {
	t.Helper()
	if err := afero.WriteFile(fsys, name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func names(t *testing.T, fsys afero.Fs, dir string) []string {
	t.Helper()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func TestMemFs_worlds(t *testing.T) {
	plain := afero.NewMemMapFs()
	write(t, plain, "/src/a", "absolute a")
	write(t, plain, "src/b", "relative b")
	write(t, plain, "/only/c", "c")
	write(t, plain, "both", "relative")
	write(t, plain, "/both", "absolute")
	fsys := raise(t, plain)

	for name, want := range map[string]string{
		"src/a": "absolute a", "/src/a": "absolute a", "src/b": "relative b", "/src/b": "relative b", "both": "relative",
		"/both": "relative",
	} {
		if got := read(t, fsys, name); got != want {
			t.Errorf("%q has %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"both", "only", "src"}, names(t, fsys, ".")); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names(t, fsys, "src")); diff != "" {
		t.Errorf("src (-want +got):\n%s", diff)
	}

	// What is made is found by the caller beside what was there.
	write(t, fsys, "only/new", "1")
	if got := read(t, plain, "/only/new"); got != "1" {
		t.Errorf("/only/new has %q", got)
	}
	write(t, fsys, "src/a", "changed")
	if got := read(t, plain, "/src/a"); got != "changed" {
		t.Errorf("/src/a has %q", got)
	}

	// A directory of both worlds is one, and moves as one.
	if err := fsys.Rename("src", "only/moved"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, plain, "/only/moved/a") + read(t, plain, "/only/moved/b"); got != "changedrelative b" {
		t.Errorf("moved files have %q", got)
	}
	for _, old := range []string{"src", "/src", "src/b", "/src/a"} {
		if _, err := plain.Stat(old); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is still there: %v", old, err)
		}
	}
	// What is removed is gone, and does not uncover the other one.
	if err := fsys.Remove("both"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Stat("both"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file is still there: %v", err)
	}
	if err := fsys.Rename("only", "src"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.RemoveAll("src"); err != nil {
		t.Fatal(err)
	}
	if left := names(t, plain, "/"); len(left) > 0 {
		t.Errorf("left in the MemMapFs: %q", left)
	}
}

func TestMemFs_placeInRoot(t *testing.T) {
	for _, test := range []struct {
		there []string
		want  string
	}{
		{nil, "new"}, {[]string{"a"}, "new"}, {[]string{"/a"}, "/new"}, {[]string{"/a", "/b/c"}, "/new"}, {[]string{"a", "/b"}, "new"},
	} {
		plain := afero.NewMemMapFs()
		for _, name := range test.there {
			write(t, plain, name, "x")
		}
		fsys := raise(t, plain)
		write(t, fsys, "new", "made")
		if got := read(t, plain, test.want); got != "made" {
			t.Errorf("beside %q: %q has %q", test.there, test.want, got)
		}
	}
}

func TestMemFs_keepsModesAndTimes(t *testing.T) {
	plain := afero.NewMemMapFs()
	when := time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)
	if err := afero.WriteFile(plain, "/d/f", []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := plain.Chtimes("/d/f", when, when); err != nil {
		t.Fatal(err)
	}
	fsys := raise(t, plain)
	read(t, fsys, "d/f")
	f, err := fsys.OpenFile("d/f", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := fsys.Rename("d", "e"); err != nil {
		t.Fatal(err)
	}
	info, err := plain.Stat("/e/f")
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(when) || info.Mode() != 0o640 {
		t.Errorf("mode %v, time %v, want %v, %v", info.Mode(), info.ModTime(), fs.FileMode(0o640), when)
	}
}

// Files whose directory was removed from the MemMapFs directly must not be seen, and not make it panic.
func TestMemFs_orphans(t *testing.T) {
	plain := afero.NewMemMapFs()
	write(t, plain, "/d/sub/f", "x")
	if err := plain.Remove("/d/sub"); err != nil {
		t.Fatal(err)
	}
	fsys := raise(t, plain)
	if _, err := fsys.Stat("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat = %v, want fs.ErrNotExist", err)
	}
	if err := fsys.Remove("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove = %v, want fs.ErrNotExist", err)
	}
	if err := fsys.RemoveAll("d"); err != nil {
		t.Error(err)
	}
	if err := fsys.MkdirAll("d/sub", 0o755); err != nil {
		t.Error(err)
	}
	if _, err := fsys.Stat("d/sub/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat = %v after RemoveAll, want fs.ErrNotExist", err)
	}
}

func TestMemFs_tooLarge(t *testing.T) {
	fsys := raise(t, afero.NewMemMapFs())
	f, err := fsys.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 50); err == nil {
		t.Error("Truncate to 1 PiB succeeded")
	}
	if _, err := f.WriteAt([]byte("x"), 1<<50); err == nil {
		t.Error("WriteAt at 1 PiB succeeded")
	}
}

// exchangeTest is about every file system that claims to exchange.
func exchangeTest(t *testing.T, fsys afero.Fs) {
	x := fsys.(fsutil.Exchanger)
	if err := fsys.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, fsys, "f", "file")
	write(t, fsys, "g", "other")
	write(t, fsys, "d/sub/in", "inside")
	exchange := func(a, b string) {
		t.Helper()
		if err := x.Exchange(a, b); errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	exchange("f", "g")
	if a, b := read(t, fsys, "f"), read(t, fsys, "g"); a != "other" || b != "file" {
		t.Errorf("after the exchange %q, %q", a, b)
	}
	exchange("f", "f")
	exchange("f", "d")
	if a, b := read(t, fsys, "d"), read(t, fsys, "f/sub/in"); a != "other" || b != "inside" {
		t.Errorf("after the exchange of file and directory %q, %q", a, b)
	}
	exchange("f/sub/in", "d")
	if a, b := read(t, fsys, "d"), read(t, fsys, "f/sub/in"); a != "inside" || b != "other" {
		t.Errorf("after the exchange between directories %q, %q", a, b)
	}
	for pair, want := range map[[2]string]func(error) bool{
		{"f", "none"}: fstest.IsNotExist, {"none", "f"}: fstest.IsNotExist, {"f", "f/sub"}: fstest.IsInvalid,
		{"f/sub", "f"}: fstest.IsInvalid, {"f", "d/x"}: fstest.IsNotDir, {"../f", "d"}: fstest.IsEscape,
	} {
		if err := x.Exchange(pair[0], pair[1]); err == nil || !want(err) || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Exchange(%q) = %v", pair, err)
		}
	}
	if diff := cmp.Diff([]string{"d", "f", "g"}, names(t, fsys, ".")); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func noReplaceTest(t *testing.T, fsys afero.Fs) {
	n := fsys.(fsutil.NoReplacer)
	write(t, fsys, "f", "1")
	write(t, fsys, "g", "2")
	if err := fsys.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"g", "d"} {
		if err := n.RenameNoReplace("f", to); errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		} else if !errors.Is(err, fs.ErrExist) {
			t.Errorf("RenameNoReplace onto %q = %v, want fs.ErrExist", to, err)
		}
	}
	if err := n.RenameNoReplace("f", "d/f"); err != nil {
		t.Fatal(err)
	}
	if err := n.RenameNoReplace("f", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("RenameNoReplace of nothing = %v", err)
	}
	if err := n.RenameNoReplace("d", "d/e"); !fstest.IsInvalid(err) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("RenameNoReplace into itself = %v", err)
	}
	if a, b := read(t, fsys, "d/f"), read(t, fsys, "g"); a != "1" || b != "2" {
		t.Errorf("files have %q, %q", a, b)
	}
}

func lockTest(t *testing.T, open func() afero.Fs) {
	a, b := open(), open()
	before := names(t, a, ".")
	lock, err := a.(fsutil.Locker).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fsys := range []afero.Fs{a, b} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := fsys.(fsutil.Locker).Lock(ctx)
		cancel()
		if !errors.Is(err, fsutil.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second Lock = %v, want ErrLocked", err)
		}
		if diff := cmp.Diff(before, names(t, fsys, ".")); diff != "" {
			t.Errorf("the lock shows (-want +got):\n%s", diff)
		}
	}
	write(t, a, "f", "written under the lock")

	got := make(chan error)
	go func() {
		second, err := b.(fsutil.Locker).Lock(t.Context())
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("the second Lock returned while the first was held: %v", err)
	case <-time.After(5 * time.Millisecond):
	}
	for range 2 { // once is enough, twice is no harm
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	third, err := a.(fsutil.Locker).Lock(canceled)
	if err != nil {
		t.Fatalf("a free lock with a context that is done: %v", err)
	}
	third.Close()
}

func TestMemFs_Exchange(t *testing.T) {
	exchangeTest(t, raise(t, afero.NewMemMapFs()))
	plain := afero.NewMemMapFs()
	write(t, plain, "/a/1", "absolute")
	write(t, plain, "a/2", "relative")
	write(t, plain, "b/3", "b")
	fsys := raise(t, plain)
	if err := fsys.(fsutil.Exchanger).Exchange("a", "b"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, "b/1") + read(t, fsys, "b/2") + read(t, fsys, "a/3"); got != "absoluterelativeb" {
		t.Errorf("after the exchange of directories of two worlds %q", got)
	}
}

func TestMemFs_RenameNoReplace(t *testing.T) { noReplaceTest(t, raise(t, afero.NewMemMapFs())) }

func TestMemFs_Lock(t *testing.T) {
	plain := afero.NewMemMapFs()
	lockTest(t, func() afero.Fs { return raise(t, plain) })
	if diff := cmp.Diff([]string{"f"}, names(t, plain, "/")); diff != "" {
		t.Errorf("left in the MemMapFs (-want +got):\n%s", diff)
	}
}

// One MemMapFs by itself panics or deadlocks under this.
func TestMemFs_concurrent(t *testing.T) {
	fsys := raise(t, afero.NewMemMapFs())
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			name := func() string { return fmt.Sprintf("%c/%c", 'a'+r.IntN(3), 'x'+r.IntN(3)) }
			for range 500 {
				switch r.IntN(7) {
				case 0:
					_ = fsys.Mkdir(path.Dir(name()), 0o755)
				case 1:
					_ = afero.WriteFile(fsys, name(), []byte("data"), 0o644)
				case 2:
					_ = fsys.Rename(name(), name())
				case 3:
					_ = fsys.Rename(path.Dir(name()), path.Dir(name()))
				case 4:
					_ = fsys.RemoveAll(path.Dir(name()))
				case 5:
					_ = fsys.Remove(name())
				case 6:
					if data, err := afero.ReadFile(fsys, name()); err == nil && len(data) > 4 {
						t.Errorf("read %q", data)
					}
				}
			}
		})
	}
	wg.Wait()
}

// errorKind names what matters of an error, the same for every backend.
func errorKind(err error) string {
	for _, k := range []struct {
		name string
		is   func(error) bool
	}{
		{"not empty", fstest.IsNotEmpty}, {"not exist", fstest.IsNotExist}, {"exist", fstest.IsExist},
		{"not dir", fstest.IsNotDir}, {"is dir", fstest.IsDir}, {"invalid", fstest.IsInvalid}, {"escape", fstest.IsEscape},
	} {
		if err != nil && k.is(err) {
			return k.name
		}
	}
	if err != nil {
		return "other"
	}
	return "ok"
}

// Property: whatever is done to it, a raised MemMapFs says and holds what a directory of the system does.
func TestMemFs_likeTheSystem(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		sub := fmt.Sprintf("%s/%d", dir, runs)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(sub)
		system, err := fsutil.OpenRoot(sub)
		if err != nil {
			t.Fatal(err)
		}
		defer system.Close()
		plain := afero.NewMemMapFs()
		if rapid.Bool().Draw(t, "absolute") {
			if err := afero.WriteFile(plain, "/first", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := afero.WriteFile(system, "first", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		memory, err := fsutil.Raise(plain)
		if err != nil {
			t.Fatal(err)
		}
		part := rapid.SampledFrom([]string{"a", "b", "ab"})
		name := rapid.Custom(func(t *rapid.T) string {
			return path.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts")...)
		})
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			op := rapid.SampledFrom(strings.Fields("write append mkdir mkdirall remove removeall rename exchange move chmod")).Draw(t, "op")
			a, b := name.Draw(t, "a"), name.Draw(t, "b")
			do := func(fsys afero.Fs) error {
				switch op {
				case "write":
					return afero.WriteFile(fsys, a, []byte("data of "+b), 0o644)
				case "append":
					f, err := fsys.OpenFile(a, os.O_WRONLY|os.O_APPEND, 0)
					if err != nil {
						return err
					}
					_, err = f.WriteString("+" + b)
					return errors.Join(err, f.Close())
				case "mkdir":
					return fsys.Mkdir(a, 0o755)
				case "mkdirall":
					return fsys.MkdirAll(a, 0o755)
				case "remove":
					return fsys.Remove(a)
				case "removeall":
					return fsys.RemoveAll(a)
				case "exchange":
					if x, ok := fsys.(fsutil.Exchanger); ok {
						return x.Exchange(a, b)
					}
					return nil
				case "move":
					if x, ok := fsys.(fsutil.NoReplacer); ok {
						return x.RenameNoReplace(a, b)
					}
					return nil
				case "chmod":
					return fsys.Chmod(a, 0o700)
				}
				return fsys.Rename(a, b)
			}
			// Which of several things wrong with two names is told may differ.
			want, got := errorKind(do(system)), errorKind(do(memory))
			two := op == "rename" || op == "move" || op == "exchange"
			if want != got && (!two || (want == "ok") != (got == "ok")) {
				t.Fatalf("%s %s %s: the system says %q, the memory %q", op, a, b, want, got)
			}
		}
		want, got := strip(snapshot(t, system, ".")), strip(snapshot(t, memory, "."))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("trees (-system +memory):\n%s", diff)
		}
	})
}

// strip takes the times and the root out of a snapshot.
func strip(snapshot string) []string {
	var lines []string
	for line := range strings.Lines(snapshot) {
		fields := strings.SplitN(line, " ", 4)
		if fields[0] != "." {
			lines = append(lines, fields[0]+" "+fields[1]+" "+strings.Join(fields[min(3, len(fields)):], " "))
		}
	}
	return lines
}
