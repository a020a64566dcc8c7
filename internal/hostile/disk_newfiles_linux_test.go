package hostile_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// makeFiles makes files and directories in every way.
func makeFiles(t *testing.T, dir string) *millrace.Result {
	t.Helper()
	res, err := host().Run(t.Context(), openDir(t, dir), decoded(t,
		act("create", obj{"paths": []string{"d/created", "d/sub/deep/created"}, "content": "x"}),
		act("copy", obj{"files": []string{"source"}, "to": "d/copied"}, id("c")),
		editFile("d/edited", "needle", "pin", id("e"))))
	must(t, err)
	return res
}

// list is an access control list in the kernel's format: a named user may read, only the owner may do more.
func list(uid uint32, perm uint16) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{0x01, 7, ^uint32(0)}, {0x02, perm, uid}, {0x04, 0, ^uint32(0)}, {0x10, 5, ^uint32(0)}, {0x20, 0, ^uint32(0)}} {
		out = binary.LittleEndian.AppendUint16(out, e.tag)
		out = binary.LittleEndian.AppendUint16(out, e.perm)
		out = binary.LittleEndian.AppendUint32(out, e.id)
	}
	return out
}

// TestHostile_new_files_have_the_access_list_of_their_directory has lists for new files on the root, on a directory, or
// on both. New files must have the list of their directory, as if they were made there, and never the list of the root.
func TestHostile_new_files_have_the_access_list_of_their_directory(t *testing.T) {
	t.Parallel()
	const ofNew, ofFile = "system.posix_acl_default", "system.posix_acl_access"
	for _, where := range []string{"root", "d", "both", "none"} {
		for _, fast := range []bool{true, false} {
			t.Run(fmt.Sprint(where, " ", fast), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				plantDir(t, dir, "source=secret", "d/edited=the needle")
				must(t, os.Chmod(filepath.Join(dir, "source"), 0o640))
				if where == "root" || where == "both" {
					if err := unix.Setxattr(dir, ofNew, list(1234, 7), 0); err != nil {
						t.Skip("this file system has no access control lists: ", err)
					}
				}
				if where == "d" || where == "both" {
					if err := unix.Setxattr(filepath.Join(dir, "d"), ofNew, list(4321, 4), 0); err != nil {
						t.Skip("this file system has no access control lists: ", err)
					}
				}
				if fast {
					makeFiles(t, dir)
				} else {
					_, err := host().Run(t.Context(), errorfs.Wrap(openDir(t, dir), nil), altering(
						put("d/created", "x"), put("d/sub/deep/created", "x"), put("d/copied", "x"), put("d/edited", "y")))
					must(t, err)
				}
				must(t, os.WriteFile(filepath.Join(dir, "d/natural"), nil, 0o644))
				for _, name := range []string{"d/created", "d/sub/deep/created", "d/copied", "d/sub", "d/sub/deep", "d/edited"} {
					full := filepath.Join(dir, name)
					got := make([]byte, 256)
					n, err := unix.Getxattr(full, ofFile, got)
					got = got[:max(n, 0)]
					var st unix.Stat_t
					must(t, unix.Stat(full, &st))
					switch {
					case (where == "root" || where == "none" || name == "d/edited") && err == nil:
						t.Errorf("%s has a list: %x", name, got)
					case (where == "d" || where == "both") && name != "d/edited" &&
						(len(got) < 16 || binary.LittleEndian.Uint32(got[4+8+4:]) != 4321 || st.Mode&0o7 != 0):
						t.Errorf("%s does not have the list of its directory: %x, mode %o, %v", name, got, st.Mode, err)
					}
				}
			})
		}
	}
}

// TestHostile_the_umask_of_the_process_holds makes files and directories in a process with a strict umask. Other users
// have no access to them.
func TestHostile_the_umask_of_the_process_holds(t *testing.T) {
	t.Parallel()
	const job = "MILLRACE_UMASK_JOB"
	if dir := os.Getenv(job); dir != "" {
		makeFiles(t, dir)
		return
	}
	dir := t.TempDir()
	plantDir(t, dir, "source=public", "d/edited=the needle")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `umask 077; exec "$0" -test.run='^TestHostile_the_umask_of_the_process_holds$'`, os.Args[0])
	cmd.Env = append(os.Environ(), job+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]string{
		"d/created": "-rw-------", "d/copied": "-rw-------", "d/sub": "drwx------", "d/sub/deep": "drwx------",
		"d/sub/deep/created": "-rw-------", "d/edited": "-rw-r--r--", "source": "-rw-r--r--",
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if is := strings.TrimSpace(info.Mode().String()); is != want {
			t.Errorf("%s is %s, want %s", name, is, want)
		}
	}
}
