package scratch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Root may read and write everything, so the tests run again as a user for whom modes count.
func TestTree_asNobody(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the tests already run as a user for whom modes count")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody") // the directory of t has parents that are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "own")
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "scratch.test"), program, 0o755), os.Mkdir(own, 0o700),
		os.Chown(own, nobody, nobody),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "scratch.test"), "-test.short",
		"-test.run=TestTree|TestProperty")
	cmd.Dir = own
	cmd.Env = append(os.Environ(), "TMPDIR="+own, "HOME="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
