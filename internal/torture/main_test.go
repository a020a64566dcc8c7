package torture

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// roleVariable makes the test binary a process that the tests start; its arguments are the arguments of the role.
const roleVariable = "MILLRACE_TORTURE_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(role string, args []string) error {
	switch role {
	case "generations":
		return playGenerations(args)
	case "naive":
		return playNaive(args)
	case "half":
		return playHalf(args)
	case "until":
		return playUntil(args)
	case "recover":
		return playRecover(args)
	case "restore":
		return playRestore(args)
	case "count":
		return playCount(args)
	case "large":
		return playLarge(args)
	}
	return fmt.Errorf("no such role")
}

// process is a test binary in a role. It prints its progress in lines.
type process struct {
	cmd    *exec.Cmd
	in     io.Writer
	out    *bufio.Scanner
	stderr strings.Builder
	stop   *time.Timer
}

// patience is how long a process may run before it counts as hanging.
const patience = 10 * time.Minute

func start(role string, args ...string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(exe, args...)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stop = time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	return p, nil
}

// next returns the next line of the process, and false after the last line.
func (p *process) next() (string, bool) {
	ok := p.out.Scan()
	return p.out.Text(), ok
}

// await reads until the process has printed the line that many times, and passes all lines to see. It returns false if
// the process ended before.
func (p *process) await(line string, times int, see func(string)) bool {
	for times > 0 {
		said, ok := p.next()
		if !ok {
			return false
		}
		see(said)
		if said == line {
			times--
		}
	}
	return true
}

// kill kills the process, without any chance for it to react, and passes its remaining output to see.
func (p *process) kill(see func(string)) {
	_ = p.cmd.Process.Kill() // it may have ended already
	_ = p.drain(see)
}

// drain waits for the end of the process. Any end except a normal exit is an error.
func (p *process) drain(see func(string)) error {
	for {
		said, ok := p.next()
		if !ok {
			break
		}
		see(said)
	}
	err := p.cmd.Wait()
	if !p.stop.Stop() {
		return fmt.Errorf("still there after %v: killed", patience)
	}
	if err != nil && p.stderr.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	return err
}

// say prints a line at once.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// open opens the tree in a directory: with fsutil for "root", with afero for "base".
func open(kind, dir string) (afero.Fs, error) {
	if kind == "base" {
		return afero.NewBasePathFs(afero.NewOsFs(), dir), nil
	}
	return rootfs.Open(dir)
}
