// Package command runs programs for a pipeline under the rules of a host. The rules select the programs, their
// environment, the files that they may read and write, their duration, and how much output is kept.
//
// A [Policy] has these rules. The zero Policy runs nothing. A host lists the allowed programs:
//
//	commands := command.Policy{
//		Allow:   []string{"gofmt -l *", "gofmt -w *", "go vet *", "./scripts/check.sh"},
//		PassEnv: []string{"GOFLAGS"},
//		Secrets: map[string]string{"NPM_TOKEN": token},
//	}
//	x := millrace.Executor{Commands: commands}
//
// # The life of a command
//
// [Policy.Run] does the following, in this order. [Policy.Permit] does only the first step, so that a pipeline can be
// refused before it starts.
//
//  1. The command is held against the policy: [Policy].Allow or Shell, then the names in its Env, then Check. The program is
//     looked up in the policy's PATH, and the sandbox that the policy asks for must be there. A refused command is a
//     *[DeniedError]. A policy that makes no sense is an error of the host, see [Policy.Valid].
//  2. Its environment is made from nothing: see below. Directories that the caller does not give are made, private and
//     empty.
//  3. It starts in a sandbox and in a process group of its own, or a [Runner] of the host's starts it somewhere else.
//  4. Its output is read until it ends, never slower than it prints. Secrets become *** before anything else sees the
//     text, also where a secret comes in two writes. Of each stream the first quarter and the last three quarters of
//     MaxOutput bytes are kept, everything is counted. Beyond MaxPrinted bytes the command is killed, and
//     the code of the error is "limit".
//  5. When its context ends, its process group gets SIGTERM, and SIGKILL two seconds later. Then [Policy.Run] returns the
//     context's error, and beside it the [Exit] so far.
//  6. When the program has ended, in whatever way, everything that it has left running is killed. When Run returns, nothing
//     of it writes to the tree any more.
//
// A program that ran has an [Exit], and its status is not an error, whatever it is.
//
// # How processes are found and killed
//
// A command has a session and a process group of its own, and a random value in its environment, MILLRACE_EXEC. On
// Linux, everything that has any of the three is killed, which finds what has left the group (setsid, daemons), and
// this is repeated until none is left. In the sandbox (amd64, arm64, from Linux 5.9) a process that has left the
// session and cleared its environment is found by a resource limit that it cannot change. Elsewhere it is not found. On
// other Unix systems there is only the process group. On Windows all belong to a job object, which ends with the
// command.
//
// If the host itself is killed, Linux kills the program at once, and Windows all of the job. Other processes that are
// left run until [Reap] is called: an executor does so before it uses the tree of a run that was killed.
//
// # The environment
//
// A command does not see the host's environment. It gets, each replacing what stands before it: PATH (its absolute
// entries) and LANG of the host, what PassEnv names, EnvFor, Env, Secrets, and of the step what StepEnv names. HOME and
// TMPDIR are private, empty directories unless the policy sets them. GIT_CEILING_DIRECTORIES keeps git from
// finding a repository above the tree, MILLRACE_SHARED is the directory that the steps of a run share, if they have
// one, and MILLRACE_EXEC is how its processes are found.
//
// # The worth of the list of programs
//
// Allow states what a pipeline is for, not what it can do. A host that allows "go test *", "make" or any shell allows
// any code that is in the tree, and the tree may be written by the pipeline. The sandbox protects: with [Required],
// which is the zero value, a command writes only to the tree and the directories given to it, reads what programs
// need and what [Policy].Read adds, and has no network.
//
// # Toolchains
//
// [Toolchains] makes a policy fit for what is in use in a tree: Go, Node, Python, Rust, Java, .NET and Ruby, and what
// version managers have installed below the user's home. It runs nothing to find that out.
//
// A Policy is a plain value. Its methods may be called from several goroutines, as long as its maps and lists do not
// change during the calls. Check, EnvFor and Runner are then called from several goroutines too.
package command
