package mounts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Kind is a kind of file system.
type Kind struct {
	// Name is the name in the documentation.
	Name string
	// Package is the Debian package with its program, "" if the kernel is enough.
	Package string
	// Layered means that it shows an upper directory over a lower directory. Existing files must be in the lower
	// directory.
	Layered bool
	// NoModes means that it keeps no permissions, Seconds that it keeps times only to the second.
	NoModes, Seconds bool
	// Revives means that after the rename of a directory, a file below its old name in the lower layer becomes visible
	// again.
	Revives bool

	needs []string // programs
	mount func(m *made) error
}

// made is the material of a mount: a directory for its parts, and the directory where it is mounted.
type made struct {
	t    testing.TB
	base string
	at   string
}

// dir makes a directory next to the mount.
func (m *made) dir(name string) string {
	dir := filepath.Join(m.base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// image makes a file of that many megabytes for a file system.
func (m *made) image(megabytes int64) string {
	image := filepath.Join(m.base, "image")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, megabytes<<20)); err != nil {
		m.t.Fatal(err)
	}
	return image
}

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		{Name: "ext4", Package: "e2fsprogs", needs: []string{"mkfs.ext4"}, mount: loop(64, "", "mkfs.ext4", "-q", "-F")},
		{Name: "xfs", Package: "xfsprogs", needs: []string{"mkfs.xfs"}, mount: loop(300, "", "mkfs.xfs", "-q", "-f", "-K")},
		{Name: "btrfs", Package: "btrfs-progs", needs: []string{"mkfs.btrfs"}, mount: loop(128, "", "mkfs.btrfs", "-q", "-f", "-K")},
		{Name: "tmpfs", mount: func(m *made) error { return command("mount", "-t", "tmpfs", "none", m.at) }},
		{Name: "overlayfs", Layered: true, mount: func(m *made) error {
			return command("mount", "-t", "overlay", "none", m.at, "-o",
				fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", m.dir("lower"), m.dir("upper"), m.dir("work")))
		}},
		{Name: "vfat", NoModes: true, Seconds: true, Package: "dosfstools", needs: []string{"mkfs.vfat"}, mount: loop(64, "vfat", "mkfs.vfat")},
		{Name: "exFAT", NoModes: true, Package: "exfatprogs", needs: []string{"mkfs.exfat"}, mount: loop(64, "exfat", "mkfs.exfat")},
		{Name: "exfat-fuse", NoModes: true, Package: "exfat-fuse exfatprogs", needs: []string{"mkfs.exfat", "mount.exfat-fuse"}, mount: func(m *made) error {
			return fuseDevice(m, 64, []string{"mkfs.exfat"}, "mount.exfat-fuse")
		}},
		{Name: "ntfs-3g", NoModes: true, Package: "ntfs-3g", needs: []string{"mkntfs", "ntfs-3g"}, mount: func(m *made) error {
			return fuseImage(m, 64, []string{"mkntfs", "-q", "-Q", "-F"}, "ntfs-3g")
		}},
		{Name: "sshfs", Package: "sshfs openssh-sftp-server", needs: []string{"sshfs", sftpServer}, mount: sshfs()},
		{
			Name: "sshfs without hard links", Package: "sshfs openssh-sftp-server",
			needs: []string{"sshfs", sftpServer}, mount: sshfs("-o", "disable_hardlink"),
		},
		{Name: "bindfs", Package: "bindfs", needs: []string{"bindfs"}, mount: func(m *made) error { return command("bindfs", m.dir("source"), m.at) }},
		{Name: "mergerfs", Package: "mergerfs", needs: []string{"mergerfs"}, mount: func(m *made) error {
			return command("mergerfs", m.dir("one")+":"+m.dir("two"), m.at)
		}},
		{Name: "fuse-overlayfs", Package: "fuse-overlayfs", Layered: true, Revives: true, needs: []string{"fuse-overlayfs"}, mount: func(m *made) error {
			return command("fuse-overlayfs", m.at, "-o",
				fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", m.dir("lower"), m.dir("upper"), m.dir("work")))
		}},
		{Name: "encfs", Seconds: true, Package: "encfs", needs: []string{"encfs"}, mount: func(m *made) error {
			return command("encfs", "--standard", "--extpass", "echo test", m.dir("source"), m.at)
		}},
		{Name: "gocryptfs", Package: "gocryptfs", needs: []string{"gocryptfs"}, mount: func(m *made) error {
			source := m.dir("source")
			err := command("gocryptfs", "-q", "-init", "-scryptn", "10", "-extpass", "echo", "-extpass", "test", source)
			if err == nil {
				err = command("gocryptfs", "-q", "-extpass", "echo", "-extpass", "test", source, m.at)
			}
			return err
		}},
	}
}

const sftpServer = "/usr/lib/openssh/sftp-server"

// loop returns a function that makes a file system of the kernel on a loop device.
func loop(megabytes int64, kind string, mkfs ...string) func(m *made) error {
	return func(m *made) error {
		image := m.image(megabytes)
		if err := command(mkfs[0], append(mkfs[1:], image)...); err != nil {
			return err
		}
		args := []string{"-o", "loop", image, m.at}
		if kind != "" {
			args = append([]string{"-t", kind}, args...)
		}
		return command("mount", args...)
	}
}

