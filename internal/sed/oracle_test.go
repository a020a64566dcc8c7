package sed_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/sed"
)

// oracle is the sed binary.
type oracle struct {
	name string
	dir  string
}

// newOracle skips the test without GNU sed.
func newOracle(t testing.TB) *oracle {
	t.Helper()
	name, err := exec.LookPath("sed")
	if err != nil {
		t.Skip("this machine has no sed to compare with")
	}
	out, err := exec.CommandContext(t.Context(), name, "--version").Output()
	if err != nil || !bytes.Contains(out, []byte("GNU sed")) {
		t.Skip("the sed on this machine is not GNU sed")
	}
	if v := strings.Fields(string(out)); len(v) < 4 || v[3] != "4.9" {
		t.Skipf("compared with GNU sed 4.9 only, and this is %.30q", out)
	}
	dir, err := os.MkdirTemp("/dev/shm", "sed")
	if err != nil {
		return &oracle{name, t.TempDir()}
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &oracle{name, dir}
}

var errHangs = errors.New("sed does not end")

// run runs sed over the inputs, each as a file, and returns the results. ok is false if sed refuses.
func (o *oracle) run(t testing.TB, scripts []string, opts sed.Options, inputs []string) (out []string, ok bool, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	args := []string{"-i", "--sandbox"}
	if opts.Syntax == sed.ERE {
		args = append(args, "-E")
	}
	if opts.Quiet {
		args = append(args, "-n")
	}
	for _, s := range scripts {
		args = append(args, "-e", s)
	}
	args = append(args, "--")
	for i, in := range inputs {
		name := filepath.Join(o.dir, strconv.Itoa(i))
		if err := os.WriteFile(name, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	cmd := exec.CommandContext(ctx, o.name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if err := cmd.Run(); ctx.Err() != nil {
		return nil, false, errHangs
	} else if err != nil {
		return nil, false, nil
	}
	for i := range inputs {
		data, err := os.ReadFile(filepath.Join(o.dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out, true, nil
}

// ours runs this package over the inputs. unsupported means that it refused a script on purpose.
func ours(t testing.TB, scripts []string, opts sed.Options, inputs []string) (out []string, ok, unsupported bool) {
	t.Helper()
	s, err := sed.Parse(scripts, opts)
	if err != nil {
		e, ok := errors.AsType[*sed.Error](err)
		if !ok {
			t.Fatalf("%q: %T %v", scripts, err, err)
		}
		return nil, false, e.Unsupported
	}
	for _, in := range inputs {
		got, _, err := apply(t, s, []byte(in))
		if e, ok := errors.AsType[*sed.Error](err); ok {
			return nil, false, e.Unsupported
		} else if err != nil {
			t.Fatalf("%q on %q: %v", scripts, in, err)
		}
		out = append(out, string(got))
	}
	return out, true, false
}
