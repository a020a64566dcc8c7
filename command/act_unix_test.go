//go:build unix

package command_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// actOn runs the acts that only Unix has.
func actOn(what string, args []string) int {
	switch what {
	case "linger": // writes its pid to a file, prints that it runs, and stays
		mark(args[0])
		fmt.Println("there")
		stay()
	case "deaf": // like linger, but ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		mark(args[0])
		fmt.Println("there")
		stay()
	case "mute": // like linger, with nothing open
		mark(args[0])
		fmt.Println("there")
		for fd := range 3 {
			_ = syscall.Close(fd)
		}
		stay()
	case "leave": // starts a child with these words in the way of the first word, and exits when the child runs
		return leave(args[0], args[1], args[2:])
	case "bomb": // starts itself in new sessions, again and again, up to a number
		n, _ := strconv.Atoi(args[0])
		for range n {
			_ = again(true, nil, "act", "bomb", strconv.Itoa(n-1), args[1]).Start()
		}
		mark(args[1])
		stay()
	case "dial":
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_ = conn.Close()
	case "father": // starts a child in a new session, and stays
		if leave("s", args[0], []string{"deaf", args[0]}) == 0 {
			fmt.Println("there")
		}
		stay()
	case "host": // runs a command like a host
		return host(args[0], args[1:])
	}
	return 0
}

func stay() {
	for {
		time.Sleep(time.Hour)
	}
}

// mark adds the pid of this process to a file.
func mark(file string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
		_ = f.Close()
	}
}

// again returns a command for another run of the test binary, perhaps in a new session.
func again(session bool, env []string, args ...string) *exec.Cmd {
	program, _ := os.Executable()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	return cmd
}

// leave starts a process and does not wait for it. The ways are letters: s a new session, g a new group, e an empty
// environment, o the output stays open.
func leave(ways, file string, args []string) int {
	var env []string
	attributes := &syscall.SysProcAttr{}
	cmd := again(false, nil, append([]string{"act"}, args...)...)
	for _, way := range ways {
		switch way {
		case 's':
			attributes.Setsid = true
		case 'g':
			attributes.Setpgid = true
		case 'e':
			env = []string{"NOTHING=1"}
		case 'o':
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		}
	}
	cmd.SysProcAttr, cmd.Env = attributes, env
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		if _, err := os.Stat(file); err == nil {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
}
