package cli_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/millrace-go/millrace/cmd/millrace/internal/webtest"
)

// browseForTests is the command `browse [PATH:]BUTTON[,BOX…] millrace ARG…` of scripts: it visits the page that the
// program serves, unticks some boxes, presses a button, and exits with the status of the program. Its stdout has the
// heading of the answer before the output of the program. With the path of a run, it waits until the run ends or waits,
// prints the page, and interrupts the program.
func browseForTests() {
	button, leave, _ := strings.Cut(os.Args[1], ",")
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout = os.Stdout
	talk, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	lines := bufio.NewReader(io.TeeReader(talk, os.Stderr))
	for {
		line, err := lines.ReadString('\n')
		if _, address, ok := strings.Cut(strings.TrimSpace(line), "open http"); ok {
			path, name, ofRun := strings.Cut(button, ":")
			if !ofRun {
				path, name = "", button
			}
			err := press("http"+address, path, name, leave)
			if err == nil && ofRun {
				err = cmd.Process.Signal(os.Interrupt)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				_ = cmd.Process.Kill()
			}
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	os.Exit(0)
}

// press opens a page and presses a button. With the path of a run, it prints the end of the run's page.
func press(address, path, button, leave string) error {
	v, err := webtest.Open(address)
	if err == nil && path != "" {
		fmt.Println(v.Page)
		err = v.Get(path)
	}
	if err != nil {
		return err
	}
	v.Word = "yes"
	var boxes []string
	if leave != "" {
		boxes = strings.Split(leave, ",")
	}
	if err := v.Press(button, boxes...); err != nil {
		return err
	}
	fmt.Println(v.Heading())
	if path == "" {
		return nil
	}
	if err := v.Get("events"); err != nil {
		return err
	}
	fmt.Println(v.Page)
	return nil
}
