package tty

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// defaultPager shows what does not fit on the screen in pages, and leaves it there at the end.
const defaultPager = "less -FRX"

// Pager returns the command that shows long texts, "" for none: what MILLRACE_PAGER says, else what the user's
// configuration says, else PAGER, else less. A variable or a configuration that is set and empty, or "cat", means none.
func Pager(lookup func(string) (string, bool), configured *string) string {
	command := defaultPager
	if own, ok := lookup("MILLRACE_PAGER"); ok {
		command = own
	} else if configured != nil {
		command = *configured
	} else if common, ok := lookup("PAGER"); ok {
		command = common
	}
	if command = strings.TrimSpace(command); command == "cat" {
		return ""
	}
	return command
}

// Page writes a text to a pager that shows it on out, or to out itself if there is no such program or it fails: write
// is called again then. That the user leaves the pager before the end is not an error.
func Page(command string, out *os.File, write func(io.Writer) error) error {
	cmd := shell(command)
	if cmd == nil {
		return write(out)
	}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = os.Environ()
	// As git does it: a pager without settings of the user shows colours, and ends by itself on a short text.
	for _, v := range [...][2]string{{"LESS", "FRX"}, {"LV", "-c"}} {
		if _, ok := os.LookupEnv(v[0]); !ok {
			cmd.Env = append(cmd.Env, v[0]+"="+v[1])
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return write(out)
	}
	err = write(in)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	_ = in.Close()
	// A pager that has failed has shown nothing, or not all. One that a signal has ended was left by the user.
	if ended, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok && ended.ExitCode() > 0 && err == nil {
		return write(out)
	}
	return err
}

// shell makes a command of a line as it stands in PAGER or EDITOR, with more arguments. It is nil if its program is not
// there. It is not ended with a context: a pager or an editor that is killed leaves the terminal in a mode of its own.
func shell(line string, args ...string) *exec.Cmd {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err == nil && !strings.ContainsAny(line, "\"'`$\\|&;<>()*?~=#") {
		return exec.Command(words[0], append(words[1:], args...)...)
	} else if err != nil && !strings.ContainsAny(words[0], "\"'`$\\=~") {
		return nil
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	return exec.Command("sh", append([]string{"-c", line + ` "$@"`, "sh"}, args...)...)
}

// ErrNoEditor reports that the editor of the user is not there.
var ErrNoEditor = errors.New("there is no editor: set VISUAL or EDITOR")

// Editor returns the command that edits a file: what the user's configuration says, else VISUAL, else EDITOR, else what
// the system has.
func Editor(getenv func(string) string, configured string) string {
	usual := "vi"
	if runtime.GOOS == "windows" {
		usual = "notepad"
	}
	return cmp.Or(configured, getenv("VISUAL"), getenv("EDITOR"), usual)
}

// Edit opens a text in the editor and returns what the user leaves of it. The text is in a file of its own meanwhile,
// which only the user can read.
func Edit(command string, t Terminal, text string) (string, error) {
	f, err := os.CreateTemp("", "millrace-*.diff")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := shell(command, f.Name())
	if cmd == nil {
		return "", ErrNoEditor
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if d, ok := t.(*Device); ok {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = d.in, d.out, d.out
	}
	if err := cmd.Run(); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}
