package command

import "context"

// Command is a command to run.
type Command struct {
	// Step is the id of the step that runs the command, "" outside of a step.
	Step string
	// Words are the program and its arguments; for a script, "/bin/sh", "-c" and the script.
	Words []string
	// Shell means that the command is a script.
	Shell bool

	// Root is the tree, an absolute path: the command may write there. If it is "", the command runs in Temp.
	Root string
	// Dir is the directory in which the command starts, an absolute path in Root; "" is Root itself.
	Dir string
	// Temp and Home are absolute paths of directories for TMPDIR and HOME. "" is a private, empty directory, which is
	// removed when the command has ended.
	Temp, Home string
	// Shared is the absolute path of the directory that the steps of a run share, "" for none.
	Shared string

	// Env has the variables of the step. For [Policy].Check and a [Runner] it is the whole environment.
	Env map[string]string
	// Stdin is the input of the command. A command need not read it.
	Stdin string

	// Read, Write and Network are the permissions of the policy, in addition to the directories above. Run fills
	// them, for a [Runner].
	Read, Write []string
	Network     bool

	// MaxOutput is the number of bytes kept of each stream, at most the policy's; 0 is 1 MiB.
	MaxOutput int64
	// OnOutput receives the output of the command while it runs; nil means none. The stream is "stdout" or "stderr".
	// A text is at most 32 KiB of valid UTF-8, with masked secrets. Calls never overlap, and there are none after Run
	// has returned. The command waits during a call. A panic in it ends the command.
	OnOutput func(stream, text string)
}

// Exit is the end of a command.
type Exit struct {
	// Code is the exit status, -1 if a signal has ended the command.
	Code int
	// Signal is the name of the signal that has ended the command, such as "SIGKILL", "" for none.
	Signal string
	// Stdout and Stderr are the printed output.
	Stdout, Stderr Output
	// Sandbox is the active confinement: "files" is "landlock 7", for example, and "network" "seccomp". nil means
	// none.
	Sandbox map[string]string
	// Refused is the access that the sandbox has refused, if the command has failed and its output names the access;
	// else nil.
	Refused *Refusal
}

// Refusal is an access that the sandbox has refused: a path, or the network. It comes from the output of the command,
// so it helps people, and programs must not rely on it.
type Refusal struct {
	// Path is the absolute path of an existing file or directory, "" for the network.
	Path string
	// Write is set if the command tried to write there, not only to read.
	Write bool
	// Home is set if the command looked for the path in its own HOME, which is empty, and the user's home has it.
	Home bool
	// Network is set if the network was refused.
	Network bool
}

// String returns the path or the network, and the field of the policy that allows it.
func (r Refusal) String() string {
	switch {
	case r.Network:
		return "the sandbox has no network: the host sets Network"
	case r.Home:
		return "the command has an empty HOME without '" + r.Path +
			"': the host passes HOME by PassEnv and adds the path to Read"
	case r.Write:
		return "the sandbox does not let the command write '" + r.Path + "': the host adds it to Write"
	}
	return "the sandbox does not let the command read '" + r.Path + "': the host adds it to Read"
}

// Output is the output of a command on one stream.
type Output struct {
	// Text is the kept text: valid UTF-8, with U+FFFD for each invalid byte, and *** for secrets. A truncated text is
	// the first quarter and the last three quarters of the limit, joined.
	Text string
	// Size is the number of bytes that were printed.
	Size int64
	// Truncated means that text between the two parts of Text is missing.
	Truncated bool
}

// Runner runs commands outside of the processes of this system: in a container, in a control group, on another machine.
type Runner interface {
	// Run runs an allowed command, in its directory and with exactly its environment. It returns after the command
	// and all processes that it has started have ended. Root, Temp, Home and Shared are directories of this system.
	//
	// It passes the output of the command to OnOutput, if that is not nil, in pieces of any size. It returns the
	// texts of both streams, or their beginnings. Long texts are cut and secrets are masked afterwards. The exit
	// status is not an error. It returns soon after its context has ended. A panic in it is an error. It may be
	// called from several goroutines.
	Run(ctx context.Context, c Command) (Exit, error)
}
