package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/command"
)

// TestShedsAll: a process that has left its session, its environment and its parent, and has tried to change its
// limits, is found and killed with the command that has left it.
func TestShedsAll(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("calls are not filtered on " + runtime.GOARCH + ", so processes carry no mark")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is missing, which leaves a session")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is missing, whose ulimit has this limit")
	}
	for name, line := range map[string]string{
		"session and environment": "setsid -f env -i /bin/sh loop.sh",
		"twice":                   "setsid -f env -i setsid -f env -i /bin/sh loop.sh",
		"limits":                  "setsid -f env -i bash -c 'ulimit -S -x 7 2>/dev/null; exec sh loop.sh'",
	} {
		p := acting(t)
		p.Allow = []string{"setsid *", "sh *"}
		p.Sandbox = command.Required
		root := t.TempDir()
		write(t, filepath.Join(root, "loop.sh"), "exec >/dev/null 2>&1 </dev/null\n: >there\nwhile [ -e there ]; do echo x >>beat; done\n")
		c := script(line + "; while [ ! -e there ]; do sleep 0.01; done")
		c.Root = root
		if _, err := p.Run(t.Context(), c); err != nil {
			if strings.Contains(err.Error(), "sandbox") {
				t.Skipf("this system has no sandbox: %v", err)
			}
			t.Errorf("%s: %v", name, err)
		}
		beats := func() int64 {
			info, err := os.Stat(filepath.Join(root, "beat"))
			if err != nil {
				return 0
			}
			return info.Size()
		}
		before := beats()
		time.Sleep(200 * time.Millisecond) // if it lived, it would continue
		if after := beats(); after != before {
			t.Errorf("%s: it goes on: %d bytes, then %d", name, before, after)
			_ = os.Remove(filepath.Join(root, "there")) // this ends its loop
		}
	}
}
