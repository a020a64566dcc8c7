package command

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// The limits of a policy that does not set them.
const (
	defaultTimeout          = 10 * time.Minute
	defaultMaxOutput        = 1 << 20
	defaultMaxPrinted int64 = 256 << 20
)

// Sandbox selects whether a command needs isolation from everything but its tree.
type Sandbox uint8

const (
	// Required refuses every command where the system cannot confine it. It is the zero value.
	Required Sandbox = iota
	// BestEffort confines a command as far as the system can, which may be not at all.
	BestEffort
	// Off confines nothing: the command can do what the host can.
	Off
)

// String returns "required", "best effort" or "off".
func (s Sandbox) String() string {
	switch s {
	case Required:
		return "required"
	case BestEffort:
		return "best effort"
	case Off:
		return "off"
	}
	return "unknown"
}

// Policy is what a host allows commands to do. The zero Policy allows none.
type Policy struct {
	// Allow are patterns of command lines, word for word: "gofmt -l *". A * at the end of the pattern, a word of its
	// own, matches any further words, also none; any other * matches any text within one word. Text between ' is taken
	// as it is, with '' for a ' in it; [Pattern] writes a command line so.
	//
	// The first word is the program: a name, which is looked up in the policy's PATH; ./x, a file of the tree, counted
	// from its root; or an absolute path. A * in it takes no slash. A command may spell a program that is found by name
	// with its absolute path. None allows no program; "*" allows every program by name, "./* *" every file in the root
	// of the tree.
	Allow []string
	// Shell lets commands be scripts for /bin/sh. A script needs no entry in Allow, and what it calls is not held
	// against Allow: with Shell, a pipeline may run everything.
	Shell bool
	// Check has a second say about each command that Allow or Shell let through, nil for none. It gets the command with
	// its whole environment, secrets included. An error refuses the command and is the reason given, a panic too. It is
	// called for a command before a pipeline begins, if its words are known then, and again before it starts.
	Check func(ctx context.Context, c Command) error

	// Env is set for every command.
	Env map[string]string
	// PassEnv names what commands get from the host's environment, if it is there; PATH and LANG they get in any case.
	PassEnv []string
	// StepEnv names what the env of a step may set. Names that decide what runs are never allowed: PATH, HOME, and
	// those that begin with LD_, DYLD_, GIT_ or MILLRACE_.
	StepEnv []string
	// Secrets is set for every command as Env is, and its values are *** in whatever comes back: output, events,
	// errors, warnings. Values shorter than 4 bytes are not hidden. Blanks around a value do not count, and it is
	// hidden as it is written in JSON as well. If a value has several lines, each line of at least 8 bytes is also
	// hidden alone. A secret that a command has changed, into base64 say, is not known and not hidden. The files that
	// a command writes are unchanged, with the names that it has given them.
	Secrets map[string]string
	// EnvFor returns what a command gets that is not the same for all, a trace parent for example; nil for nothing.
	// What Env sets wins. It is called with the context of the command, by Permit too. It cannot set PATH. If it
	// panics, the command does not start.
	EnvFor func(ctx context.Context) map[string]string

	// Read are absolute paths that commands may read and execute in the sandbox beside the tree and the directories of
	// the system: /usr, /bin, /sbin, /lib, /etc, /opt, /nix, /proc and /sys. Below them, everything. Of /dev there are
	// null, zero, full, random, urandom and tty alone: a disk is a device, too.
	Read []string
	// Write are absolute paths of files and directories, not of the tree, that commands may write in the sandbox, and
	// read. A command can poison caches that it shares with the host, so give commands a cache of their own.
	Write []string
	// Network lets commands use IPv4 and IPv6. Without it, sockets of every kind are refused in the sandbox but
	// connected pairs. Unix sockets are refused in any case: a service of the system could start programs outside.
	Network bool
	// Sandbox decides whether a command may run where it cannot be confined.
	Sandbox Sandbox

	// Scratch is the directory below which trees for commands are made, "" for the user's cache directory. It must lie
	// outside of the tree. Directories that live no longer than a command are made in it too, "" for the system's.
	Scratch string
	// KeepScratch keeps the tree that was made for commands, for the next run, which then copies only what has changed.
	KeepScratch bool
	// MaxTimeout is the longest that a command may run, and how long it runs by default; 0 is 10 minutes.
	MaxTimeout time.Duration
	// MaxOutput is the most that is kept of each stream, in bytes; 0 is 1 MiB.
	MaxOutput int64
	// MaxPrinted is the most that a command may print on both streams together, in bytes; 0 is 256 MiB. One that prints
	// more is killed.
	MaxPrinted int64
	// MaxChangedFiles is the most files that one command may change; 0 is 10,000.
	MaxChangedFiles int
	// MaxScratchFiles is the most files of a tree that is made for commands; 0 is 500,000.
	MaxScratchFiles int
	// MaxScratchBytes is the most bytes of a tree that is made for commands; 0 is 8 GiB.
	MaxScratchBytes int64

	// Runner runs commands in place of this package, in a container for example; nil for none. Sandbox is its business
	// then, and so are limits of memory and processor time.
	Runner Runner
}

// Timeout is the longest that a command may run, and how long it runs by default.
func (p Policy) Timeout() time.Duration { return cmp.Or(p.MaxTimeout, defaultTimeout) }

// Format prints a policy as package fmt prints a structure, with *** for the values of its secrets.
func (p Policy) Format(state fmt.State, verb rune) {
	type plain Policy
	shown := plain(p)
	shown.Secrets = make(map[string]string, len(p.Secrets))
	for name := range p.Secrets {
		shown.Secrets[name] = stars
	}
	_, _ = fmt.Fprintf(state, fmt.FormatString(state, verb), shown)
}
