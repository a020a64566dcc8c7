package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// mostLooked is the number of bytes that are searched at the end of a stream.
const mostLooked = 64 << 10

// complaints are the error words of a program whose access was refused.
type complaints struct {
	denied, missing, write, network *regexp.Regexp
	paths                           *regexp.Regexp // absolute paths, between quotes or blanks
}

// complaintsOf compiles the expressions when the first command has failed: most programs never need them.
var complaintsOf = sync.OnceValue(func() complaints {
	return complaints{
		denied:  regexp.MustCompile(`(?i)permission denied|operation not permitted|not permitted|access denied|read-only|EACCES|EPERM|EROFS`),
		missing: regexp.MustCompile(`(?i)no such file|not found|does not exist|cannot find|ENOENT`),
		write:   regexp.MustCompile(`(?i)creat|writ|mkdir|touch|remov|unlink|renam|EROFS|read-only`),
		network: regexp.MustCompile(`(?i)could not resolve|EAI_AGAIN|name resolution|network is unreachable|dial tcp|` +
			`socket: operation not permitted|disabled by GOPROXY=off|ENOTCACHED|--offline mode|EAFNOSUPPORT`),
		paths: regexp.MustCompile(
			"'(/[^'\n]+)'|\"(/[^\"\n]+)\"|`(/[^`\n]+)`|(?:^|[\\s=:(\\[<])(/[^\\s'\"`:,;()<>\\[\\]]+)"),
	}
})

// refused returns the access that the sandbox has refused to a failed command, nil if its output names none. The last
// matching line counts, stderr before stdout.
func (p Policy) refused(l launch, exit Exit) *Refusal {
	for _, text := range []string{exit.Stderr.Text, exit.Stdout.Text} {
		lines := strings.Split(text[max(0, len(text)-mostLooked):], "\n")
		for _, line := range slices.Backward(lines) {
			if r := p.refusedIn(l, line); r != nil {
				return r
			}
		}
	}
	return nil
}

// refusedIn is refused for one line of the output.
func (p Policy) refusedIn(l launch, line string) *Refusal {
	words := complaintsOf()
	denied, missing := words.denied.MatchString(line), words.missing.MatchString(line)
	if denied || missing {
		// The failing program's name comes before the path that it complains about.
		for _, found := range slices.Backward(words.paths.FindAllStringSubmatch(line, -1)) {
			if r := p.refusedAt(l, filepath.Clean(strings.Join(found[1:], "")), denied,
				words.write.MatchString(line)); r != nil {
				return r
			}
		}
	}
	if !p.Network && words.network.MatchString(line) {
		return &Refusal{Network: true}
	}
	return nil
}

// refusedAt returns the refused access at a path, nil if the sandbox is not the reason.
func (p Policy) refusedAt(l launch, path string, denied, writes bool) *Refusal {
	home, err := os.UserHomeDir()
	if rel, below := strings.CutPrefix(path, l.Home+"/"); below {
		real := filepath.Join(home, rel)
		if _, missing := os.Lstat(real); err != nil || missing != nil || lies(real, l.Home) {
			return nil
		}
		return &Refusal{Path: real, Home: true}
	}
	rules := p.rules(l)
	in := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return lies(path, filepath.Clean(dir)) })
	}
	switch {
	case !denied, in(rules.Write), in([]string{"/dev", "/proc", "/sys"}):
		return nil
	case in(rules.Read), in([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix"}):
		writes = true
	}
	at := path
	if _, err := os.Lstat(at); err != nil { // the file is missing: the command wanted to create it
		at, writes = filepath.Dir(path), true
	}
	const read, write = 4, 2 // of access(2)
	mode := uint32(read)
	if writes {
		mode = write
	}
	if syscall.Access(at, mode) != nil {
		return nil // the system refuses it without a sandbox too
	}
	return &Refusal{Path: at, Write: writes}
}
