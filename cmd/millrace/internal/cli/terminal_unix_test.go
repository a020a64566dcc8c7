//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/creack/pty"
)

// terminalForTests is the program `terminal FILE COMMAND ARG…` of scripts: it runs a command at its own terminal, types
// the content of the file and the end of the input, and ends with the command's exit status. The screen's text is in
// $HOME/shown. The command ttyin of the package testscript closes the terminal while the last output may be unread.
func terminalForTests() {
	status, err := atTerminal(os.Args[1], os.Args[2], os.Args[3:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		status = 125
	}
	os.Exit(status)
}

func atTerminal(typed, command string, args ...string) (status int, err error) {
	keys, err := os.ReadFile(typed)
	if err != nil {
		return 0, err
	}
	screen, terminal, err := pty.Open()
	if err != nil {
		return 0, err
	}
	defer screen.Close()
	cmd := exec.Command(command, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{terminal} // as file 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	err = cmd.Start()
	terminal.Close()
	if err != nil {
		return 0, err
	}
	go func() { _, _ = screen.Write(append(keys, 4)) }() // it fails if the command ends before it has read everything
	var shown bytes.Buffer
	// On Linux the end of a terminal's output is an error: no process has the terminal open.
	if _, err := io.Copy(&shown, screen); err != nil && !errors.Is(err, syscall.EIO) {
		return 0, err
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), os.WriteFile(filepath.Join(os.Getenv("HOME"), "shown"), shown.Bytes(), 0o600)
}
