package tty

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// defaultPager shows long texts in pages, and leaves the text on the screen at the end.
const defaultPager = "less -FRX"

// Pager returns the command that shows long texts, "" for none: from MILLRACE_PAGER, the user's configuration, PAGER,
// or less, in this order. A variable or a configuration that is empty, or "cat", means none.
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

// Page writes a text to a pager that shows it on out. If the pager does not exist or fails, it calls write again for
// out. It is not an error if the user leaves the pager early.
func Page(command string, out *os.File, write func(io.Writer) error) error {
	cmd := shell(command)
	if cmd == nil {
		return write(out)
	}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = os.Environ()
	// As in git: a pager without user settings shows colours, and exits after a short text.
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
	if closedPipe(err) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	_ = in.Close()
	// A pager that has failed has shown nothing, or not everything. If a signal ended it, the user left it.
	if ended, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok && ended.ExitCode() > 0 && err == nil {
		return write(out)
	}
	return err
}

// shell returns a command for a line such as the value of PAGER or EDITOR, with more arguments. It is nil if the
// program does not exist. It is not killed with a context: a killed pager or editor leaves the terminal in its own
// mode.
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

// ErrNoEditor reports that the user's editor does not exist.
var ErrNoEditor = errors.New("no editor: set VISUAL or EDITOR")

// Editor returns the command that edits a file: from the user's configuration, VISUAL, EDITOR, or the default of the
// system, in this order.
func Editor(getenv func(string) string, configured string) string {
	usual := "vi"
	if runtime.GOOS == "windows" {
		usual = "notepad"
	}
	return cmp.Or(configured, getenv("VISUAL"), getenv("EDITOR"), usual)
}

// Edit opens a text in the editor and returns the edited text. Until then, the text is in a temporary file that only
// the user can read.
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
