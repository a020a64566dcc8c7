package gittrees_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Addresses come from lists of strangers. None of them is an option of git, runs a program, or shows a password.
func TestHostileAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/a/b.git": "", "ssh://git@example.org:22/a/b": "", "git@example.org:a/b.git": "", "example.org:b": "", "/srv/b.git": "",
		"file:///srv/b.git": "", "http://[::1]/b": "::", "git://example.org/b": "", "HTTPS://example.org/b": "",
		"":                                 "empty",
		"--upload-pack=touch ran":          "begins with -",
		"-oProxyCommand=x":                 "begins with -",
		"ext::sh -c touch% ran":            "control characters or blanks",
		"ext::sh":                          "names a program",
		"fd::17":                           "names a program",
		"ext://x/y":                        `"ext" is not allowed`,
		"ftp://x/y":                        `"ftp" is not allowed`,
		"ssh://-oProxyCommand=x/y":         "begins with -",
		"ssh://-x@host/y":                  "begins with -",
		"ssh://host/-y":                    "begins with -",
		"-x@host:y":                        "begins with -",
		"host:-y":                          "neither",
		"user@-host:y":                     "neither",
		"https://ann:secret@example.org/b": "password",
		"https:///b":                       "no host",
		"file://host/b":                    "file:///path",
		"https://exa mple.org/b":           "blanks",
		"https://example.org/b\x1b[2J":     "control",
		"https://example.org/b\n--upload":  "control",
		"https://%zz/":                     "not a URL",
		"relative/path":                    "neither",
		"./relative":                       "neither",
		`C:\repositories\b`:                "neither",
	} {
		var err error
		for _, err = range gittrees.Clones(address) {
			break
		}
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", address, err, want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("the password is shown: %v", err)
		}
		for target, cloned := range gittrees.Clones(address, address) {
			if (cloned == nil) != (err == nil) {
				t.Errorf("%q as a target: %v", address, cloned)
			}
			if cloned == nil && (!filepath.IsLocal(target.Root) || strings.ContainsAny(target.Root, `/\`)) {
				t.Errorf("%q would be cloned to %q", address, target.Root)
			}
		}
	}
}

// A target that comes from another program is held against its address, and a clone against its remote.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	needGit(t)
	dir := t.TempDir()
	address := origin(t, dir, "o", "one\n")
	var good fleet.Target
	for target, err := range gittrees.Clones(address) {
		fstest.Must(t, err)
		good = target
	}
	trees := gittrees.Trees{Campaign: "c", CloneTo: filepath.Join(dir, "clones"), Depth: 1}
	for name, test := range map[string]struct {
		change func(*fleet.Target, *gittrees.Trees)
		want   string
	}{
		"a way out":       {func(t *fleet.Target, _ *gittrees.Trees) { t.Root = "../x" }, "not the name of a clone"},
		"another root":    {func(t *fleet.Target, _ *gittrees.Trees) { t.Root = "x-0123456789ab" }, "does not belong"},
		"another address": {func(t *fleet.Target, _ *gittrees.Trees) { t.Labels = map[string]string{"git": "ext::sh"} }, "names a program"},
		"no directory":    {func(_ *fleet.Target, t *gittrees.Trees) { t.CloneTo = "" }, "a directory for clones is missing"},
	} {
		target, other := good, trees
		test.change(&target, &other)
		_, err := other.Open(t.Context(), target)
		if _, ok := errors.AsType[*fleet.TargetError](err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := good
	gone.Labels = map[string]string{"git": filepath.Join(dir, "gone")}
	for target, err := range gittrees.Clones(filepath.Join(dir, "gone")) {
		fstest.Must(t, err)
		if _, err := trees.Open(t.Context(), target); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("an address of nothing: %v", err)
		}
	}
	if left := globbed(t, dir, "clones/.*.part"); len(left) > 0 {
		t.Errorf("it has left %q", left)
	}
	clone := filepath.Join(trees.CloneTo, good.Root)
	if o := campaign(t, trees, good)[good.ID]; o.Status != fleet.Success {
		t.Fatalf("%s: %s", o.Status, o.Message)
	}
	if _, err := os.Stat(filepath.Join(clone, ".git", "hooks")); err == nil {
		t.Error("the clone has hooks of a template")
	}
	other := trees
	other.Campaign = "d"
	if _, err := other.Open(t.Context(), good); err == nil || !strings.Contains(err.Error(), "another campaign") {
		t.Errorf("a second campaign: %v", err)
	}
	git(t, clone, "config", "remote.origin.url", "/elsewhere")
	if _, err := trees.Open(t.Context(), good); err == nil || !strings.Contains(err.Error(), "of another address") {
		t.Errorf("a clone of another address: %v", err)
	}
}
