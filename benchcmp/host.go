package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Host describes the machine and the tools of the measurement.
type Host struct {
	Date       string            `json:"date"`
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	Kernel     string            `json:"kernel"`
	FileSystem string            `json:"file_system"`
	Locale     string            `json:"locale"`
	Go         string            `json:"go"`
	Commit     string            `json:"commit"`
	Tools      map[string]string `json:"tools"` // their versions, by name
}

// host describes this machine. A fact that the system does not report is "unknown".
func host(ctx context.Context, dir string, tools map[string]tool) Host {
	h := Host{
		Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), CPU: "unknown", Cores: runtime.NumCPU(),
		Kernel: runtime.GOOS, FileSystem: fileSystem(dir), Locale: locale(), Go: runtime.Version() + " " +
			runtime.GOOS + "/" + runtime.GOARCH, Commit: commit(ctx), Tools: map[string]string{},
	}
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpuinfo)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			h.CPU = strings.TrimSpace(value)
			break
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel += " " + strings.TrimSpace(string(release))
	}
	for name, t := range tools {
		if t.missing == "" && t.version != "" {
			h.Tools[name] = t.version + " (" + t.path + ")"
		}
	}
	return h
}

// fileSystem returns the type of the file system of a directory: the type of the mount with the longest name above it.
func fileSystem(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "unknown"
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	kind, longest := "unknown", 0
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) < 1 {
			continue
		}
		above := strings.TrimSuffix(fields[4], "/") + "/"
		if strings.HasPrefix(real+"/", above) && len(above) >= longest {
			kind, longest = types[0], len(above)
		}
	}
	return kind
}

// locale returns the locale for sed, which is slower in a UTF-8 locale than in C.
func locale() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			return name + "=" + value
		}
	}
	return "C (none is set)"
}

// commit returns the version of the measured code: git's answer in the working directory, or the built-in version.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// tool is a program to compare with.
type tool struct {
	path    string
	version string
	missing string // why it cannot be used
}

// findTools looks for the programs that jobs need. Ripgrep is taken from the caller's place.
func findTools(ctx context.Context, ripgrep, millrace string) map[string]tool {
	tools := make(map[string]tool)
	for name, command := range map[string]string{"rg": ripgrep, "sed": "sed", "xargs": "xargs", "sh": "sh",
		"sync": "sync",
		"git":  "git", "millrace": millrace, "ast-grep": "ast-grep"} {
		tools[name] = findTool(ctx, name, command)
	}
	return tools
}

func findTool(ctx context.Context, name, command string) tool {
	path, err := exec.LookPath(command)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return tool{missing: name + " is not installed"}
	}
	t := tool{path: path, version: "version unknown"}
	switch name {
	case "sh", "sync":
		return t
	case "millrace": // this repository's own, whose commit is named already
		t.version = ""
		return t
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return tool{missing: path + " --version fails; the GNU one is needed"}
	}
	t.version, _, _ = strings.Cut(string(out), "\n")
	return t
}