// fuseImage makes a file system in a file, which a program serves.
func fuseImage(m *made, megabytes int64, mkfs []string, program string) error {
	image := m.image(megabytes)
	if err := command(mkfs[0], append(mkfs[1:], image)...); err != nil {
		return err
	}
	return command(program, image, m.at)
}

// fuseDevice is fuseImage for a program that needs a device.
func fuseDevice(m *made, megabytes int64, mkfs []string, program string) error {
	image := m.image(megabytes)
	if err := command(mkfs[0], append(mkfs[1:], image)...); err != nil {
		return err
	}
	device, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		return fmt.Errorf("losetup: %w", err)
	}
	name := strings.TrimSpace(string(device))
	m.t.Cleanup(func() { _ = command("losetup", "--detach", name) }) // the kernel waits until the device is not in use
	return command(program, name, m.at)
}

// sshfs connects to a server through two pipes, so it needs neither a network nor a login.
func sshfs(flags ...string) func(m *made) error {
	return func(m *made) error {
		var toServer, toClient [2]*os.File
		for _, pipe := range []*[2]*os.File{&toServer, &toClient} {
			var err error
			if pipe[0], pipe[1], err = os.Pipe(); err != nil {
				return err
			}
			defer pipe[0].Close()
			defer pipe[1].Close()
		}
		server := exec.Command(sftpServer)
		server.Stdin, server.Stdout = toServer[0], toClient[1]
		server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := server.Start(); err != nil {
			return err
		}
		m.t.Cleanup(func() { _ = server.Wait() }) // the server ends with the client
		client := exec.Command("sshfs", append(flags, "-f", "-o", "passive", "test:"+m.dir("source"), m.at)...)
		client.Stdin, client.Stdout = toClient[0], toServer[1]
		if err := client.Start(); err != nil {
			return err
		}
		m.t.Cleanup(func() { _ = client.Wait() }) // the client ends after the unmount
		return m.await()
	}
}

// await waits until a program that serves in the foreground has mounted its file system.
func (m *made) await() error {
	var below, here unix.Stat_t
	for range 500 {
		if err := errors.Join(unix.Stat(m.base, &below), unix.Stat(m.at, &here)); err != nil {
			return err
		}
		if below.Dev != here.Dev {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the file system is not mounted after 5 s")
}

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Millisecond // a server in the background keeps the pipe open
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out.Bytes()))
	}
	return err
}

// Mount is a mounted file system.
type Mount struct {
	kind Kind
	m    made
	mu   sync.Mutex
	n    int
}

// Mount mounts the kind until the end of the test. If that is impossible, it skips the test with the reason. It must
// only be called in a process of [Own].
func (k Kind) Mount(t testing.TB) *Mount {
	t.Helper()
	for _, program := range k.needs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the package %s: %v", k.Package, err)
		}
	}
	made := &Mount{kind: k, m: made{t: t, base: t.TempDir()}}
	if !k.Layered {
		made.m.mount(t, k)
	}
	return made
}

// mount mounts the kind at its directory.
func (m *made) mount(t testing.TB, k Kind) {
	t.Helper()
	m.t, m.at = t, m.dir("mount")
	if err := k.mount(m); err != nil {
		t.Skipf("this machine cannot mount %s: %v", k.Name, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(m.at, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", k.Name, err)
		}
	})
}

// Tree returns a directory of the file system with the files of plant. The argument of plant is the directory to fill,
// which is a different directory if files must come from a lower layer.
func (m *Mount) Tree(t testing.TB, plant func(dir string)) string {
	t.Helper()
	m.mu.Lock()
	m.n++
	name := strconv.Itoa(m.n)
	m.mu.Unlock()
	if m.kind.Layered {
		one := made{t: t, base: filepath.Join(m.m.base, name)}
		plant(one.dir("lower"))
		one.mount(t, m.kind)
		return one.at
	}
	dir := filepath.Join(m.m.at, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	plant(dir)
	return dir
}

// ownVariable is set in a process with its own mount namespace.
const ownVariable = "MILLRACE_TEST_MOUNTS"

// Own reports whether the process has its own mount namespace. If not, it runs the test of that name in another process
// with its own mount namespace, and reports that result. It skips the test if such a process is impossible.
func Own(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownVariable) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount file systems")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var pattern []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+part+"$")
	}
	flags := []string{"-test.v", "-test.run=" + strings.Join(pattern, "/")}
	if testing.Short() {
		flags = append(flags, "-test.short")
	}
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-test.") {
			flags = append(flags, arg) // a flag of the package, such as -update
		}
	}
	cmd := exec.CommandContext(t.Context(), exe, flags...)
	cmd.Env = append(os.Environ(), ownVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second // a server that the process has started may keep the pipe open
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		t.Errorf("a server of a mount keeps running\n%s", out)
	case errors.Is(err, syscall.EPERM):
		t.Skipf("needs a mount namespace: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP: "+t.Name()+" ")):
		t.Skipf("%s", out)
	default:
		t.Logf("%s", out)
	}
	return false
}
